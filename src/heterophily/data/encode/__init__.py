"""Columns of a table to a matrix of features: kinds, encodings, and their state as plain data."""

from heterophily.data.encode.encoder import Encoder
from heterophily.data.encode.kinds import KINDS

__all__ = ["KINDS", "Encoder"]
