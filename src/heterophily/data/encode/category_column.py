"""Columns of categories: one feature per level, rare levels together, many levels hashed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heterophily.data.encode.blocks import ColumnBlock, OneOf
from heterophily.data.encode.cells import Strange, words_of
from heterophily.data.encode.column import MISSING_NAME, indicator
from heterophily.data.encode.hashing import buckets, hash_cells

ONE_HOT_MOST = 100
"""Categories with more (not rare) levels than this are hashed."""

HASHED_CATEGORIES = 128
"""Columns of a hashed category."""

RARE = 5
"""A level of fewer nodes is rare; in a table of less than 100 rows, of fewer than 5 % of them."""

KEPT_LEVELS = 200
"""Levels of a hashed category that are remembered, to see later whether others came."""

OTHER_NAME = "other"
"""What the feature of rare and unknown levels is called."""


@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """One of several levels: a feature per level, rare levels together, many levels hashed.

    ``levels`` are those with a feature of their own, or the most frequent ones where ``width`` > 0
    says that levels are hashed to so many features. A level that was not there in training is
    ``other`` if there is such a feature, else it has none.
    """

    name: str
    levels: tuple[str, ...]
    has_other: bool
    width: int
    missing: float
    known: float  # share of filled cells in training that are one of the levels
    kind: ClassVar[str] = "category"

    @classmethod
    def learn(cls, name: str, kind: str, column: Any) -> tuple[CategoryColumn, Any, Strange]:
        """Return the fitted column, its cells, and those that do not fit (none)."""
        words, codes = words_of(column)
        counts = np.bincount(codes[codes >= 0], minlength=len(words))
        filled = int(counts.sum())
        least = max(1, min(RARE, codes.size // 20))
        order = sorted(range(len(words)), key=lambda place: (-counts[place], words[place]))
        frequent = [place for place in order if counts[place] >= least]
        width = 0
        if len(frequent) > ONE_HOT_MOST:
            frequent, width = frequent[:KEPT_LEVELS], HASHED_CATEGORIES
        rare = len(words) - len(frequent)
        if width == 0 and rare == 1 and len(frequent) < ONE_HOT_MOST:  # alone, it is no "other"
            frequent, rare = order, 0
        known = float(counts[frequent].sum() / filled) if filled else 1.0
        fitted = cls(
            name,
            tuple(sorted(words[place] for place in frequent)),
            width == 0 and rare > 0,
            width,
            float(np.mean(codes < 0)),
            known,
        )
        return fitted, (words, codes), Strange()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The levels, the others, and whether the cell was missing."""
        if self.width:
            names = [f"{self.name}: hash {place}" for place in range(self.width)]
        else:
            names = [f"{self.name}={level}" for level in self.levels]
        names += [f"{self.name}: {OTHER_NAME}"] if self.has_other else []
        names += [f"{self.name}: {MISSING_NAME}"] if self.missing > 0 else []
        return tuple(names)

    def parse(self, column: Any) -> tuple[tuple[list[str], NDArray[np.int32]], Strange]:
        """Return the distinct words and the word of each row."""
        return words_of(column), Strange()

    def encode(self, cells: tuple[list[str], NDArray[np.int32]]) -> list[ColumnBlock]:
        """Return the levels as one block, and whether the cell was missing."""
        words, codes = cells
        if self.width:
            places = buckets(hash_cells(words), self.width)
            width = self.width
        else:
            index = {level: place for place, level in enumerate(self.levels)}
            other = len(index) if self.has_other else -1
            places = np.array([index.get(word, other) for word in words], np.int32)
            width = len(index) + self.has_other
        lookup = np.append(places, np.int32(-1))
        blocks: list[ColumnBlock] = [OneOf(lookup[codes], width)] if width else []
        return blocks + ([indicator(codes < 0)] if self.missing > 0 else [])

    def values(self, cells: Any) -> Any:
        """Return the cells to compare them with the label."""
        return cells[1]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self), "kind": self.kind, "levels": list(self.levels)}
