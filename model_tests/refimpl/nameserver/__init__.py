"""Of the name server: every request goes through its frames."""
