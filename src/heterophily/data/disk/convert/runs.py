"""Runs: unsorted edges in files, grouped by buckets of rows, so that a bucket can be read alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.disk.convert.edge_batches import EdgeTable, EdgeTask, Ends
from heterophily.data.disk.convert.workspace import Workspace
from heterophily.data.wording import short
from heterophily.errors import InputError
from heterophily.native.buckets import Buckets, Ways, scatter_edges

Mapped = Callable[[Ends], Ends]
"""Ids of edges to numbers of nodes; ids that are no nodes become -1."""

Tell = Callable[[str, int, int], None]
"""Receives a stage, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class RunMaker:
    """Deals the edges of a table to buckets, task by task; finished tasks are not done again."""

    edges: EdgeTable
    workspace: Workspace
    buckets: Buckets
    ways: dict[str, Ways]  # name of a direction -> how edges are dealt: {"out": "both"}
    rows: int  # edges of a run
    mapped: Mapped
    threads: int

    def make(self, tell: Tell) -> None:
        """Make all runs that are not there yet."""
        tasks = self.edges.tasks(self.rows)
        todo = [task for task in tasks if self.workspace.done(f"task-{task.number:05d}") is None]
        for task in todo:
            for file in self.workspace.folder.glob(f"task-{task.number:05d}-*"):
                file.unlink()
        total = sum(task.num_rows for task in tasks)
        done = total - sum(task.num_rows for task in todo)
        tell("edges", done, total)
        is_counted = self.edges.table.is_parquet  # the rows of a text are guessed
        most = max((task.num_rows for task in todo), default=0) if is_counted else self.rows
        largest = min(self.rows, most)
        room = np.empty(2 * largest if "both" in self.ways.values() else largest, np.uint64)
        for task in todo:
            facts: dict[str, Any] = {"rows": 0, "loops": 0, "keys": 0, "runs": []}
            for ends in ahead(self.edges.pieces(task, self.rows)):
                self._add(task, facts, ends, room)
                tell("edges", min(done + facts["rows"], total), total)
            self.workspace.note(f"task-{task.number:05d}", facts)
            done += task.num_rows

    def _add(
        self, task: EdgeTask, facts: dict[str, Any], given: Ends, room: NDArray[np.uint64]
    ) -> None:
        ends = self.mapped(given)
        number = len(facts["runs"])
        for name, ways in self.ways.items():
            found = scatter_edges(*ends, self.buckets, ways=ways, room=room, threads=self.threads)
            if found.first_bad >= 0:
                self._refuse(found.first_bad, given, ends)
            stem = f"task-{task.number:05d}-{number:03d}-{name}"
            path = self.workspace.folder / f"{stem}.keys"
            try:
                with open(path, "wb", buffering=0) as stream:
                    view = found.keys.data.cast("B") if found.keys.size else memoryview(b"")
                    while view:  # one write takes at most 2 GB
                        view = view[stream.write(view) :]
            except OSError as error:
                path.unlink(missing_ok=True)
                raise InputError(
                    f"cannot write {path}: {error.strerror}; free some space and run the same "
                    "command again: it goes on where it stopped"
                ) from None
            found.offsets.tofile(self.workspace.folder / f"{stem}.offsets")
            facts["keys"] += int(found.offsets[-1])
        facts["loops"] += found.num_loops
        facts["rows"] += int(ends[0].size)
        facts["runs"].append(number)

    def _refuse(self, row: int, given: Ends, ends: Ends) -> None:
        names = (self.edges.source, self.edges.target)
        side = 0 if not 0 <= int(ends[0][row]) < self.buckets.num_nodes else 1
        raise InputError(
            f"{self.edges.table.path.name}, column {short(names[side])}: node "
            f"{given[side][row]} is not in the node table; add it there or remove the edge"
        )


def ahead(items: Iterator[Any]) -> Iterator[Any]:
    """Yield items while the next one is already being read in another thread."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: list(islice(items, 1)))
        while found := waiting.result():
            waiting = pool.submit(lambda: list(islice(items, 1)))
            yield found.pop()


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of one direction, to be read bucket by bucket."""

    files: list[Path]
    starts: NDArray[np.int64]  # (runs, buckets + 1)

    @classmethod
    def of(cls, workspace: Workspace, name: str, tasks: list[EdgeTask], buckets: Buckets) -> Runs:
        """Find the runs of finished tasks."""
        stems = [
            f"task-{task.number:05d}-{number:03d}-{name}"
            for task in tasks
            for number in workspace.done(f"task-{task.number:05d}")["runs"]
        ]
        starts = np.zeros((len(stems), buckets.count + 1), np.int64)
        for row, stem in enumerate(stems):
            starts[row] = np.fromfile(workspace.folder / f"{stem}.offsets", np.int64)
            held = (workspace.folder / f"{stem}.keys").stat().st_size
            if held != 8 * starts[row, -1]:
                raise InputError(
                    f"{workspace.folder / stem}.keys has {held:,} bytes, expected "
                    f"{8 * starts[row, -1]:,}; remove {workspace.target} and convert again"
                )
        return cls([workspace.folder / f"{stem}.keys" for stem in stems], starts)

    def counts(self) -> NDArray[np.int64]:
        """Return the number of keys of each bucket, (buckets,)."""
        return np.asarray(np.diff(self.starts, axis=1).sum(axis=0))

    def open(self, stack: ExitStack) -> list[int]:
        """Open all runs for reading until the stack is left."""
        handles = [os.open(path, os.O_RDONLY) for path in self.files]
        for handle in handles:
            stack.callback(os.close, handle)
        return handles

    def read(self, handles: list[int], bucket: int, room: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the keys of a bucket, in ``room``."""
        at = 0
        for handle, piece in self._segments(handles, bucket):
            at += _read_into(handle, piece, room[at : at + piece[1] - piece[0]])
        return room[:at]

    def blocks(
        self, handles: list[int], bucket: int, size: int = 1 << 20
    ) -> Iterator[NDArray[np.uint64]]:
        """Yield the keys of a bucket in blocks that stay small."""
        room = np.empty(size, np.uint64)
        for handle, (first, last) in self._segments(handles, bucket):
            for at in range(first, last, size):
                piece = (at, min(at + size, last))
                _read_into(handle, piece, room[: piece[1] - piece[0]])
                yield room[: piece[1] - piece[0]]

    def _segments(self, handles: list[int], bucket: int) -> Iterator[tuple[int, tuple[int, int]]]:
        for row, handle in enumerate(handles):
            first, last = (int(place) for place in self.starts[row, bucket : bucket + 2])
            if last > first:
                yield handle, (first, last)


def _read_into(handle: int, piece: tuple[int, int], room: NDArray[np.uint64]) -> int:
    view, at = room.data.cast("B"), 8 * piece[0]
    while view:
        read = os.preadv(handle, [view], at)
        if read == 0:
            raise InputError(
                "a temporary file of edges is shorter than it should be; remove the folder and "
                "convert again"
            )
        view, at = view[read:], at + read
    return piece[1] - piece[0]
