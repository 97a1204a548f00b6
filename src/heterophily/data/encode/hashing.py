"""Words and cells to numbers that are the same on every machine, thousands of cells at a time.

The hash of a text is the polynomial :math:`\\sum_k (b_k + 1) P^k` of its UTF-8 bytes modulo 2^32,
then mixed (the finaliser of MurmurHash3). Nothing is learnt, so nothing has to be stored.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.native.tables import has_bags, hash_bag

Hashes = NDArray[np.uint32]
_FACTOR, _PAIR = np.uint32(0x9E3779B1), np.uint32(0x85EBCA77)
_MIX = (np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35))
_TABLE = 18  # powers are kept for texts of up to 2^18 bytes
_ROWS = 1 << 11  # cells worked on at a time: their bytes and hashes fit the cache
_NATIVE_ROWS = 1 << 13  # the same for compiled code
_IS_WORD = np.zeros(256, np.bool_)
_IS_WORD[[*b"0123456789_", *range(65, 91), *range(97, 123), *range(128, 256)]] = True


def _mixed(values: Hashes) -> Hashes:
    values = (values ^ (values >> np.uint32(16))) * _MIX[0]
    values = (values ^ (values >> np.uint32(13))) * _MIX[1]
    return np.asarray(values ^ (values >> np.uint32(16)))


def _power_table(factor: np.uint32, length: int) -> Hashes:
    factors = np.full(length, factor, np.uint32)
    factors[:1] = 1
    return np.multiply.accumulate(factors, dtype=np.uint32)


def _made_powers(length: int) -> tuple[Hashes, Hashes]:
    """Return P^k and P^-k modulo 2^32 for k below a length."""
    inverse = np.uint32(pow(int(_FACTOR), -1, 2**32))
    return _power_table(_FACTOR, length), _power_table(inverse, length)


@functools.lru_cache(maxsize=1)
def _powers() -> tuple[Hashes, Hashes]:
    """Return the powers for usual lengths."""
    return _made_powers(1 << _TABLE)


def _bytes(array: Any) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the bytes of a text array without nulls, and where each cell begins (and the end)."""
    _, offsets, data = array.buffers()
    if not len(array):
        return np.zeros(0, np.uint8), np.zeros(1, np.int32)
    ends = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    if data is None or ends[0] == ends[-1]:
        return np.zeros(0, np.uint8), np.zeros(len(array) + 1, np.int32)
    return np.frombuffer(data, np.uint8)[ends[0] : ends[-1]], ends - ends[0]


def _segment_hashes(
    data: NDArray[np.uint8], inside: NDArray[np.bool_] | None, starts: NDArray[Any]
) -> Hashes:
    """Return the hash of each stretch from one start to the next, of the bytes that are inside.

    Powers count from the beginning of the data; the sum of a stretch is then divided by that of
    its start, which an odd number allows modulo 2^32.
    """
    if not starts.size:
        return np.zeros(0, np.uint32)
    is_long = data.size >= 1 << _TABLE  # a table for it alone is not kept
    powers, inverse = _made_powers(data.size) if is_long else _powers()
    terms = data.astype(np.uint32)
    terms += np.uint32(1)
    if inside is not None:
        terms *= inside
    terms *= powers[: data.size]
    sums = np.add.reduceat(terms, starts, dtype=np.uint32)
    return _mixed(sums * inverse[starts])


def hash_cells(words: list[str]) -> Hashes:
    """Return a hash of each word as a whole.

    >>> first, second, third = hash_cells(["ann", "bob", "ann"])
    >>> bool(first == third), bool(first == second)
    (True, False)
    """
    result = np.zeros(len(words), np.uint32)
    array = pa.array(words, pa.string())
    for begin in range(0, len(words), _ROWS):
        data, cells = _bytes(array[begin : begin + _ROWS])
        is_filled = np.diff(cells) > 0
        hashes = _segment_hashes(data, None, cells[:-1][is_filled])
        result[begin : begin + _ROWS][is_filled] = hashes
    return result


