"""Graphs on disk on the command line: converted, and diagnosed where memory cannot hold them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from heterophily.data.source import GraphSource
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.data.disk.graph import DiskGraph
    from heterophily.diagnosis.diagnose import Diagnosis
    from heterophily.metrics.statistics import LabelStatistics

_NOT_KEPT = {"weight": "--weight", "edge_type": "--edge-type", "self_loops": "--self-loops"}
_BYTES_OF_AN_EDGE, _BYTES_OF_A_NODE = 80, 96  # while tables in memory are diagnosed
_PROGRAM, _SMALL = 350 * 2**20, 128 * 2**20  # Python with its libraries; tables that never matter
BIG_TABLES = (".parquet", ".csv", ".tsv")
"""Endings of tables that are read in batches."""

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
        f"{disk.num_classes} classes, in {len(disk.parts)} part{'s' * (len(disk.parts) > 1)}"
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

    _refuse_not_kept(source)
    return convert_tables(
        source.edges or "",
        source.nodes,
        out,
        **source.column_choices(),
        columns=source.columns,
        delimiter=source.delimiter,
        has_header=source.has_header,
        dtype=dtype,
        memory=source.memory,
        tell=ProgressLine() if sys.stderr.isatty() else None,
    )


def _refuse_not_kept(source: GraphSource) -> None:
    for key, word in _NOT_KEPT.items():
        if getattr(source, key) not in (None, "remove"):
            raise InputError(
                f"{word} cannot be used here: a graph on disk has no weights, types or self "
                f"loops; leave out {word}, or keep the graph in memory (--out NAME.npz)"
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


def diagnose_folder(source: GraphSource, *, quick: bool, seed: int) -> Diagnosis | None:
    """Diagnose a graph on disk that memory cannot hold; None: it fits memory."""
    from heterophily.data.disk.graph import DiskGraph
    from heterophily.data.memory import room_on_disk

    disk = DiskGraph.open(source.graph or "")
    most = most_memory(source)
    from heterophily.diagnosis.disk import diagnose_disk, memory_in_memory, memory_of_diagnosis

    whole = memory_in_memory(disk.num_nodes, disk.num_entries, disk.stored_per_node)
    on_disk = memory_of_diagnosis(disk.num_nodes, disk.num_entries)
    if disk.bytes_in_memory <= most and (whole <= most or whole <= on_disk):
        return None
    room_on_disk(most)
    _need_for_diagnosis(disk.name, disk.num_nodes, disk.num_entries, most)
    return diagnose_disk(disk, quick=quick, seed=seed, next_command=_auto(source))


def _auto(source: GraphSource) -> str:
    return f"heterophily train auto {source.arguments()} --minutes 30 --out model"


def with_possible_step(found: Diagnosis, source: GraphSource) -> Diagnosis:
    """Return a diagnosis whose next command can be run: not a model that memory cannot train."""
    if source.kind != "disk":
        return found
    from heterophily.batches.fits import size_of, way_for
    from heterophily.data.disk.graph import DiskGraph
    from heterophily.diagnosis.diagnose import NextStep
    from heterophily.models.catalog import MODELS

    if found.verdict.model not in MODELS:
        return found

    disk = DiskGraph.open(source.graph or "")
    size = size_of(disk)
    if way_for(MODELS[found.verdict.model], size, most_memory(source)) is not None:
        return found
    why = f"{found.verdict.model} needs more memory than it may take; auto chooses what fits"
    return replace(found, next=NextStep(_auto(source), why))


def bytes_beyond_memory(source: GraphSource) -> int:
    """Return the bytes that tables would take in memory, if it cannot hold them; 0: it can."""
    if source.edges is None or source.nodes is None:
        return 0
    files = [Path(source.edges), Path(source.nodes)]
    if any(not file.is_file() or file.suffix not in BIG_TABLES for file in files):
        return 0
    rows = _rows_of_tables(source)
    needed = _BYTES_OF_AN_EDGE * rows[0] + _BYTES_OF_A_NODE * rows[1]
    if needed <= _SMALL:
        return 0
    return needed + _PROGRAM if needed + _PROGRAM > most_memory(source) else 0


def diagnose_converted(source: GraphSource, *, quick: bool, seed: int) -> Diagnosis:
    """Convert tables to a graph on disk, diagnose it, and remove it."""
    from heterophily.diagnosis.disk import diagnose_disk

    name = Path(source.edges or "").stem
    rows = _rows_of_tables(source)
    _need_for_diagnosis(name, rows[1], 2 * rows[0], most_memory(source))
    command = f"heterophily convert {source.arguments()} --out {name}.disk"
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        disk = open_on_disk(source, Path(folder) / f"{name}.disk")
        return diagnose_disk(disk, quick=quick, seed=seed, next_command=command)


def _rows_of_tables(source: GraphSource) -> tuple[int, int]:
    """Return the rows of edges and of nodes."""
    from heterophily.data.disk.convert.nodes import table_of

    edges, nodes = (
        table_of(Path(file or ""), source.delimiter, source.has_header).num_rows
        for file in (source.edges, source.nodes)
    )
    return edges, nodes


def _need_for_diagnosis(name: str, num_nodes: int, num_entries: int, most: int) -> None:
    """Refuse a limit in which the probe cannot be done."""
    from heterophily.data.memory import memory_limit, need
    from heterophily.diagnosis.disk import memory_of_diagnosis

    with memory_limit(most):
        need(memory_of_diagnosis(num_nodes, num_entries), f"the diagnosis of {name} on disk")


def lacks_room(source: GraphSource) -> str:
    """Say why tables cannot be converted in the folder for temporary files; empty: they can."""
    from heterophily.data.disk.convert.convert import space_for

    needed = space_for(
        source.edges or "",
        source.nodes,
        source=source.source,
        target=source.target,
        node_id=source.node_id,
        label=source.label,
        split=source.split,
        features=source.features,
        ignore=source.ignore,
        delimiter=source.delimiter,
        has_header=source.has_header,
    )
    free = shutil.disk_usage(scratch_folder()).free
    if needed <= free:
        return ""
    return (
        "There is no verdict: the probe needs the graph on disk, about "
        f"{needed / 2**30:,.1f} GB in {scratch_folder()}, which has {free / 2**30:,.1f} GB free "
        "(TMPDIR names another folder)."
    )


def scratch_folder() -> str:
    """Return the folder for large temporary files: ``TMPDIR``, or the current one."""
    return os.environ.get("TMPDIR") or "."


def show_metrics(source: GraphSource, why: str, *, as_json: bool) -> None:
    """Count the metrics of tables that memory cannot hold as they are, and print them."""
    from heterophily.metrics.collect.tables import table_statistics

    _refuse_not_kept(source)
    counted = table_statistics(
        source.edges or "",
        source.nodes or "",
        **source.column_choices(),
        delimiter=source.delimiter,
        has_header=source.has_header,
        memory=most_memory(source),
        tell=ProgressLine() if sys.stderr.isatty() else None,
    )
    _show(counted, why, as_json=as_json)


def most_memory(source: GraphSource) -> int:
    """Return the bytes that a command may take: those of ``--memory``, or the usual limit."""
    from heterophily.data.memory import as_bytes, limit

    return limit() if source.memory is None else as_bytes(source.memory)


def _show(counted: LabelStatistics, why: str, *, as_json: bool) -> None:
    from heterophily.metrics.catalog import METRICS, compute_metrics

    found = compute_metrics(counted)
    if as_json:
        import json

        graph = {"name": counted.name, "nodes": counted.num_nodes, "edges": counted.num_edges}
        print(json.dumps({"graph": graph, "metrics": found.values, "probe": None}))
        return
    print(
        f"{counted.name}: {counted.num_nodes:,} nodes, {counted.num_edges:,} edges, "
        f"{counted.num_classes} classes, {counted.num_labelled:,} labelled nodes, "
        f"{counted.isolated:,} without edges"
    )
    print(why)
    for name, value in found.values.items():
        if value is not None:
            print(f"  {METRICS[name].title:36} {value:8.4f}")
