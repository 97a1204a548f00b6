"""Where missing runs are trained."""
