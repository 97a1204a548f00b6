"""How the cells of a text table are spelt, seen from its bytes: quotes, blanks, odd numbers."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_PIECE = 1 << 18  # bytes looked at at a time: fits the second-level cache
_THREADS = 2


_RUN = re.compile(rb"[ \t]{2,}|\t")
_OUTER = re.compile(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)")


def between_blanks(text: bytes) -> bytes:
    """Return lines whose cells are separated by one blank, whatever blanks and tabs were there.

    >>> between_blanks(b" 1   2\\r\\n3\\t4 \\n")
    b'1 2\\r\\n3 4\\n'
    """
    return _RUN.sub(b" ", _OUTER.sub(b"", text))


def has_odd_blanks(text: bytes) -> bool:
    """Whether cells are separated by other blanks than one; never of a text with quotes."""
    odd = (b"  ", b"\t", b"\n ", b" \n", b" \r")
    return (text.startswith(b" ") or any(mark in text for mark in odd)) and b'"' not in text


def count_quotes(text: NDArray[np.uint8]) -> int:
    """Count the double quotes of a text."""
    pieces = (text[start : start + _PIECE] for start in range(0, text.size, _PIECE))
    return sum(int(np.count_nonzero(piece == ord('"'))) for piece in pieces)


def canonical_length(numbers: NDArray[np.int64]) -> int:
    """Return how many characters integers take when each is written in the canonical way.

    No other way of writing them is shorter: a text of exactly this length has no other.

    >>> canonical_length(np.array([0, 7, -12, 100]))
    8
    """
    if not numbers.size:
        return 0
    low, high = int(numbers.min()), int(numbers.max())
    total = numbers.size
    for exponent in range(1, len(str(high)) if high > 0 else 1):
        total += int(np.count_nonzero(numbers >= 10**exponent))
    if low < 0:
        total += int(np.count_nonzero(numbers < 0))
        for exponent in range(1, len(str(-low))):
            total += int(np.count_nonzero(numbers <= -(10**exponent)))
    return total


def integers_if_canonical(column: Any) -> Any:
    """Return a text column as int64 if every cell is an integer written in the canonical way.

    >>> import pyarrow as pa
    >>> integers_if_canonical(pa.chunked_array([["7", "007"]])).type
    DataType(string)
    """
    try:
        numbers = column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column
    total = sum(canonical_length(chunk.to_numpy()) for chunk in numbers.drop_null().chunks)
    return numbers if total == (pc.sum(pc.binary_length(column)).as_py() or 0) else column


def is_unusual(text: NDArray[np.uint8], delimiter: str) -> bool:
    """Whether integers in the rows of a table may be spelt in an unusual way.

    Without unusual spellings (007, 0x7, -0, "7", a space) each integer is written in the one
    canonical way, so equal numbers mean equal ids.

    >>> is_unusual(np.frombuffer(b"1,2\\n3,007\\n", np.uint8), ",")
    True
    """
    line_end = np.array([ord("\n")], np.uint8)
    apart = np.array([ord(".")], np.uint8)
    both_ends = np.concatenate([line_end, text[:2], apart, text[-2:], line_end])

    def piece(start: int) -> bool:
        # two bytes more than the piece, to see what follows its last cell
        return _is_unusual(text[start : start + _PIECE + 2], delimiter)

    with ThreadPoolExecutor(_THREADS) as pool:
        found = any(pool.map(piece, range(0, text.size, _PIECE)))
    return found or _is_unusual(both_ends, delimiter)


def _is_unusual(text: NDArray[np.uint8], delimiter: str) -> bool:
    begins = text == ord("\n")
    begins |= text == ord("\r")
    blank = text <= ord('"')  # spaces and quotes; digits, signs and letters are above
    blank ^= begins
    separator = text == ord(delimiter)
    if delimiter <= '"':
        blank ^= separator
    if blank.any():
        return True
    begins |= separator
    is_zero = text[1:-1] == ord("0")
    after_first = text[2:][begins[:-2] & is_zero]
    after_minus = text[2:][(text[:-2] == ord("-")) & is_zero]
    is_digit = (after_first - np.uint8(ord("0"))) <= 9
    is_hexadecimal = (after_first | np.uint8(32)) == ord("x")
    return bool((is_digit | is_hexadecimal).any() or (after_minus != ord(".")).any())
