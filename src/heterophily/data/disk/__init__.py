"""The graph on disk: CSR parts, labels and feature panels that are read in place."""
