"""Bytes that try to break the decoders."""
