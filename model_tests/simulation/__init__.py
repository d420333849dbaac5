"""Runs on simulated doors: crashes on purpose, and every one of them."""
