"""Flipped bits and cut ends: a file of ours is read right, or refused; never a wrong graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from heterophily import Graph, read_tables, write_npz, write_tables
from heterophily.data.graph import same_content
from heterophily.data.npz import read_npz
from heterophily.errors import InputError

_RNG = np.random.default_rng(5)
GRAPH = Graph.from_edges(
    *_RNG.integers(0, 40, (2, 120)),
    weight=_RNG.random(120),
    labels=np.arange(40) % 3,
    features=_RNG.normal(size=(40, 3)),
    node_ids=np.array([f"n{k:02}" for k in range(40)]),
)


def _npz(folder: Path) -> tuple[list[Path], Callable[[], Graph]]:
    write_npz(GRAPH, folder / "g.npz")
    return [folder / "g.npz"], lambda: read_npz(folder / "g.npz")


def _parquet(folder: Path) -> tuple[list[Path], Callable[[], Graph]]:
    files = [folder / "e.parquet", folder / "n.parquet"]
    write_tables(GRAPH, *files)
    return files, lambda: read_tables(*files)


@pytest.mark.parametrize("made", [_npz, _parquet])
def test_damage_is_never_a_wrong_graph(tmp_path: Path, made: Callable[..., object]) -> None:
    files, read = made(tmp_path)  # type: ignore[misc]
    wanted = read()
    rng = np.random.default_rng(1)
    refused = 0
    for number in range(400):
        path = files[number % len(files)]
        whole = path.read_bytes()
        content = bytearray(whole)
        if number % 10 == 0:
            content = content[: rng.integers(0, len(content))]
        else:
            content[rng.integers(0, len(content))] ^= 1 << rng.integers(0, 8)
        path.write_bytes(content)
        try:
            assert same_content(read(), wanted), number
        except InputError:
            refused += 1
        finally:
            path.write_bytes(whole)
    assert refused > 200
