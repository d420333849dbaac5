"""Stateful machines: rules that do what a protocol does, in any order."""
