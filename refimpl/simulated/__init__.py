"""The doors to a simulated outside: everything in memory, and every accident on purpose."""
