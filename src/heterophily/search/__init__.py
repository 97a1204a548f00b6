"""Search spaces, and settings chosen on validation data."""
