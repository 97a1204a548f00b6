"""Graphs on disk on the command line: how far a conversion is, and what it wrote."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from heterophily.data.source import GraphSource
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.data.disk.graph import DiskGraph

_NOT_KEPT = {"weight": "--weight", "edge_type": "--edge-type", "self_loops": "--self-loops"}
_EVERY = 0.5  # seconds between two lines of progress


def convert_on_disk(source: GraphSource, out: Path, *, dtype: str, as_json: bool) -> None:
    """Convert tables to a folder and say what it holds."""
    disk = open_on_disk(source, out, dtype=dtype)
    notes = disk.manifest.notes
    facts = {
        "nodes": disk.num_nodes,
        "edges": disk.num_edges,
        "features": disk.num_features,
        "classes": list(disk.class_names),
        "parts": len(disk.parts),
        **{key: notes[key] for key in ("rows", "self_loops", "duplicates")},
        "written": [str(out)],
    }
    if as_json:
        import json

        print(json.dumps(facts))
        return
    print(
        f"{disk.num_nodes:,} nodes, {disk.num_edges:,} edges, {disk.num_features:,} features, "
        f"{disk.num_classes} classes, in {len(disk.parts)} parts"
    )
    print(
        f"of {notes['rows']:,} rows of edges, {notes['duplicates']:,} duplicates and "
        f"{notes['self_loops']:,} self loops were left out"
    )
    if "weight" in notes:
        print(f"the weights in column {notes['weight']!r} are not kept: all edges count alike")
    if notes.get("rows_learnt_from", disk.num_nodes) < disk.num_nodes:
        print(f"columns were scaled by {notes['rows_learnt_from']:,} rows, drawn evenly")
    print(f"wrote {out}")


def open_on_disk(source: GraphSource, out: Path, *, dtype: str = "float32") -> DiskGraph:
    """Convert the tables that a command line names; progress goes to the terminal."""
    from heterophily.data.disk.convert.convert import convert_tables

    for key, word in _NOT_KEPT.items():
        if getattr(source, key) not in (None, "remove"):
            raise InputError(f"{word}: a graph on disk has neither weights, types nor self loops")
    return convert_tables(
        source.edges or "",
        source.nodes,
        out,
        source=source.source,
        target=source.target,
        node_id=source.node_id,
        label=source.label,
        split=source.split,
        features=source.features,
        ignore=source.ignore,
        columns=source.columns,
        labels_are_classes=source.labels_are_classes,
        delimiter=source.delimiter,
        has_header=source.has_header,
        is_directed=source.direction == "keep",
        dtype=dtype,
        memory=source.memory,
        tell=ProgressLine() if sys.stderr.isatty() else None,
    )


class ProgressLine:
    """Shows a stage and its share on one line of the terminal."""

    def __init__(self) -> None:
        self._shown, self._stage = 0.0, ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show how far a stage is."""
        now = time.monotonic()
        if stage == self._stage and now - self._shown < _EVERY and done < total:
            return
        if stage != self._stage and self._stage:
            print(file=sys.stderr)
        self._shown, self._stage = now, stage
        share = f" {100 * done / total:3.0f} %" if total > 1 else ""
        print(f"\r{stage}{share}", end="", file=sys.stderr, flush=True)


def diagnose_on_disk(source: GraphSource, *, as_json: bool) -> bool:
    """Show the metrics of a graph on disk that memory cannot hold; False: it fits memory."""
    from heterophily.data.disk.graph import DiskGraph
    from heterophily.data.memory import as_bytes, limit

    disk = DiskGraph.open(source.graph or "")
    most = limit() if source.memory is None else as_bytes(source.memory)
    if disk.bytes_in_memory <= most:
        return False
    from heterophily.metrics.catalog import METRICS, compute_metrics
    from heterophily.metrics.collect.disk import disk_statistics

    counted = disk_statistics(disk)
    found = compute_metrics(counted)
    if as_json:
        import json

        graph = {"name": disk.name, "nodes": disk.num_nodes, "edges": disk.num_edges}
        print(json.dumps({"graph": graph, "metrics": found.values, "probe": None}))
        return True
    print(
        f"{disk.name}: {disk.num_nodes:,} nodes, {disk.num_edges:,} edges, {disk.num_classes} "
        f"classes, {counted.num_labelled:,} labelled nodes, {counted.isolated:,} without edges"
    )
    print(
        f"The graph needs about {disk.bytes_in_memory / 2**30:,.1f} GB in memory, the limit is "
        f"{most / 2**30:,.1f} GB: its metrics were counted on disk. There is no verdict, as the "
        "probe needs the graph in memory."
    )
    for name, value in found.values.items():
        if value is not None:
            print(f"  {METRICS[name].title:36} {value:8.4f}")
    return True
