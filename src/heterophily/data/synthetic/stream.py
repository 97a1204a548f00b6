"""Graphs of any size with a known homophily, written to tables block by block, never held."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from heterophily.data.atomic import atomic_path
from heterophily.errors import InputError

Degrees = Literal["uniform", "power-law"]
_BLOCK = 1 << 20  # rows of a block, each with its own stream of random numbers
_EDGES, _NODES = 1, 2  # the streams of the two tables


@dataclass(frozen=True)
class StreamedGraph:
    """How to draw a graph whose edges are independent of each other.

    A node of number v has class ``v % classes``. An edge starts at a random node; with probability
    ``homophily`` it ends in the same class, otherwise in one of the others. ``degrees`` says how
    ends are drawn within a class: all alike, or so that degrees follow a power law with exponent
    2.5 (node j of a class with a chance proportional to j to the power -2/3). A share ``repeated``
    of the rows repeats the row before it, with its ends exchanged.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> plan = StreamedGraph(num_nodes=1000, num_edges=5000, homophily=0.3)
    >>> told = plan.write(folder / "edges.parquet", folder / "nodes.parquet")
    >>> told.rows, round(told.edge_homophily, 1)
    (5000, 0.3)
    """

    num_nodes: int
    num_edges: int
    homophily: float
    classes: int = 5
    degrees: Degrees = "uniform"
    features: int = 0  # Gaussian columns of the node table, their means 1 apart between classes
    repeated: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every number."""
        if self.classes < 2 or self.num_nodes < 2 * self.classes:
            raise InputError(
                f"classes={self.classes}, num_nodes={self.num_nodes}; there must be two classes "
                "and two nodes for each"
            )
        if self.num_edges < 1 or self.features < 0:
            raise InputError(
                f"num_edges={self.num_edges}, features={self.features}; use at least one edge and "
                "no negative number of features"
            )
        for name in ("homophily", "repeated"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name}={getattr(self, name)}; it lies between 0 and 1")
        if self.degrees not in get_args(Degrees):
            raise InputError(f"degrees={self.degrees!r}; choose {', '.join(get_args(Degrees))}")

    def write(
        self,
        edges: str | os.PathLike[str],
        nodes: str | os.PathLike[str],
        *,
        threads: int = 2,
        tell: Callable[[str, int, int], None] = lambda *_: None,
    ) -> StreamedTables:
        """Write both tables as Parquet; the same rows for any number of threads."""
        index = pa.int32() if self.num_nodes < 2**31 else pa.int64()
        columns = [("source", index), ("target", index)]
        matching = _write(
            Path(edges), columns, self.num_edges, self._edge_block, threads, partial(tell, "edges")
        )
        names = [(f"f{k}", pa.float32()) for k in range(self.features)]
        _write(
            Path(nodes),
            [("id", index), ("y", pa.int32()), *names],
            self.num_nodes,
            self._node_block,
            threads,
            partial(tell, "nodes"),
        )
        return StreamedTables(self.num_edges, int(matching))

    def _edge_block(self, first: int, rows: int) -> tuple[list[NDArray[Any]], int]:
        rng = np.random.default_rng([self.seed, _EDGES, first // _BLOCK])
        own = rng.integers(0, self.classes, rows, dtype=np.int64)
        is_same = rng.random(rows, dtype=np.float32) < self.homophily
        other = (own + rng.integers(1, self.classes, rows)) % self.classes
        source, target = self._members(own, rng), self._members(np.where(is_same, own, other), rng)
        again = np.flatnonzero(rng.random(rows, dtype=np.float32) < self.repeated)
        again = again[again > 0]
        before = source[again - 1], target[again - 1]
        source[again], target[again] = before[1], before[0]
        matching = int(np.count_nonzero((source - target) % self.classes == 0))
        return [source, target], matching

    def _members(self, classes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return one random node of each class given."""
        sizes = (self.num_nodes - np.arange(self.classes) + self.classes - 1) // self.classes
        chance = rng.random(classes.size)
        if self.degrees == "power-law":
            chance = chance * chance * chance
        place = (chance * sizes[classes]).astype(np.int64)
        return np.asarray(place * self.classes + classes)

    def _node_block(self, first: int, rows: int) -> tuple[list[NDArray[Any]], int]:
        rng = np.random.default_rng([self.seed, _NODES, first // _BLOCK])
        number = np.arange(first, first + rows)
        label = number % self.classes
        columns: list[NDArray[Any]] = [number, label.astype(np.int32)]
        for column in range(self.features):
            shift = (label == column % self.classes).astype(np.float32)
            columns.append(rng.standard_normal(rows, dtype=np.float32) + shift)
        return columns, 0


@dataclass(frozen=True, slots=True)
class StreamedTables:
    """What was written: rows of edges, and those whose ends have the same class."""

    rows: int
    matching: int

    @property
    def edge_homophily(self) -> float:
        """Share of matching rows, before loops and duplicates are removed."""
        return self.matching / self.rows


def _write(
    path: Path,
    columns: list[tuple[str, Any]],
    total: int,
    make: Callable[[int, int], tuple[list[NDArray[Any]], int]],
    threads: int,
    tell: Callable[[int, int], None],
) -> int:
    """Write blocks in their order while later ones are drawn; return the sum of their counts."""
    schema = pa.schema(columns)
    counted = done = 0
    with (
        atomic_path(path) as temporary,
        pq.ParquetWriter(
            temporary, schema, compression="none", use_dictionary=False, write_page_checksum=True
        ) as writer,
    ):
        for values, count in _in_order(make, total, threads):
            arrays = [
                pa.array(value).cast(kind)  # to_pandas_dtype would need pandas
                for value, (_, kind) in zip(values, columns, strict=True)
            ]
            writer.write_batch(pa.record_batch(arrays, schema=schema), row_group_size=_BLOCK)
            counted += count
            done += len(arrays[0])
            tell(done, total)
    return counted


def _in_order(
    make: Callable[[int, int], tuple[list[NDArray[Any]], int]], total: int, threads: int
) -> Iterator[tuple[list[NDArray[Any]], int]]:
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[tuple[list[NDArray[Any]], int]]] = deque()
        for first in range(0, total, _BLOCK):
            waiting.append(pool.submit(make, first, min(_BLOCK, total - first)))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
