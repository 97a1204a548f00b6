"""Read the files of an upload, or an example, and keep the graph as one file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heterophily.data.graph import Graph
from heterophily.data.npz import write_npz
from heterophily.data.options import OPTIONS
from heterophily.data.source import GraphSource
from heterophily.data.wording import safe_name
from heterophily.errors import lookup
from heterophily.web.unpacked import check_unpacked
from heterophily.web.worker import Context

GRAPH_FILE = "graph-read.npz"
DIGITS_HOMOPHILY = 0.3


def import_graph(request: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Read a graph and write it to :data:`GRAPH_FILE`; return its report.

    The files are opened by their bare names in their folder, so that sentences about them are
    those of the command line.
    """
    os.chdir(request["graph_folder"])
    context.check()
    graph = _example(request["example"]) if "example" in request else _read(request)
    write_npz(graph, GRAPH_FILE)
    report = graph.report
    return {
        "name": graph.name,
        "headline": report.headline,
        "report": report.to_dict(),
        "splits": ["random", *(["fixed"] if graph.splits is not None else [])],
    }


def _read(request: Mapping[str, Any]) -> Graph:
    files: Mapping[str, str] = request["files"]
    for name in files.values():
        check_unpacked(Path(name), request["max_unpacked_bytes"])
    return source_of(files, request["reading"], request["title"]).open()


def source_of(files: Mapping[str, str], reading: Mapping[str, Any], title: str) -> GraphSource:
    """Return the source of an upload: its files, read as the page was told."""
    options = {key: value for key, value in reading.items() if value not in (None, [], {})}
    if options.pop("is_directed"):
        options["direction"] = "keep"
    source = GraphSource.from_dict({**files, "name": title, "offline": True})
    kept = {key: value for key, value in options.items() if source.kind in OPTIONS[key].kinds}
    return source.replace(**kept)


def _catalog(name: str) -> Graph:
    from heterophily.data.catalog import load

    return load(name, offline=True)


def _digits(name: str) -> Graph:
    import numpy as np

    from heterophily.data.embedded import digits_features
    from heterophily.data.synthetic.edge_homophily import edge_homophily_graph

    features, labels = digits_features()
    return edge_homophily_graph(
        homophily=DIGITS_HOMOPHILY,
        edges=5 * labels.size,
        features=features,
        labels=labels,
        rng=np.random.default_rng(0),
        name=safe_name(name),
    )


EXAMPLES = {
    "karate": ("A club that split in two", _catalog),
    "davis": ("Women and the events they went to", _catalog),
    "digits": ("Handwritten digits, 3 of 10 edges within a digit", _digits),
}
"""Graphs that come with the package: what they are, and how they are made."""


def _example(name: str) -> Graph:
    return lookup(EXAMPLES, "example", name)[1](name)
