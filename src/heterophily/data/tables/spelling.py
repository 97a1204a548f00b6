"""How the cells of a text table are spelt, seen from its bytes: quotes, and unusual numbers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_PIECE = 1 << 18  # bytes looked at at a time: fits the second-level cache
_THREADS = 2


class Spelling(NamedTuple):
    """Number of quotes in a text, and whether integers in it may be spelt in an unusual way."""

    quotes: int
    is_unusual: bool


def examine(text: NDArray[np.uint8], delimiter: str) -> Spelling:
    """Look at every byte of the rows of a table once.

    Without unusual spellings (007, 0x7, -0, "7", a space) each integer is written in the one
    canonical way, so equal numbers mean equal ids.

    >>> examine(np.frombuffer(b"1,2\\n3,007\\n", np.uint8), ",")
    Spelling(quotes=0, is_unusual=True)
    """
    line_end = np.array([ord("\n")], np.uint8)
    apart = np.array([ord(".")], np.uint8)
    both_ends = np.concatenate([line_end, text[:2], apart, text[-2:], line_end])
    found = [Spelling(0, _examine(both_ends, delimiter).is_unusual)]

    def piece(start: int) -> Spelling:
        # two bytes more than the piece, to see what follows its last cell
        return _examine(text[start : start + _PIECE + 2], delimiter, count=_PIECE)

    with ThreadPoolExecutor(_THREADS) as pool:
        found += pool.map(piece, range(0, text.size, _PIECE))
    return Spelling(sum(part.quotes for part in found), any(part.is_unusual for part in found))


def _examine(text: NDArray[np.uint8], delimiter: str, count: int | None = None) -> Spelling:
    """Examine a few bytes; quotes are counted in the first ``count`` of them."""
    begins = text == ord("\n")
    begins |= text == ord("\r")
    blank = text <= ord('"')  # spaces and quotes; digits, signs and letters are above
    blank ^= begins
    separator = text == ord(delimiter)
    if delimiter <= '"':
        blank ^= separator
    if blank.any():
        return Spelling(int(np.count_nonzero(text[:count] == ord('"'))), True)
    begins |= separator
    is_zero = text[1:-1] == ord("0")
    after_first = text[2:][begins[:-2] & is_zero]
    after_minus = text[2:][(text[:-2] == ord("-")) & is_zero]
    is_digit = (after_first - np.uint8(ord("0"))) <= 9
    is_hexadecimal = (after_first | np.uint8(32)) == ord("x")
    return Spelling(0, bool((is_digit | is_hexadecimal).any() or (after_minus != ord(".")).any()))
