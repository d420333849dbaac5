"""What several rules need to know about a history so far, folded once and shared."""
