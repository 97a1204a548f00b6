"""Graphs with a known truth: recipes, the best possible rules, and the right verdict."""
