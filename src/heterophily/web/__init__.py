"""Step 9: the local page: diagnosis, comparison and results in a browser."""
