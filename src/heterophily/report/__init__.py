"""Step 8: records to figures, tables and pages."""
