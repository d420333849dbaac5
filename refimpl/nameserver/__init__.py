"""The name server: who is registered, where topics are, and a small table of texts that it keeps."""
