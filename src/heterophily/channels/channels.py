"""Computed channels: rows of X and of its filtered forms, from memory or from mapped files."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.channels.columns import FeatureScale
from heterophily.channels.recipe import DEGREE, OWN, ChannelName
from heterophily.channels.rows import read_slice, usable_threads
from heterophily.errors import InputError
from heterophily.native.sampler import gather_rows

Panels = Sequence[NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Channels:
    """The channels of a graph, to be read by rows.

    ``own`` are the panels of X as they are stored, ``low`` those of every low channel by name
    (of the scaled X), each (N, width); ``degrees`` is (N,).
    """

    num_nodes: int
    num_columns: int
    own: Panels
    low: Mapping[str, Panels]
    degrees: NDArray[np.int64]
    scale: FeatureScale

    def rows(self, names: Sequence[str], rows: slice | NDArray[Any]) -> list[NDArray[np.float32]]:
        """Return some channels of some nodes, (n, F) each; ``degree`` has one column, log(1 + d).

        Several channels that are made of the same files read them once.
        """
        read: dict[str, NDArray[np.float32]] = {}

        def stored(name: str) -> NDArray[np.float32]:
            if name not in read:
                if name == OWN:
                    found = self._read(self.own, rows)
                    read[name] = self.scale.apply(found, rows, slice(None))
                else:
                    read[name] = self._read(self._panels(name), rows)
            return read[name]

        found = []
        for name in names:
            parsed = ChannelName.parse(name)
            if name == DEGREE:
                found.append(np.log1p(self.degrees[rows, None]).astype(np.float32))
            elif name == OWN:
                found.append(stored(OWN))
            elif parsed.kind == "low":
                found.append(stored(name))
            else:
                before = parsed.stored[0] if parsed.hops > 1 else OWN
                found.append(stored(before) - stored(parsed.stored[-1]))
        return found

    def width(self, name: str) -> int:
        """Return the number of columns of a channel."""
        return 1 if name == DEGREE else self.num_columns

    def release(self) -> None:
        """Let go of the pages of mapped files: they stay in the cache of the system, if it has
        room, and no longer count as memory of this process."""
        for panels in (self.own, *self.low.values()):
            release(panels)

    def _panels(self, name: str) -> Panels:
        if name not in self.low:
            raise InputError(f"the channel {name} was not computed; compute the channels again")
        return self.low[name]

    def _read(self, panels: Panels, rows: slice | NDArray[Any]) -> NDArray[np.float32]:
        if isinstance(rows, slice):
            begin, end, _ = rows.indices(self.num_nodes)
            return np.concatenate([read_slice(panel, begin, end) for panel in panels], axis=1)
        return gather_rows(panels, rows, threads=usable_threads())


def release(panels: Panels) -> None:
    """Let go of the pages of those panels that are mapped files."""
    for panel in panels:
        found = getattr(panel, "_mmap", None)
        if found is not None and hasattr(mmap, "MADV_DONTNEED"):
            found.madvise(mmap.MADV_DONTNEED)
