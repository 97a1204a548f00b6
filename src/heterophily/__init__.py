"""Heterophily: metrics, models and diagnosis for graphs whose neighbours are not alike.

Every public name is loaded on first use, so that ``import heterophily`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heterophily.data.catalog import DATASETS, load
    from heterophily.data.export import write_graph
    from heterophily.data.graph import Graph
    from heterophily.data.interchange import (
        from_dgl,
        from_networkx,
        from_pyg,
        from_scipy,
        to_networkx,
        to_pyg,
        to_scipy,
    )
    from heterophily.data.report import GraphReport
    from heterophily.data.source import open_graph
    from heterophily.data.splits import (
        Split,
        SplitBatch,
        random_split,
        random_splits,
        stratified_split,
    )
    from heterophily.data.tables import read_tables, write_tables
    from heterophily.errors import (
        DataNotFoundError,
        HeterophilyError,
        InputError,
        MissingExtraError,
        UnknownNameError,
    )

_HOME = {
    "data.catalog": ("DATASETS", "load"),
    "data.export": ("write_graph",),
    "data.graph": ("Graph",),
    "data.interchange": (
        "from_dgl",
        "from_networkx",
        "from_pyg",
        "from_scipy",
        "to_networkx",
        "to_pyg",
        "to_scipy",
    ),
    "data.report": ("GraphReport",),
    "data.source": ("open_graph",),
    "data.splits": ("Split", "SplitBatch", "random_split", "random_splits", "stratified_split"),
    "data.tables": ("read_tables", "write_tables"),
    "errors": (
        "DataNotFoundError",
        "HeterophilyError",
        "InputError",
        "MissingExtraError",
        "UnknownNameError",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [  # noqa: PLE0604, RUF022 - one source: the table above
    *_MODULE_OF
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'heterophily' has no attribute {name!r}")
    value = getattr(import_module(f"heterophily.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(_MODULE_OF)
