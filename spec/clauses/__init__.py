"""The normative pages, one a chapter."""
