"""How good are predictions: scores, intervals, and what costs nothing beside them."""
