"""One road for a training: runs in, records out."""
