"""Labels that people write - class names or numbers, nothing for unlabelled - as classes 0..C-1."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heterophily.data.checks import is_whole, signed
from heterophily.data.targets import refuse_unusual
from heterophily.data.wording import Doubt, count, listed, short
from heterophily.errors import InputError

NUMBER = re.compile(
    # No two ways to read the same digits: a cell of 100,000 digits would take minutes.
    r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*|\s*[+-]?(nan|inf(inity)?)\s*",
    re.IGNORECASE,
)
_UNLABELLED = "leave the cell empty for an unlabelled node"
_NO_VALUE = {"nan", "null", "none", "na", "n/a", "?", "-", "."}
_NULL = {
    "null",
    "nan",
    "<na>",
    "n/a",
    "#n/a",
    "\\n",
    ".",
}  # what databases, tables and statistics packages write for no value
_DOUBTFUL = {"none", "na", "?", "-", "--", "unknown", "unlabelled", "unlabeled", "missing"}
_PAIRS = [{"yes", "no"}, {"y", "n"}, {"true", "false"}, {"t", "f"}, {"ja", "nein"}, {"j", "n"},
          {"oui", "non"}]  # fmt: skip
_WHOLE = re.compile(r"\d{1,18}(\.0)?")
_MOST_DIGITS = 300  # of a label that is read as a number; longer ones are names


class Classes(NamedTuple):
    """Labels as classes 0..C-1 (-1 = unlabelled), the class names, and remarks on them."""

    labels: NDArray[np.int64]
    names: tuple[str, ...]
    remarks: tuple[str, ...]


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
    place: str = "the labels",
    remedy: str = _UNLABELLED,
    labels_are_classes: bool = False,
) -> Classes:
    """Return classes 0..C-1 (-1 = unlabelled) and the sorted class names of dictionary-coded words.

    Blanks at the ends of a label do not count. Whole numbers are sorted as numbers and named by
    their digits (``3.0`` is 3); where one label is no number, or has a leading zero, all labels are
    names. Negative and fractional numbers are refused, and so are labels that are no classes (see
    :mod:`heterophily.data.targets`).

    Parameters
    ----------
    values, codes
        The distinct words, and per node the index of its word, -1 for none.
    cell
        Says for a message where the word of a node stands.
    place
        Says for a message where all labels stand.
    remedy
        How a node is left unlabelled there.
    labels_are_classes
        Take every distinct word as a class, whatever it looks like.

    Examples
    --------
    >>> encode_words(["10", "9"], np.array([0, 1, -1]), cell=str).names
    ('9', '10')
    """
    values, codes, remarks = _without_blanks(values, codes, place)
    if not labels_are_classes:
        values, codes, told = _without_nulls(values, codes, place)
        remarks += told

    def where(value: str) -> str:
        return cell(int(np.flatnonzero(codes == values.index(value))[0]))

    whole = [_as_whole(value) for value in values]
    are_numbers = all(
        len(value) <= _MOST_DIGITS and NUMBER.fullmatch(value)
        for value in values
        if value.lower() not in _NO_VALUE
    )
    if not labels_are_classes:
        refuse_unusual(values, np.bincount(codes[codes >= 0], minlength=len(values)), place=place)
        for value, number in zip(values, whole, strict=True):
            if number is not None and number < 0:
                raise InputError(f"{where(value)}: label {short(value)} is negative; {remedy}")
            if are_numbers and number is None:
                raise InputError(
                    f"{where(value)}: label {short(value)} is not a whole number; labels are class "
                    f"names or 0, 1, 2, ...; {remedy}"
                )
    class_of: list[int]
    if (
        are_numbers
        and None not in whole
        and not any(re.match(r"\+|0\d|-", value) for value in values)
    ):
        present = sorted({number for number in whole if number is not None})
        names = tuple(str(number) for number in present)
        rank = {number: index for index, number in enumerate(present)}
        class_of = [rank[number] for number in whole if number is not None]
    else:
        names = tuple(sorted(values))
        position = {name: index for index, name in enumerate(names)}
        class_of = [position[value] for value in values]
        remarks += _alike_but_for_case(names, place)
    return Classes(np.array([*class_of, -1], np.int64)[codes], names, remarks)


def named_labels(labels: NDArray[Any], *, place: str) -> Classes:
    """Return an array of class names as classes; None, NaN and the empty text mean unlabelled.

    >>> named_labels(np.array(["ok", None, "fraud"], object), place="labels").labels
    array([ 1, -1,  0])
    """
    values: dict[str, int] = {}
    codes = np.full(labels.shape, -1, np.int64)
    for place_of, value in enumerate(labels.tolist()):
        if value is not None and value == value and value != "":
            codes[place_of] = values.setdefault(str(value), len(values))
    return encode_words(
        list(values),
        codes,
        cell=lambda node: f"{place}[{node}]",
        place=place,
        remedy="use None for an unlabelled node",
    )


def whole_labels(
    labels: NDArray[Any], *, place: str, labels_are_classes: bool = False
) -> NDArray[np.int64]:
    """Return an array of numbers as whole labels; NaN and -1 mean unlabelled.

    Refused are fractions, and whole numbers that are no classes.

    >>> whole_labels(np.array([2.0, np.nan, 0.0]), place="y")
    array([ 2, -1,  0])
    """
    if labels.dtype.kind not in "fiub":
        raise InputError(f"{place} must hold whole numbers (-1 = unlabelled), got {labels.dtype}")
    missing = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(labels.shape, np.bool_)
    missing = missing | (labels == -1)
    present, counts = np.unique(labels[~missing], return_counts=True)
    if not labels_are_classes:
        texts = [str(value) for value in present.tolist()]
        refuse_unusual(texts, counts, place=place)
    if not is_whole(present):
        fractions = present[present != np.floor(present)]
        value = fractions[0] if fractions.size else present[-1]
        raise InputError(
            f"{place} must hold whole numbers (-1 = unlabelled), got {value} as {labels.dtype}"
        )
    if labels.dtype.kind == "f":
        labels = np.where(missing, -1, labels)
    return signed(labels, place)


def _without_blanks(
    values: Sequence[str], codes: NDArray[np.int64], place: str
) -> tuple[list[str], NDArray[np.int64], tuple[str, ...]]:
    """Take blanks off the ends of words; a word that is nothing else is no label."""
    stripped = [value.strip() for value in values]
    if stripped == list(values):
        return stripped, codes, ()
    index = {word: place for place, word in enumerate(dict.fromkeys(filter(None, stripped)))}
    new = np.array([*(index.get(word, -1) for word in stripped), -1], np.int64)
    is_changed = [value != word for value, word in zip(values, stripped, strict=True)]
    nodes = int(np.array([*is_changed, False])[codes].sum())
    remark = f"{place}: blanks at the ends of {count(nodes, 'label')} removed"
    merged = sorted(word for word, times in Counter(stripped).items() if word and times > 1)
    if merged:
        remark += f"; labels that differ in blanks alone are one class: {listed(merged)}"
    return list(index), new[codes], (remark,)


def _without_nulls(
    values: list[str], codes: NDArray[np.int64], place: str
) -> tuple[list[str], NDArray[np.int64], tuple[str, ...]]:
    """Take NULL and its like for no label; beside numbers or yes and no also NA, unknown, ...

    Elsewhere such a word may be a class, and is doubted.
    """
    clear = {value.lower() for value in values} - _NULL - _DOUBTFUL
    is_sure = len(clear) > 1 and (clear in _PAIRS or all(map(_WHOLE.fullmatch, clear)))
    none = _NULL | _DOUBTFUL if is_sure else _NULL
    words = [value for value in values if value.lower() not in none]
    nulls = [value for value in values if value.lower() in none]
    remarks: list[str] = []
    if nulls and words:
        index = {word: at for at, word in enumerate(words)}
        new = np.array([*(index.get(value, -1) for value in values), -1], np.int64)[codes]
        nodes = int(np.count_nonzero((new < 0) & (codes >= 0)))
        remarks.append(f"{place}: {listed(nulls)} taken for no label: {count(nodes, 'node')}")
        values, codes = words, new
    doubtful = sorted(value for value in values if value.lower() in _DOUBTFUL)
    if doubtful and len(values) > 2:
        remarks.append(
            Doubt(
                f"{place}: {listed(doubtful)} is a class like the others; leave the cells "
                "empty if it means that the label is not known"
            )
        )
    return values, codes, tuple(remarks)


def _alike_but_for_case(names: Sequence[str], place: str) -> tuple[str, ...]:
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(name.casefold(), []).append(name)
    groups = [group for group in folded.values() if len(group) > 1]
    if not groups:
        return ()
    told = "; ".join(" and ".join(short(name) for name in group) for group in groups[:3])
    more = f"; ... ({len(groups)} such groups)" if len(groups) > 3 else ""
    return (
        Doubt(
            f"{place}: classes that differ in upper and lower case alone: {told}{more}; write "
            "them alike if they are one class"
        ),
    )
