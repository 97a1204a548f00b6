"""Compiled code encodes a table as NumPy does, bit for bit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from heterophily.data.encode.blocks import Bag, ColumnBlock, OneOf, Values, side_by_side
from heterophily.data.encode.hashing import bag_of_words
from heterophily.native.library import ISA_VARIABLE, engine

needs_library = pytest.mark.skipif(engine().library is None, reason="no native library")
WORDS = (
    "dog",
    "Dog",
    "DOG",
    "straße",
    "STRASSE",
    "İstanbul",
    "x_1",
    "42",
    "日本",
    "a-b",
    "ÉCOLE",
    "",
)


def texts(rows: int, *, is_ascii: bool) -> pa.ChunkedArray:
    rng = np.random.default_rng(rows)
    words = [word for word in WORDS if word.isascii() or not is_ascii]
    cells = [" ".join(rng.choice(words, rng.integers(0, 12))) for _ in range(rows)]
    cells[::7] = [None] * len(cells[::7])
    return pa.chunked_array([pa.array(cells[:5], pa.string()), pa.array(cells, pa.string())[5:]])


@needs_library
@pytest.mark.parametrize("is_ascii", [True, False])
@pytest.mark.parametrize("width", [1, 100, 1024])
def test_hashed_words_are_those_of_numpy(
    monkeypatch: pytest.MonkeyPatch, width: int, is_ascii: bool
) -> None:
    column = texts(9000, is_ascii=is_ascii)
    native, native_words = bag_of_words(column, width)
    monkeypatch.setenv(ISA_VARIABLE, "none")
    plain, plain_words = bag_of_words(column, width)
    np.testing.assert_array_equal(native_words, plain_words)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(native, name), getattr(plain, name))


@needs_library
def test_blocks_side_by_side_are_those_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = 4000
    bag = sp.random_array((rows, 50), density=0.1, rng=rng, format="csr", dtype=np.float32)
    bag.sum_duplicates()
    strided = np.zeros((rows, 2), np.float32)
    strided[:, 1] = rng.integers(0, 3, rows)
    blocks: list[ColumnBlock] = [
        Values(rng.integers(-1, 2, rows).astype(np.float64)),
        OneOf(rng.integers(-1, 40, rows).astype(np.int32), 40),
        Values(strided[:, 1]),
        Bag(bag),
        Bag(bag),
    ]
    native = side_by_side(blocks, rows)
    monkeypatch.setenv(ISA_VARIABLE, "none")
    plain = side_by_side(blocks, rows)
    assert native.dtype == plain.dtype == np.float32
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(native, name), getattr(plain, name))
