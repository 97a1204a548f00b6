"""Label columns that are no classes, each refused with what to do instead.

A classifier of nodes needs one class per node. Three kinds of columns are often named as the label
and give a normal-looking but useless result: numbers on a scale (a price), several labels in one
cell (``ai|bio``), and ids. The rules below recognise them from the distinct values and how many
nodes have each. ``labels_are_classes=True`` of every reader switches the rules off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heterophily.data.remedies import remedy
from heterophily.data.wording import short
from heterophily.errors import InputError

FEW_FRACTIONS = 20
"""Numbers with a fraction are a scale when there are more different ones than this."""

FEW_WHOLE_NUMBERS = 30
"""Whole numbers other than 0..C-1 are a scale when there are more different ones than this ..."""

NODES_PER_WHOLE_NUMBER = 10
"""... and fewer labelled nodes than this per number (sixty years on 10,000 nodes are classes)."""

ENOUGH_NODES = 20
"""From so many labelled nodes on, labels that hardly repeat are taken for ids."""

NODES_PER_ID = 2
"""Labels are taken for ids when there are fewer labelled nodes than this per label."""

SEPARATORS = ("|", ";", ",")
"""Characters that join several labels in one cell."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_WHOLE_NUMBER = re.compile(r"[+-]?\d+")
_MOST_DIGITS = 300  # more are a text, and beyond what a float can hold


def refuse_unusual(values: Sequence[str], counts: NDArray[np.int64], *, place: str) -> None:
    """Refuse labels that are numbers on a scale, several labels in a cell, or ids.

    Parameters
    ----------
    values, counts
        The distinct labels as text without blanks at the ends, and how many nodes have each.
    place
        Says for the message where the labels stand.

    Examples
    --------
    >>> refuse_unusual(["ai", "bio", "ai|bio"], np.array([5, 4, 2]), place="nodes.csv")
    Traceback (most recent call last):
    heterophily.errors.InputError: nodes.csv: 'ai|bio' holds several labels joined by '|'; a node \
has one class: keep one label per cell, or predict one of them as yes/no (e.g. 'ai': yes or no); \
labels_are_classes=True takes each cell as a class
    """
    joined = joined_by(values)
    if joined is not None and not _are_decimal_commas(values):
        separator, example = joined
        part = example.split(separator)[0].strip()
        raise InputError(
            f"{place}: {short(example)} holds several labels joined by {separator!r}; a node has "
            "one class: keep one label per cell, or predict one of them as yes/no (e.g. "
            f"{short(part)}: yes or no){remedy('or-take-cells')}"
        )
    labelled = int(counts.sum())
    held = f"{len(values):,} different values for {labelled:,} labelled nodes"
    example = short(values[int(np.argmax(counts))]) if values else ""
    if is_scale(values, labelled):
        raise InputError(
            f"{place}: {held}, such as {example}, are numbers on a scale, not classes; put them "
            "into bins first (e.g. low, middle, high, split at two thresholds) or name another "
            f"label column{remedy('or-take-values')}"
        )
    if labelled >= ENOUGH_NODES and labelled < NODES_PER_ID * len(values):
        raise InputError(
            f"{place}: {held}, such as {example}: nearly every node has a label of its own, as "
            f"with ids or names; name a label column whose values repeat{remedy('or-take-values')}"
        )


def joined_by(values: Sequence[str]) -> tuple[str, str] | None:
    """Return the separator that joins several labels in a cell, and such a cell, if there is one.

    The parts of at least half of the joined cells must all occur in other cells too, and one part
    must occur first in one cell and later in another: ``Rome, Italy`` and ``Books|Novels`` are
    names of classes.

    >>> joined_by(["a|b", "b", "a"]), joined_by(["Rome, Italy", "Pisa, Italy", "Nice, France"])
    (('|', 'a|b'), None)
    """
    for separator in SEPARATORS:
        joined = [value for value in values if separator in value]
        if not joined:
            continue
        cells = [[part.strip() for part in value.split(separator)] for value in values]
        occurs: dict[str, int] = {}
        for parts in cells:
            for part in set(parts):
                occurs[part] = occurs.get(part, 0) + 1
        first = {parts[0] for parts in cells}
        later = {part for parts in cells for part in parts[1:]}
        recurring = [
            value
            for value, parts in zip(values, cells, strict=True)
            if len(parts) > 1 and all(part and occurs[part] > 1 for part in parts)
        ]
        if recurring and 2 * len(recurring) >= len(joined) and first & later:
            return separator, recurring[0]
    return None


def _are_decimal_commas(values: Sequence[str]) -> bool:
    """Whether labels are more numbers with a decimal comma than classes could be."""
    fractions = [value for value in values if _DECIMAL_COMMA.fullmatch(value)]
    rest = len(values) - len(fractions)
    whole = sum(1 for value in values if _WHOLE_NUMBER.fullmatch(value))
    return len(fractions) > FEW_FRACTIONS and rest == whole


def is_scale(values: Sequence[str], labelled: int) -> bool:
    """Whether labels are numbers on a scale: many fractions, or many whole numbers that are rare.

    >>> is_scale([str(k / 10) for k in range(50)], 1000), is_scale(["1", "2.5", "3"], 1000)
    (True, False)
    """
    if _are_decimal_commas(values):
        return True
    if not all(len(value) < _MOST_DIGITS and _NUMBER.fullmatch(value) for value in values):
        return False
    numbers = np.array([float(value) for value in values])
    numbers = numbers[np.isfinite(numbers)]
    if int(np.count_nonzero(numbers != np.floor(numbers))) > FEW_FRACTIONS:
        return True
    levels = np.unique(numbers)
    if levels.size <= FEW_WHOLE_NUMBERS or np.array_equal(levels, np.arange(levels.size)):
        return False
    return labelled < NODES_PER_WHOLE_NUMBER * levels.size
