"""Two other ways to train ACM-GCN, written from the formulas, to measure ours against."""
