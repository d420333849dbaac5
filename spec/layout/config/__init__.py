"""The JSON files in which broker, name server and broadcasting clients keep their tables."""
