"""Labels that people write - class names or numbers, nothing for unlabelled - as classes 0..C-1."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from heterophily.errors import InputError

NUMBER = re.compile(
    # No two ways to read the same digits: a cell of 100,000 digits would take minutes.
    r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*|\s*[+-]?(nan|inf(inity)?)\s*",
    re.IGNORECASE,
)
_UNLABELLED = "leave the cell empty for an unlabelled node"
_MOST_DIGITS = 300
_NO_VALUE = {"nan", "null", "none", "na", "n/a", "?", "-"}


def short(value: object, limit: int = 40) -> str:
    """Quote a value for a message, cut if it is long.

    >>> short("x" * 100, limit=8)
    "'xxxxxxxx...'"
    """
    text = str(value)
    return repr(text if len(text) <= limit else text[:limit] + "...")


def _as_whole(text: str) -> int | None:
    """Return the whole number that a text stands for (``3``, ``3.0``), else ``None``."""
    if len(text) > _MOST_DIGITS:
        return None  # a name, whatever it is made of
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if not NUMBER.fullmatch(text):
        return None
    value = float(text)
    return int(value) if np.isfinite(value) and value == int(value) else None


def encode_words(
    values: Sequence[str],
    codes: NDArray[np.int64],
    *,
    cell: Callable[[int], str],
    remedy: str = _UNLABELLED,
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return classes 0..C-1 (-1 = unlabelled) and the sorted class names of dictionary-coded words.

    Whole numbers are sorted as numbers and named by their digits (``3.0`` is 3); where one label
    is no number, or has a leading zero, all labels are names. Negative and fractional numbers are
    refused.

    Parameters
    ----------
    values, codes
        The distinct words, and per node the index of its word, -1 for none.
    cell
        Says for a message where the word of a node stands.
    remedy
        How a node is left unlabelled there.

    Examples
    --------
    >>> encode_words(["10", "9"], np.array([0, 1, -1]), cell=str)
    (array([ 1,  0, -1]), ('9', '10'))
    """

    def where(value: str) -> str:
        return cell(int(np.flatnonzero(codes == values.index(value))[0]))

    whole = [_as_whole(value) for value in values]
    are_numbers = all(NUMBER.fullmatch(value) for value in values if value.lower() not in _NO_VALUE)
    for value, number in zip(values, whole, strict=True):
        if number is not None and number < 0:
            raise InputError(f"{where(value)}: label {short(value)} is negative; {remedy}")
        if are_numbers and number is None:
            raise InputError(
                f"{where(value)}: label {short(value)} is not a whole number; labels are class "
                f"names or 0, 1, 2, ...; {remedy}"
            )
    class_of: list[int]
    if are_numbers and not any(re.match(r"\s|\+|0\d", value) for value in values):
        present = sorted({number for number in whole if number is not None})
        names = tuple(str(number) for number in present)
        rank = {number: index for index, number in enumerate(present)}
        class_of = [rank[number] for number in whole if number is not None]
    else:
        names = tuple(sorted(values))
        place = {name: index for index, name in enumerate(names)}
        class_of = [place[value] for value in values]
        stripped: dict[str, str] = {}
        for value in values:
            twin = stripped.setdefault(value.strip(), value)
            if twin != value:
                raise InputError(
                    f"{where(value)}: labels {short(twin)} and {short(value)} differ in spaces "
                    "alone; write them alike"
                )
    return np.array([*class_of, -1], np.int64)[codes], names
