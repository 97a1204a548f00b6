"""Who trains the missing runs."""
