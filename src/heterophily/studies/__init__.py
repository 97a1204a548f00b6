"""Declared studies: tables and figures as runs in a store."""
