"""Buckets to parts: each bucket is sorted and freed of duplicates, buckets in a row make a part."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.atomic import atomic_path
from heterophily.data.disk.convert.runs import Runs, Tell
from heterophily.data.disk.convert.workspace import Workspace
from heterophily.data.disk.files import HashedFile
from heterophily.data.disk.manifest import FileEntry, PartEntry
from heterophily.native.buckets import Buckets, sort_rows

_MOST_ROWS = 1 << 24  # of a part
_BINS_BITS = 12  # a bucket that is too large is cut into up to 4,096 ranges at a time

Piece = tuple[NDArray[np.int64], NDArray[np.uint32]]
"""Entries of each row of a bucket (some of its keys), and their columns in order."""


@dataclass(frozen=True)
class PartMaker:
    """Writes the parts of one direction; finished parts are not made again."""

    name: str  # out or in
    runs: Runs
    buckets: Buckets
    workspace: Workspace
    most_keys: int  # sorted at once by a thread
    part_keys: int  # of a part, about
    threads: int

    def make(self, tell: Tell) -> tuple[PartEntry, ...]:
        """Write all parts and return them."""
        counts = self.runs.counts()
        entries, done, total = [], 0, int(counts.sum())
        with ExitStack() as stack:
            handles = self.runs.open(stack)
            pool = stack.enter_context(ThreadPoolExecutor(self.threads))
            rooms: queue.SimpleQueue[NDArray[np.uint64]] = queue.SimpleQueue()
            largest = int(min(counts.max(initial=0), self.most_keys))
            for _ in range(self.threads):
                rooms.put(np.empty((2, largest), np.uint64))
            for number, (first, last) in enumerate(_groups(counts, self._limits())):
                entries.append(self._part(number, first, last, handles, pool, rooms))
                done += int(counts[first:last].sum())
                tell("sorting", done, total)
        return tuple(entries)

    def _limits(self) -> tuple[int, int]:
        return self.part_keys, max(_MOST_ROWS >> self.buckets.shift, 1)

    def _part(
        self,
        number: int,
        first: int,
        last: int,
        handles: list[int],
        pool: ThreadPoolExecutor,
        rooms: queue.SimpleQueue[NDArray[np.uint64]],
    ) -> PartEntry:
        step = f"part-{self.name}-{number:05d}"
        rows = self.buckets.rows(first)[0], self.buckets.rows(last - 1)[1]
        stem = f"{self.name}-{number:05d}"
        before = self.workspace.done(step)
        if before is not None:
            return _entry(rows, stem, before)
        folder = self.workspace.target
        with ExitStack() as stack:
            paths = [folder / f"{stem}.{kind}" for kind in ("indptr", "indices")]
            files = [
                stack.enter_context(HashedFile(stack.enter_context(atomic_path(path))))
                for path in paths
            ]
            files[0].write(np.zeros(1, "<i8"))
            entries = 0
            for counts, pieces in self._sorted(range(first, last), handles, pool, rooms):
                for indices in pieces:
                    files[1].write(indices)
                ends = np.cumsum(counts) + entries
                entries = int(ends[-1])
                files[0].write(ends.astype("<i8", copy=False))
        facts = {"indptr": files[0].sha256, "indices": files[1].sha256, "entries": entries}
        self.workspace.note(step, facts)
        return _entry(rows, stem, facts)

    def _sorted(
        self,
        numbers: range,
        handles: list[int],
        pool: ThreadPoolExecutor,
        rooms: queue.SimpleQueue[NDArray[np.uint64]],
    ) -> Iterator[tuple[NDArray[np.int64], list[NDArray[np.uint32]] | Iterator[Any]]]:
        """Yield the buckets in their order, while later ones are sorted in other threads."""
        counts = self.runs.counts()
        waiting: deque[Future[Piece] | int] = deque()
        for bucket in chain(numbers, [None] * (self.threads + 1)):
            if bucket is not None and counts[bucket] <= self.most_keys:
                waiting.append(pool.submit(self._sort, bucket, handles, rooms))
            elif bucket is not None:
                waiting.append(bucket)
            if len(waiting) > self.threads or bucket is None:
                if not waiting:
                    continue
                head = waiting.popleft()
                if isinstance(head, int):
                    yield self._sort_large(head, handles)
                else:
                    rows, indices = head.result()
                    yield rows, [indices]

    def _sort(
        self, bucket: int, handles: list[int], rooms: queue.SimpleQueue[NDArray[np.uint64]]
    ) -> Piece:
        room = rooms.get()
        try:
            keys = self.runs.read(handles, bucket, room[0])
            first, last = self.buckets.rows(bucket)
            indptr, indices = sort_rows(keys, room[1], self.buckets, last - first)
            return np.diff(indptr), indices
        finally:
            rooms.put(room)

    def _sort_large(
        self, bucket: int, handles: list[int]
    ) -> tuple[NDArray[np.int64], Iterator[NDArray[np.uint32]]]:
        """Sort a bucket that memory does not hold (hubs), one range of its keys after another."""
        first, last = self.buckets.rows(bucket)
        top = (last - first) << self.buckets.column_bits
        ranges = list(self._ranges(bucket, handles, 0, top))
        counts = np.zeros(last - first, np.int64)

        def columns() -> Iterator[NDArray[np.uint32]]:
            for low, high, size in ranges:
                keys = self._between(bucket, handles, low, high, size)
                indptr, indices = sort_rows(keys, np.empty_like(keys), self.buckets, last - first)
                np.add(counts, np.diff(indptr), out=counts)
                yield indices

        return counts, columns()  # the counts are complete when the columns are written

    def _ranges(
        self, bucket: int, handles: list[int], low: int, high: int
    ) -> Iterator[tuple[int, int, int]]:
        """Cut a range of keys until each piece fits memory: (first, last + 1, number of keys)."""
        bits = max((high - low - 1).bit_length() - _BINS_BITS, 0)
        bins = ((high - low - 1) >> bits) + 1
        found = np.zeros(bins, np.int64)
        for block in self.runs.blocks(handles, bucket):
            inside = block[(block >= low) & (block < high)]
            found += np.bincount(
                ((inside - np.uint64(low)) >> np.uint64(bits)).astype(np.int64), minlength=bins
            )
        start, held = 0, 0  # bins that wait for their range to be full
        for place, size in enumerate(found.tolist()):
            if held and held + size > self.most_keys:
                yield low + (start << bits), low + (place << bits), held
                start, held = place, 0
            if size <= self.most_keys:
                held += size
                continue
            first = low + (place << bits)
            if bits == 0:  # one edge, very often
                yield first, first + 1, 1
            else:
                yield from self._ranges(bucket, handles, first, min(first + (1 << bits), high))
            start = place + 1
        if held:
            yield low + (start << bits), high, held

    def _between(
        self, bucket: int, handles: list[int], low: int, high: int, size: int
    ) -> NDArray[np.uint64]:
        if high - low == 1:
            return np.array([low], np.uint64)
        keys = np.empty(size, np.uint64)
        at = 0
        for block in self.runs.blocks(handles, bucket):
            inside = block[(block >= low) & (block < high)]
            keys[at : at + inside.size] = inside
            at += inside.size
        return keys


def _entry(rows: tuple[int, int], stem: str, facts: Mapping[str, Any]) -> PartEntry:
    files = (FileEntry(f"{stem}.{kind}", facts[kind]) for kind in ("indptr", "indices"))
    return PartEntry(*rows, *files)


def _groups(counts: NDArray[np.int64], limits: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Group buckets in a row until a group is large enough: (first, last + 1)."""
    first, held = 0, 0
    for bucket, count in enumerate(counts.tolist()):
        if bucket > first and (held + count > limits[0] or bucket - first >= limits[1]):
            yield first, bucket
            first, held = bucket, 0
        held += count
    if counts.size:
        yield first, counts.size
