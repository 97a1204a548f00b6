"""Generated graphs with known properties."""
