"""The right verdict: from what the best possible rules reach to the kinds that are acceptable."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

HELPS = (0.005, 0.02)
WORSE = (-0.02, -0.005)
HOMOPHILIC = (0.27, 0.33)
INFORMATIVE = (0.005, 0.02)
TIE = 1e-9  # a value that rounding put beside its bound is on the bound


@dataclass(frozen=True, slots=True)
class Numbers:
    """What is known of a graph: scores are fractions, by source of information."""

    score: str  # "accuracy" or "roc-auc"
    chance: float  # largest class, or 0.5
    scores: dict[str, float]
    adjusted_homophily: float  # of the population
    label_informativeness: float

    @property
    def own(self) -> float:
        """Best without a graph."""
        return max(self.scores.get("own", 0.0), self.chance)

    @property
    def low(self) -> float:
        """Averaging alone; without features that is chance."""
        return max(self.scores.get("low", 0.0), self.chance)

    @property
    def best(self) -> float:
        """Best of all rules that use the graph."""
        return max(value for name, value in self.scores.items() if name != "own")

    @property
    def gain(self) -> float:
        """What the graph adds at best."""
        return self.best - self.own

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self)


def _answers(value: float, band: tuple[float, float]) -> tuple[bool, ...]:
    """Say whether a value is high: yes, no, or within the band both."""
    low, high = band
    if value >= high - TIE:
        return (True,)
    return (False,) if value <= low + TIE else (False, True)


def kind_of(*, helps: bool, is_worse: bool, is_homophilic: bool, is_informative: bool) -> str:
    """Return the kind of a graph about which everything is decided."""
    if is_worse:
        return "harmful" if helps or is_informative else "little"
    if is_homophilic:
        return "homophilic"
    return "harmless" if helps else "little"


def acceptable_kinds(numbers: Numbers) -> tuple[str, ...]:
    """Return the kinds that are right for a graph, by this rule:

    - the graph *helps* if the best rule with a graph beats the best without (own features, or
      chance) by at least 2 points; it does not if by at most 0.5;
    - averaging is *worse* if it loses at least 2 points against own features (or chance), and is
      not if it loses at most 0.5;
    - edges are *homophilic* if the adjusted homophily of the population is at least 0.33, and are
      not if it is at most 0.27;
    - neighbours' classes are *informative* if the label informativeness of the population is at
      least 0.02, and are not if it is at most 0.005.

    Averaging not worse and homophilic: homophilic. It helps: harmful where averaging is worse,
    else harmless. It does not help: harmful where averaging is worse and neighbours' classes are
    informative, else little. Between the bounds both answers count, and every kind that some
    combination of answers gives is acceptable.
    """
    is_not_worse = _answers(numbers.low - numbers.own, WORSE)
    found = {
        kind_of(helps=helps, is_worse=not fine, is_homophilic=alike, is_informative=informs)
        for helps, fine, alike, informs in product(
            _answers(numbers.gain, HELPS),
            is_not_worse,
            _answers(numbers.adjusted_homophily, HOMOPHILIC),
            _answers(numbers.label_informativeness, INFORMATIVE),
        )
    }
    return tuple(sorted(found))
