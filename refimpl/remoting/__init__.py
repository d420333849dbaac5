"""Requests, answers and connections: what name server, broker and client have in common."""
