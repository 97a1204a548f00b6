"""Heterophily."""
