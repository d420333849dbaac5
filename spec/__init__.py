"""What RocketMQ-style messaging promises: pure rules, byte layouts, histories and guarantees.

Nothing here performs I/O, reads a clock or draws randomness, and nothing here imports
anything but the standard library.
"""
