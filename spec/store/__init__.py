"""What a running store does with its files: when they are synced, what may be read, what is removed."""
