"""Classes that a part of a split lacks: what no score can then tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heterophily.data.remedies import remedy
from heterophily.data.splits import PARTS, SMALLEST_CLASS, SplitBatch

_SHOWN = 3  # classes that a remark names
_FOLLOWS = {
    "train": "no model can learn it",
    "validation": "it has no say in when a training stops",
    "test": "no score tells how well it is found",
}


@dataclass(frozen=True, slots=True)
class Gap:
    """A class without nodes in one part (``train``, ``validation``, ``test``) of some splits."""

    class_number: int
    labelled: int
    part: str
    splits: int
    of_splits: int

    @property
    def is_tiny(self) -> bool:
        """Whether the class has too few labelled nodes to be in all three parts."""
        return self.labelled < SMALLEST_CLASS


def gaps(labels: NDArray[np.int64], splits: SplitBatch) -> tuple[Gap, ...]:
    """Return the classes that are missing in a part of a split, by part and class.

    >>> splits = SplitBatch(np.eye(4, dtype=bool)[:1], np.eye(4, dtype=bool)[1:2],
    ...                     np.eye(4, dtype=bool)[2:3])
    >>> [(gap.part, gap.class_number) for gap in gaps(np.array([0, 0, 1, 1]), splits)]
    [('train', 1), ('validation', 1), ('test', 0)]
    """
    counts = np.bincount(labels[labels >= 0])
    found = []
    for part in PARTS:
        masks = getattr(splits, part)
        lacking = np.zeros(counts.size, np.int64)
        for mask in masks:
            lacking += np.bincount(labels[mask & (labels >= 0)], minlength=counts.size) == 0
        found += [
            Gap(int(k), int(counts[k]), part, int(lacking[k]), len(masks))
            for k in np.flatnonzero((lacking > 0) & (counts > 0))
        ]
    return tuple(found)


def gap_remarks(
    labels: NDArray[np.int64],
    splits: SplitBatch,
    class_names: Sequence[str],
    rule: str,
    *,
    parts: Sequence[str] = PARTS,
) -> tuple[str, ...]:
    """Say in words which classes are too small, and which the split rule leaves out of a part."""
    found = gaps(labels, splits)
    remarks = []
    tiny = {gap.class_number: gap.labelled for gap in found if gap.is_tiny}
    if tiny:
        shown = _listed([f"{class_names[k]!r} ({count})" for k, count in tiny.items()])
        have = "class has" if len(tiny) == 1 else "classes have"
        remarks.append(
            f"{len(tiny)} {have} fewer than {SMALLEST_CLASS} labelled nodes and cannot be in "
            f"training, validation and test at once: {shown}; label more of their nodes"
        )
    for part in parts:
        missing = [gap for gap in found if gap.part == part and not gap.is_tiny]
        if not missing:
            continue
        worst = max(gap.splits for gap in missing)
        names = [f"{class_names[g.class_number]!r} ({g.labelled} labelled)" for g in missing]
        word = "training" if part == "train" else part
        advice = f"; {remedy('random-splits')}: they have every class in each part"
        advice = "" if rule == "random" else advice
        remarks.append(
            f"the {rule} splits leave class {_listed(names)} without {word} nodes in {worst} of "
            f"{missing[0].of_splits} splits: {_FOLLOWS[part]}{advice}"
        )
    return tuple(remarks)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
