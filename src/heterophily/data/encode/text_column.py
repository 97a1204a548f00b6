"""Columns of free text: hashed words, nothing learnt."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from heterophily.data.encode.blocks import Bag, ColumnBlock
from heterophily.data.encode.cells import Strange, is_text, plain
from heterophily.data.encode.hashing import bag_of_words
from heterophily.errors import InputError

HASHED_WORDS = 1024
"""Columns of a text: hashed words and pairs of successive words."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """Free text: hashed words and pairs of words, each row of length 1. Nothing is learnt."""

    name: str
    width: int
    missing: float
    words: float  # mean number of words of a filled cell in training
    kind: ClassVar[str] = "text"

    def __post_init__(self) -> None:
        """Refuse a text without columns: no training writes it."""
        if self.width < 1:
            raise InputError(
                f"the encoder is damaged: column {self.name!r}: a text of {self.width} columns"
            )

    @classmethod
    def learn(cls, name: str, kind: str, column: Any) -> tuple[TextColumn, Any, Strange]:
        """Return the column with its defaults, its cells, and those that do not fit (none)."""
        matrix, counts = bag_of_words(_text(column), HASHED_WORDS)
        filled = int(np.count_nonzero(counts))
        missing = float(np.mean(counts == 0)) if counts.size else 0.0
        words = float(counts.sum()) / filled if filled else 0.0
        return cls(name, HASHED_WORDS, missing, words), matrix, Strange()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The hashed words."""
        return tuple(f"{self.name}: words {place}" for place in range(self.width))

    def parse(self, column: Any) -> tuple[sp.csr_array, Strange]:
        """Return the hashed words (N, width)."""
        return bag_of_words(_text(column), self.width)[0], Strange()

    def encode(self, cells: sp.csr_array) -> list[ColumnBlock]:
        """Return the hashed words as one block."""
        return [Bag(cells)]

    def values(self, cells: Any) -> Any:
        """Return the cells to compare them with the label."""
        return cells

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self), "kind": self.kind}


def _text(column: Any) -> Any:
    column = plain(column)
    return column if is_text(column.type) else column.cast(pa.string())
