"""Graphs as a pair of tables: edges and nodes, in CSV, TSV, text (plain or .gz) or Parquet."""

from heterophily.data.tables.read import read_tables
from heterophily.data.tables.write import write_tables

__all__ = ["read_tables", "write_tables"]
