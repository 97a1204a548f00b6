"""Compiled code and how it is found: NumPy buffers in and out, no torch."""
