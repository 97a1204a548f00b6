"""Declared studies, the paper's hyper-parameters and its published numbers."""
