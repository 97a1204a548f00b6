"""Graphs that stay in a database: its engine counts, and only small results travel."""
