"""Of the engine: each file is one thing that once went wrong."""
