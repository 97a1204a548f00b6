"""One model over many splits; several models over the same splits."""
