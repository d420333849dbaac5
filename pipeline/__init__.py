"""Histories, campaigns and topics at volume, on Spark."""