def hash_words(array: Any) -> tuple[Hashes, NDArray[np.int64]]:
    """Return the hashes of the words of all cells, and how many words each cell has (N,).

    A word is a run of letters, digits, underscores and characters beyond ASCII, in lower case.

    >>> hashes, counts = hash_words(pa.array(["A dog.", None, "dog"]))
    >>> counts.tolist(), bool(hashes[1] == hashes[2])
    ([2, 0, 1], True)
    """
    data, cells = _bytes(pc.fill_null(pc.utf8_lower(array), ""))
    inside = _IS_WORD[data]
    starts = inside.copy()
    starts[1:] &= ~inside[:-1]
    first = cells[:-1][np.diff(cells) > 0]
    starts[first] |= inside[first]
    begins = np.flatnonzero(starts)
    return _segment_hashes(data, inside, begins), np.diff(np.searchsorted(begins, cells))


def _of_rows(keys: NDArray[Any], width: int) -> NDArray[Any]:
    """Return the rows of keys: keys // width."""
    if width & (width - 1) == 0:
        return np.asarray(keys >> (width.bit_length() - 1))
    return np.asarray(keys // width)


def buckets(hashes: Hashes, width: int) -> NDArray[np.int32]:
    """Return the column of each hash, 0 to ``width - 1``."""
    if width & (width - 1) == 0:  # a power of two: the same without a division
        return (hashes & np.uint32(width - 1)).astype(np.int32)
    return (hashes % np.uint32(width)).astype(np.int32)


def bag_of_words(column: Any, width: int) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Return hashed words and pairs of successive words (N, width), and the words of each cell.

    Values are counts, each row divided by its length. ``column`` is a ``pa.ChunkedArray`` of text.
    """
    none = np.zeros(0, np.int64)
    done = [(none.astype(np.int32), none.astype(np.float32), none, none)]
    bag, step = (_native_bag, _NATIVE_ROWS) if has_bags() else (_bag, _ROWS)
    for chunk in column.chunks:
        for begin in range(0, len(chunk), step):
            done.append(bag(chunk[begin : begin + step], width))
    indices, data, entries, words = (np.concatenate(parts) for parts in zip(*done, strict=True))
    del done
    total = int(entries.sum())
    indptr = np.zeros(entries.size + 1, np.int32 if total < 2**31 else np.int64)
    np.cumsum(entries, out=indptr[1:])
    matrix = sp.csr_array((data, indices, indptr), shape=(entries.size, width))
    matrix.has_canonical_format = True
    return matrix, words


def _native_bag(array: Any, width: int) -> tuple[Any, ...]:
    """Return what :func:`_bag` does, by compiled code."""
    data, cells = _bytes(pc.fill_null(array, "") if array.null_count else array)
    is_ascii = not (data >= 128).any()
    if not is_ascii:  # other letters have small ones too
        data, cells = _bytes(pc.fill_null(pc.utf8_lower(array), ""))
    return hash_bag(data, cells, width, is_word=_IS_WORD, fold=is_ascii)


def _bag(array: Any, width: int) -> tuple[Any, ...]:
    """Return columns and values of a few cells, and the entries and the words of each cell."""
    hashes, counts = hash_words(array)
    kind: Any = np.int32 if counts.size * width < 2**31 else np.int64  # sorted twice as fast
    rows = np.repeat(np.arange(counts.size, dtype=kind), counts)
    pairs = np.flatnonzero(rows[1:] == rows[:-1])
    pair_hashes = _mixed(hashes[:-1] * _PAIR + hashes[1:])[pairs]
    keys = np.concatenate([rows, rows[pairs]]) * width
    keys += np.concatenate([buckets(hashes, width), buckets(pair_hashes, width)])
    keys.sort()
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    times = np.diff(begins, append=keys.size).astype(np.float32)
    keys = keys[begins]
    of_row = _of_rows(keys, width)
    entries = np.bincount(of_row, minlength=counts.size)
    length = np.sqrt(np.bincount(of_row, weights=np.square(times), minlength=counts.size))
    return (
        (keys - of_row * width).astype(np.int32),
        times / length.astype(np.float32)[of_row],
        entries,
        counts,
    )
