"""The doors to the real outside: files of the operating system."""
