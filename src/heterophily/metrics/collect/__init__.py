"""Collectors: where the statistics come from when a graph does not fit memory."""
