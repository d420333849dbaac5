"""What a broker decides: leases, offsets, membership, holds, pulls, sends, retries, delays, transactions."""
