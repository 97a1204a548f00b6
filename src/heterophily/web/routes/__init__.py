"""The addresses of the page: one file per view."""
