"""Tables to a graph on disk, with bounded memory: nodes, then runs of edges, then sorted parts."""
