"""Fuzzed too: graphs on disk, their channels, checkpoints, typed edges, JSON lines.

As in :mod:`fuzz.targets`, an attempt returns "right", "wrong" or "accepted", or raises one of our
errors.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from fuzz import mutate

from heterophily import Graph, read_tables
from heterophily.channels.precompute import compute_channels
from heterophily.channels.recipe import ChannelRecipe
from heterophily.data.disk.files import file_sha256
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.disk.manifest import MANIFEST, _own_sha256
from heterophily.data.disk.write import write_disk_graph
from heterophily.data.graph import same_content
from heterophily.metrics.collect.disk import disk_statistics
from heterophily.training.checkpoint import Checkpoint

Random = np.random.Generator
Attempt = Callable[[Random, Path], str]


def disk_graph(graph: Graph) -> Attempt:
    """Damage a file of a folder, or forge its manifest: what is accepted is what was written.

    A forged folder has right checksums; compiled code must survive whatever it holds.
    """
    folder = Path(tempfile.mkdtemp()) / "g.disk"
    write_disk_graph(graph, folder, rows_per_part=9)
    wanted = DiskGraph.open(folder).to_graph()
    names = sorted(path.name for path in folder.iterdir())

    def attempt(rng: Random, place: Path) -> str:
        target = place / "g.disk"
        shutil.copytree(folder, target)
        path = target / names[int(rng.integers(0, len(names)))]
        before = file_sha256(path)
        is_forged = rng.random() < 0.4
        if path.name == MANIFEST:
            values = mutate.data_of(json.loads(path.read_text()), rng)
            text = mutate.json_of(values)
            path.write_bytes(text if is_forged else mutate.bytes_of(path.read_bytes(), rng))
        else:
            path.write_bytes(mutate.bytes_of(path.read_bytes(), rng))
        if is_forged:
            _forge(target / MANIFEST, before, file_sha256(path))
        opened = DiskGraph.open(target)
        found = opened.to_graph()
        if opened.class_names:
            disk_statistics(opened)
        if is_forged:
            return "accepted"
        return "right" if same_content(found, wanted) else "wrong"

    return attempt


def _forge(path: Path, before: str, after: str) -> None:
    """Give a manifest the right checksums, where it can have some."""
    try:
        values = json.loads(path.read_text().replace(before, after))
        values["sha256"] = _own_sha256(values)
    except (ValueError, TypeError, RecursionError):
        return
    path.write_text(json.dumps(values))


def channels(graph: Graph) -> Attempt:
    """Damage stored channels: they are computed again, never read wrong."""
    folder = Path(tempfile.mkdtemp()) / "g.disk"
    disk = write_disk_graph(graph, folder)
    recipe = ChannelRecipe(features="numbers", hops=2)
    made = Path(tempfile.mkdtemp()) / "channels"
    every = slice(0, graph.num_nodes)
    blocks = ["own", "low-1", "low-2"]
    wanted = np.hstack(list(compute_channels(disk, recipe, folder=made).rows(blocks, every)))
    names = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())

    def attempt(rng: Random, place: Path) -> str:
        shutil.copytree(made, place / "channels")
        path = place / "channels" / names[int(rng.integers(0, len(names)))]
        path.write_bytes(mutate.bytes_of(path.read_bytes(), rng))
        found = compute_channels(disk, recipe, folder=place / "channels").rows(blocks, every)
        return "right" if np.array_equal(np.hstack(list(found)), wanted) else "wrong"

    return attempt


def checkpoint() -> Attempt:
    """Damage the checkpoint of a training: it is read as it was, or the training begins again."""
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    path = Path(tempfile.mkdtemp()) / "a.checkpoint"
    story = {"epoch": 3, "losses": [0.5, 0.25]}
    Checkpoint(path).save(model, optimizer, model.state_dict(), story)
    whole = path.read_bytes()

    def attempt(rng: Random, place: Path) -> str:
        (place / path.name).write_bytes(mutate.bytes_of(whole, rng))
        fresh = torch.nn.Linear(3, 2)
        found = Checkpoint(place / path.name).load(fresh, torch.optim.Adam(fresh.parameters()))
        if found is None:
            return "right"
        is_same = torch.equal(fresh.weight, model.weight) and found[0] == story
        return "right" if is_same else "wrong"

    return attempt


NODES = 24


def typed_edges() -> Attempt:
    """Damage a table of typed edges; the types are those of the csv module, and add up."""
    rng = np.random.default_rng(11)
    ends = rng.integers(0, NODES, (60, 2))
    words = ["calls", "pays", "knows"]
    rows = [f"n{u},n{v},{words[(u + v) % 3]}" for u, v in ends.tolist() if u != v]
    whole = "\n".join(["source,target,kind", *rows]).encode() + b"\n"

    def attempt(rng: Random, place: Path) -> str:
        damaged = mutate.bytes_of(whole, rng)
        (place / "e.csv").write_bytes(damaged)
        graph = read_tables(place / "e.csv", None, edge_type="kind")
        types = graph.edge_types
        if types is None:
            return "wrong"
        total = sum(abs(types.matrix(name)) for name in graph.type_names)
        has_edge = sp.csr_array(total).astype(bool) != sp.csr_array(graph.adjacency).astype(bool)
        if has_edge.nnz:
            return "wrong"
        text = damaged.decode("utf-8", "replace")
        told = {word for name in graph.type_names for word in [name] if word in text}
        return "right" if len(told) == len(graph.type_names) else "accepted"

    return attempt


def json_lines() -> Attempt:
    """Damage a table of JSON lines; accepted edges are those that Python's parser finds."""
    rng = np.random.default_rng(12)
    ends = [pair for pair in rng.integers(0, NODES, (60, 2)).tolist() if pair[0] != pair[1]]
    rows = [{"source": f"n{u}", "target": f"n{v}"} for u, v in ends]
    whole = "\n".join(map(json.dumps, rows)).encode() + b"\n"
    start = Path(tempfile.mkdtemp()) / "e.jsonl"
    start.write_bytes(whole)
    read_tables(start, None)  # what the first reading loads is not counted

    def attempt(rng: Random, place: Path) -> str:
        damaged = mutate.bytes_of(whole, rng)
        (place / "e.jsonl").write_bytes(damaged)
        graph = read_tables(place / "e.jsonl", None)
        wanted = _edges_of(damaged)
        if wanted is None:
            return "accepted"
        ids = graph.node_ids.astype(str)
        coo = sp.coo_array(graph.adjacency)
        pairs = {frozenset((ids[u], ids[v])) for u, v in zip(*coo.coords, strict=True)}
        return "right" if pairs == wanted else "wrong"

    return attempt


def _edges_of(data: bytes) -> set[frozenset[str]] | None:
    """Read edges with the json module alone; None where it cannot tell."""
    try:
        rows: list[Any] = [json.loads(line) for line in data.decode().splitlines() if line.strip()]
        cells = [(row["source"], row["target"]) for row in rows]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_told = all(isinstance(cell, str) and cell == cell.strip() for row in cells for cell in row)
    if not is_told or any(len(row) != 2 for row in rows):
        return None
    return {frozenset(row) for row in cells if row[0] != row[1]}
