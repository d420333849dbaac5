"""The storage engine: Apache's files, and nothing lost that was acknowledged."""
