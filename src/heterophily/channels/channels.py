"""Computed channels: rows of X and of its filtered forms, from memory or from mapped files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.channels.columns import FeatureScale
from heterophily.channels.recipe import DEGREE, OWN, ChannelName
from heterophily.channels.rows import usable_threads
from heterophily.channels.stored import Rows, Stored, difference, read_rows, release
from heterophily.errors import InputError


@dataclass(frozen=True, eq=False)
class Channels:
    """The channels of a graph, to be read by rows.

    ``own`` is X as it is stored, in panels (N, width) or sparse, ``low`` every low channel by name
    (of the scaled X); ``degrees`` is (N,).
    """

    num_nodes: int
    num_columns: int
    own: Stored
    low: Mapping[str, Stored]
    degrees: NDArray[np.int64]
    scale: FeatureScale

    def rows(self, names: Sequence[str], rows: slice | NDArray[Any]) -> list[Rows]:
        """Return some channels of some nodes, (n, F) each; ``degree`` has one column, log(1 + d).

        Several channels that are made of the same files read them once. Sparse channels give
        sparse rows.
        """
        read: dict[str, Rows] = {}

        def stored(name: str) -> Rows:
            if name not in read:
                if name == OWN:
                    found = self._read(self.own, rows)
                    read[name] = self.scale.apply(found, rows, slice(None))
                else:
                    read[name] = self._read(self._low(name), rows)
            return read[name]

        found: list[Rows] = []
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
                found.append(difference(stored(before), stored(parsed.stored[-1])))
        return found

    def width(self, name: str) -> int:
        """Return the number of columns of a channel."""
        return 1 if name == DEGREE else self.num_columns

    def release(self) -> None:
        """Let go of the pages of mapped files: they stay in the cache of the system, if it has
        room, and no longer count as memory of this process."""
        for stored in (self.own, *self.low.values()):
            release(stored)

    def _low(self, name: str) -> Stored:
        if name not in self.low:
            raise InputError(f"the channel {name} was not computed; compute the channels again")
        return self.low[name]

    def _read(self, stored: Stored, rows: slice | NDArray[Any]) -> Rows:
        return read_rows(stored, rows, threads=usable_threads())
