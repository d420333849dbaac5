"""What happened: one event schema for every world, its codecs and its well-formedness."""
