"""Columns of a table to features in compiled code; the NumPy twins are in ``data/encode``."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_int32, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.native.call import call_native, native_function


class _Bag(ctypes.Structure):
    """``hp_bag`` of tables.h."""

    _fields_ = (
        ("num_rows", c_int64),
        ("width", c_int64),
        ("num_entries", c_int64),
        ("fold", c_int32),
        ("reserved", c_int32),
        ("text", c_void_p),
        ("offsets", c_void_p),
        ("is_word", c_void_p),
        ("indices", c_void_p),
        ("data", c_void_p),
        ("entries", c_void_p),
        ("words", c_void_p),
    )


class _Block(ctypes.Structure):
    """``hp_block`` of tables.h."""

    _fields_ = (
        ("first_column", c_int32),
        ("reserved", c_int32),
        ("numbers", c_void_p),
        ("codes", c_void_p),
        ("indptr", c_void_p),
    )


class _SideBySide(ctypes.Structure):
    """``hp_side_by_side`` of tables.h."""

    _fields_ = (
        ("num_rows", c_int64),
        ("num_blocks", c_int64),
        ("blocks", c_void_p),
        ("indptr", c_void_p),
        ("indices", c_void_p),
        ("data", c_void_p),
    )


def has_bags() -> bool:
    """Whether words are hashed by compiled code."""
    return native_function("hp_bag_of_words", _Bag) is not None


def hash_bag(
    text: NDArray[np.uint8],
    offsets: NDArray[np.int32],
    width: int,
    *,
    is_word: NDArray[np.bool_],
    fold: bool,
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """Return columns and values of cells of text, and the entries and the words of each cell.

    ``fold``: the text is ASCII and may have capital letters.
    """
    text, offsets = np.ascontiguousarray(text), np.ascontiguousarray(offsets)
    indices, data = np.empty(text.size, np.int32), np.empty(text.size, np.float32)
    entries, words = (np.empty(offsets.size - 1, np.int64) for _ in range(2))
    struct = _Bag(
        num_rows=offsets.size - 1,
        width=width,
        fold=fold,
        text=text.ctypes.data,
        offsets=offsets.ctypes.data,
        is_word=is_word.ctypes.data,
        indices=indices.ctypes.data,
        data=data.ctypes.data,
        entries=entries.ctypes.data,
        words=words.ctypes.data,
    )
    call_native(native_function("hp_bag_of_words", _Bag), struct, 1)
    held = slice(0, struct.num_entries)
    return indices[held].copy(), data[held].copy(), entries, words


@dataclass(frozen=True)
class Side:
    """A block of columns: ``numbers`` per row, or the column of a 1 (``codes``), or CSR (all)."""

    first_column: int
    numbers: NDArray[np.float32] | None = None
    codes: NDArray[np.int32] | None = None
    indptr: NDArray[np.int32] | None = None


def put_side_by_side(
    sides: Sequence[Side], num_rows: int, total: int
) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]] | None:
    """Return data, columns and row starts of blocks in one CSR matrix of ``total`` non-zeros.

    ``None`` without a native library.
    """
    function = native_function("hp_put_side_by_side", _SideBySide)
    if function is None:
        return None
    indptr, indices = np.empty(num_rows + 1, np.int32), np.empty(total, np.int32)
    data = np.empty(total, np.float32)
    held = [
        (
            side.first_column,
            _contiguous(side.numbers, np.float32),
            _contiguous(side.codes, np.int32),
            _contiguous(side.indptr, np.int32),
        )
        for side in sides
    ]
    blocks = (_Block * len(held))(
        *(_Block(first, 0, *map(_address, arrays)) for first, *arrays in held)
    )
    struct = _SideBySide(
        num_rows=num_rows,
        num_blocks=len(held),
        blocks=ctypes.addressof(blocks),
        indptr=indptr.ctypes.data,
        indices=indices.ctypes.data,
        data=data.ctypes.data,
    )
    call_native(function, struct, 1)
    return data, indices, indptr


def _contiguous(array: NDArray[Any] | None, kind: Any) -> NDArray[Any] | None:
    return None if array is None else np.ascontiguousarray(array, kind)


def _address(array: NDArray[Any] | None) -> int | None:
    return None if array is None else int(array.ctypes.data)
