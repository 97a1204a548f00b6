"""What trained models reach with and without a graph, on real graphs."""
