"""Node filters: two numbers each, on top of one aggregation operator."""

from __future__ import annotations

import math
from dataclasses import dataclass

from heterophily.errors import InputError


@dataclass(frozen=True, slots=True)
class Filter:
    """The node filter ``identity * I + aggregate * Â``.

    Low pass (aggregation) is (0, 1), high pass (diversification) ``I - Â`` is (1, -1), the
    identity channel is (1, 0): section 4 of the paper.

    >>> LOW + HIGH == IDENTITY
    True
    """

    identity: float
    aggregate: float

    def __post_init__(self) -> None:
        """Refuse coefficients that are not finite numbers."""
        if not (math.isfinite(self.identity) and math.isfinite(self.aggregate)):
            raise InputError(
                f"Filter({self.identity}, {self.aggregate}): both numbers must be finite"
            )

    def __add__(self, other: Filter) -> Filter:
        """Return the filter whose output is the sum of the two outputs."""
        return Filter(self.identity + other.identity, self.aggregate + other.aggregate)


LOW = Filter(0.0, 1.0)
HIGH = Filter(1.0, -1.0)
IDENTITY = Filter(1.0, 0.0)
FILTERS: dict[str, Filter] = {"low": LOW, "high": HIGH, "identity": IDENTITY}
