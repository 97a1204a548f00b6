"""Graphs from and to the objects of other libraries."""

from heterophily.data.interchange.as_graph import GraphLike, as_graph
from heterophily.data.interchange.dgl import from_dgl
from heterophily.data.interchange.networkx import from_networkx, to_networkx
from heterophily.data.interchange.pyg import from_pyg, to_pyg
from heterophily.data.interchange.scipy import from_scipy, to_scipy

__all__ = [
    "GraphLike",
    "as_graph",
    "from_dgl",
    "from_networkx",
    "from_pyg",
    "from_scipy",
    "to_networkx",
    "to_pyg",
    "to_scipy",
]
