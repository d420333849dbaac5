"""The fields of each operation and of its answer: typed records and their texts."""
