"""The `mqspec` command: the composition root, the only place that may import everything."""
