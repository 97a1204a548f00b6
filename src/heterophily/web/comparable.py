"""The models that the page offers: those of the paper that need no more than a graph."""

from __future__ import annotations

DEFAULT = ("mlp-2", "gcn", "acm-gcn", "acmii-gcn+")
COMPARABLE = (
    *("mlp-2", "sgc-1", "gcn", "gat", "graphsage", "appnp", "gcnii", "h2gcn"),
    *("gprgnn", "fagcn", "bernnet", "linkx"),
    *("acm-sgc-1", "acm-gcn", "acmii-gcn", "acm-gcn+", "acmii-gcn+", "acm-gcn++"),
)
"""Names of the table of models. Listed here because that table needs torch, the server does not."""
