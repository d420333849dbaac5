"""Where implementations differ from the strict reference, as data."""
