"""Is my heterophily harmful? Metrics and a training-free probe, judged by written rules."""
