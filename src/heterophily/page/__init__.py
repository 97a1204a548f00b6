"""HTML, made in one way: escaped text, tables that sort, charts as inline SVG, one document."""
