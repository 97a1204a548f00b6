"""Which candidate is tried next: families near the leader get time, good settings are shared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from heterophily.filters.direction import EdgeDirection
from heterophily.prediction.candidates import Candidate, turned_family
from heterophily.prediction.families import Family

NEAR = 0.02
"""A family whose best candidate is so near to the leader is as good, as far as one can tell."""

FAR = 4.0
"""A family that is behind the leader by twice the margin gets the time of a near one divided by
this; by three times the margin, divided by its square; and so on."""


class Proposals:
    """Candidates that wait, and what is known of those that were tried.

    - Every family begins with its first candidate, in the order given; but what is of the same
      kind as others that are far behind waits until the rest had its chance. Then families near to
      the leader get the same time; others the less, the further they are behind.
    - A family first tries the best setting of all families with the same portfolio, when it has
      not yet; else its next.
    - When every family was tried once, a scout keeps one direction of its edges: both ways, unless
      another is clearly better. If the best scout keeps another, the other families try it too.

    Parameters
    ----------
    candidates
        Of each family, in the order of the first round.
    margin
        Difference of scores up to which two families are near.
    """

    def __init__(
        self, candidates: Mapping[Family, Iterable[Candidate]], *, margin: float = NEAR
    ) -> None:
        self._waiting = {family: list(found) for family, found in candidates.items()}
        self._spent = dict.fromkeys(self._waiting, 0.0)
        self._tried: dict[Family, list[tuple[float, Candidate]]] = {}
        self._asked: set[Family] = set()
        self._turns_are_open = True
        self.margin = margin

    @property
    def leader(self) -> float:
        """The best score so far."""
        return max(map(self._best, self._tried), default=-math.inf)

    @property
    def is_first_round(self) -> bool:
        """Whether some family was not tried yet."""
        return any(family not in self._asked for family in self._spent)

    @property
    def untried(self) -> list[Family]:
        """The families that had no chance yet."""
        return [family for family in self._waiting if family not in self._asked]

    @property
    def tried_families(self) -> int:
        """Number of families that were tried."""
        return len(self._tried)

    @property
    def strong_are_tried(self) -> bool:
        """Whether every family near the leader has tried the strong settings of its portfolio."""
        return all(
            len(self._tried[family]) >= len(family.portfolio.first) or not self._waiting[family]
            for family in self._tried
            if family in self._spent and self._best(family) >= self.leader - self.margin
        )

    def next(self) -> Candidate | None:
        """Return the candidate that is to be tried now, or None when all were."""
        if self._turns_are_open and len(self._tried) == len(self._waiting):
            self._keep_one_direction()
        while self._spent:
            family = min(self._spent, key=self._price)
            if self._waiting[family]:
                self._asked.add(family)
                return self._of(family)
            del self._spent[family]
        return None

    def pass_over(self, candidate: Candidate) -> None:
        """Take a candidate as tried: there is no time for it, nor for others of its family."""
        self._spent.pop(candidate.family, None)
        self._asked.discard(candidate.family)

    def report(
        self, candidate: Candidate, *, score: float, seconds: float, is_cut: bool = True
    ) -> None:
        """Take in how good a candidate was, and how long it took.

        ``is_cut``: a limit on its first training ended it; if not, the whole one is the same.
        """
        if "max_epochs" in candidate.settings and not is_cut:
            waiting = self._waiting[candidate.family]
            waiting[:] = [c for c in waiting if c.settings != _whole(candidate)]
        self._tried.setdefault(candidate.family, []).append((score, candidate))
        if candidate.family in self._spent:
            self._spent[candidate.family] += seconds

    def _price(self, family: Family) -> tuple[bool, float]:
        """Return what decides: untried families first, then the time so far, by distance."""
        if family not in self._asked:
            return (False, self._behind_of_kind(family))
        behind = (self.leader - self._best(family)) / self.margin
        if not math.isfinite(behind):
            behind = 0.0 if family not in self._tried else 100.0
        return (True, (self._spent[family] + 1e-9) * FAR ** max(0.0, min(behind, 100.0) - 1.0))

    def _behind_of_kind(self, family: Family) -> float:
        """Return how far the best of a kind is behind, in margins; 0 when near, or not known."""
        scores = [self._best(other) for other in self._tried if other.kind == family.kind]
        known = [score for score in scores if math.isfinite(score)]
        return max(0.0, (self.leader - max(known)) / self.margin - 1.0) if known else 0.0

    def _best(self, family: Family) -> float:
        """Best score of a family so far; minus infinity when it was not tried."""
        return max((score for score, _ in self._tried.get(family, ())), default=-math.inf)

    def _of(self, family: Family) -> Candidate:
        waiting = self._waiting[family]
        if family not in self._tried:
            return waiting.pop(0)
        relatives = [f for f in self._tried if f.portfolio is family.portfolio]
        known = [pair for relative in relatives for pair in self._tried[relative]]
        _, best = max(known, key=lambda pair: pair[0])
        wanted = _whole(best)
        for place, candidate in enumerate(waiting):
            if candidate.settings == wanted:
                return waiting.pop(place)
        return waiting.pop(0)

    def _keep_one_direction(self) -> None:
        self._turns_are_open = False
        ways: dict[EdgeDirection, float] = {}
        for base in [family for family in self._spent if family.turn_of is None]:
            turns = [family for family in self._spent if family.turn_of is base]
            if not turns:
                continue
            best = max(turns, key=self._best)
            kept = best if self._best(best) > self._best(base) + self.margin else base
            way = kept.options["edge_direction"]
            ways[way] = max(ways.get(way, -math.inf), self._best(kept))
            for family in {base, *turns} - {kept}:
                del self._spent[family]
        found: EdgeDirection = max(ways, key=ways.__getitem__, default="both")
        if found == "both":
            return
        for base in [family for family in self._spent if family.turn_of is None]:
            if base.options.get("edge_direction") == "both" and not base.is_scout:
                turned = turned_family(base, found)
                every = [candidate for _, candidate in self._tried[base]] + self._waiting[base]
                self._waiting[turned] = [Candidate(turned, c.settings) for c in every]
                self._spent[turned] = 0.0


def _whole(candidate: Candidate) -> dict[str, object]:
    """Return the settings of a candidate without a limit on its first training."""
    return {key: value for key, value in candidate.settings.items() if key != "max_epochs"}
