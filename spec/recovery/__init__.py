"""What a crashed store must become: bytes to the one legal recovered state."""
