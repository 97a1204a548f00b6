"""Tests between models that saw the same splits."""
