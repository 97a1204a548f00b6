"""Diagnose a graph; write the numbers and the report beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heterophily.data.npz import read_npz
from heterophily.web.folder import write_json
from heterophily.web.tasks.import_graph import GRAPH_FILE
from heterophily.web.worker import Context, finite

DIAGNOSIS_FILE = "diagnosis.json"
REPORT_FILE = "diagnosis.html"
MAX_CLASSES = 20  # whose compatibility is drawn


def diagnose_graph(request: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Write :data:`DIAGNOSIS_FILE` and :data:`REPORT_FILE` into the folder of the graph."""
    from heterophily.diagnosis.diagnose import diagnose
    from heterophily.report.write import write_report

    os.chdir(request["graph_folder"])
    graph = read_npz(GRAPH_FILE)
    context.check()
    found = diagnose(graph, source=f"{graph.name}.npz")
    write_report(found, REPORT_FILE, graph=graph)
    data = {**found.to_dict(), "plots": _plots(graph)}
    write_json(Path(DIAGNOSIS_FILE), finite(data))
    return {"verdict": found.verdict.kind}


def _plots(graph: Any) -> dict[str, Any]:
    """Return what the page draws: local homophily in ten bins, and class compatibility."""
    import numpy as np

    from heterophily.errors import InputError
    from heterophily.metrics.class_compatibility import class_compatibility
    from heterophily.metrics.node_homophily import node_homophily_values

    plots: dict[str, Any] = {"local_homophily": None, "compatibility": None}
    try:
        local = node_homophily_values(graph)
        known = local[np.isfinite(local)]
        counts = np.histogram(known, bins=10, range=(0.0, 1.0))[0]
        plots["local_homophily"] = counts.tolist()
        if graph.num_classes <= MAX_CLASSES:
            matrix = class_compatibility(graph)
            plots["compatibility"] = {"classes": list(graph.class_names), "rows": matrix.tolist()}
    except InputError:
        pass  # the metrics say why: no edge joins labelled nodes
    return plots
