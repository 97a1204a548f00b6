"""Where finished runs are kept."""
