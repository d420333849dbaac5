"""What a broker decides: leases, offsets, membership, long polls, pull outcomes, retries, delays, transactions."""
