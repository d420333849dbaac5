"""Judging a store's files as they lie, without a broker and without writing anything."""
