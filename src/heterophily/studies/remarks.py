"""What a reader of a table should know, such as why a cell has no runs: a value, its sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

KINDS: Mapping[str, str] = {
    "no-model": "{row} is not a model of this package",
    "refused": "{detail}",
    "borrowed": "the paper prints no optimum for {row}: that of {detail} is used",
    "no-optimum": (
        "the paper prints no optimum for {row} on {dataset} with {detail}; use --protocol validated"
    ),
    "no-range": "the paper gives no search range for {row}; use --space default",
    "no-program": (
        "no settings of a program are known for {row} on {dataset}; use --space paper or default"
    ),
    "not-in-field": "the space field has no settings for {row}; use --space paper or default",
    "score": "{dataset}: {detail}, not accuracy, chooses settings and is shown",
    "quoted": "published values quoted from memory, not checked: {detail}",
}
"""What a remark may say, by kind."""


@dataclass(frozen=True, slots=True)
class CellRemark:
    """One of :data:`KINDS`, about a row or one of its cells."""

    kind: str
    row: str
    dataset: str = ""
    detail: str = ""

    def __str__(self) -> str:
        """Return the sentence."""
        return KINDS[self.kind].format(row=self.row, dataset=self.dataset, detail=self.detail)
