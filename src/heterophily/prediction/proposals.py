"""Which candidate is tried next: time goes to models near the leader, good settings are shared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from heterophily.prediction.candidates import Candidate, Family

NEAR = 0.02
"""A family whose best candidate is so near to the leader is as good, as far as one can tell."""

FAR = 4.0
"""A family whose best candidate is not near gets the time of a near one divided by this."""


class Proposals:
    """Candidates that wait, and what is known of those that were tried.

    - Every family begins with its first candidate; then families near to the leader get the same
      time, the others less.
    - A family first tries the best setting of all families with the same space, when it has not
      yet; else its next.
    - When every family was tried once, a model keeps one direction of its edges: both ways, unless
      another is clearly better.
    """

    def __init__(self, candidates: Mapping[Family, Iterable[Candidate]]) -> None:
        self._waiting = {family: list(found) for family, found in candidates.items()}
        self._spent = dict.fromkeys(self._waiting, 0.0)
        self._tried: dict[Family, list[tuple[float, Candidate]]] = {}
        self._turns_are_open = True

    def next(self) -> Candidate | None:
        """Return the candidate that is to be tried now, or None when all were."""
        if self._turns_are_open and len(self._tried) == len(self._waiting):
            self._keep_one_direction()
        while self._spent:
            leader = max(map(self._best, self._tried), default=-math.inf)
            family = min(
                self._spent,
                key=lambda f: self._spent[f] * (1.0 if self._best(f) >= leader - NEAR else FAR),
            )
            if self._waiting[family]:
                return self._of(family)
            del self._spent[family]
        return None

    def report(self, candidate: Candidate, *, score: float, seconds: float) -> None:
        """Take in how good a candidate was, and how long it took."""
        self._tried.setdefault(candidate.family, []).append((score, candidate))
        if candidate.family in self._spent:
            self._spent[candidate.family] += seconds

    def _best(self, family: Family) -> float:
        """Best score of a family so far; plus infinity when it was not tried."""
        return max((score for score, _ in self._tried.get(family, ())), default=math.inf)

    def _of(self, family: Family) -> Candidate:
        waiting = self._waiting[family]
        relatives = [f for f in self._tried if f.space == family.space]
        known = [pair for relative in relatives for pair in self._tried[relative]]
        if known:
            _, best = max(known, key=lambda pair: pair[0])
            for place, candidate in enumerate(waiting):
                if candidate.settings == best.settings:
                    return waiting.pop(place)
        return waiting.pop(0)

    def _keep_one_direction(self) -> None:
        self._turns_are_open = False
        for base in [family for family in self._spent if family.turn_of is None]:
            turns = [family for family in self._spent if family.turn_of is base]
            best = max(turns, key=self._best, default=base)
            kept = best if self._best(best) > self._best(base) + NEAR else base
            for family in {base, *turns} - {kept}:
                del self._spent[family]
