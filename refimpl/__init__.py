"""The runnable reference: synchronous cores, the worlds they run in, and the `mqspec` command."""
