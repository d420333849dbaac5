"""What lies on disk: bytes to values and back."""
