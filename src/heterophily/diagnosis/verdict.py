"""The verdict: rules, written as a table, from the numbers of the diagnosis to one answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from heterophily.diagnosis.paired import SIGNIFICANT, Difference
from heterophily.diagnosis.probe_value import FROM_GRAPH, Probe
from heterophily.diagnosis.shuffle import EdgeChance, Shuffled

HOMOPHILIC_FROM = 0.3
"""Adjusted homophily from which a graph is called homophilic (0 = chance, 1 = all edges match)."""

INFORMATIVE_FROM = 0.01
"""Corrected label informativeness from which a neighbour's class tells something about a node's."""

UNKNOWN_INFORMATIVENESS = 0.1
"""When chance alone may move label informativeness by so much, it cannot be called zero."""

TOO_WIDE = 0.10
"""When the graph may add more than this, "it adds little" cannot be said: labels are too few."""

WIDTH_WANTED = 0.05
"""Half the width of the interval of the gain that would settle the question."""

ENOUGH_LABELS = 100
"""Labelled nodes to begin with, where there are too few for any comparison."""


class Strength(IntEnum):
    """How far a number is from where the answer would change."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2


@dataclass(frozen=True, slots=True)
class Evidence:
    """The numbers a verdict may use, all of them printed with it."""

    has_edges: bool = True
    labelled: int = 0
    probe: Probe | None = None
    chance: EdgeChance | None = None

    @property
    def is_linear(self) -> bool:
        """Whether linear classifiers alone were asked: a quick diagnosis."""
        return self.probe is not None and self.probe.tree_nodes == 0

    # --- does the graph help? ------------------------------------------------------------------

    @property
    def helps(self) -> bool:
        """Whether some source from the graph adds a point or more to own features."""
        return self.probe is not None and self.probe.gain.is_better

    @property
    def most_added(self) -> float:
        """How much the graph may add at most: the interval's end, or what is left to be right.

        Of n nodes without an error up to 3 / n may still be wrong (the rule of three).
        """
        if self.probe is None:
            return 1.0
        left = 1.0 - self.probe.own_score + 3.0 / self.probe.nodes
        return min(self.probe.gain.high, left)

    @property
    def may_help(self) -> bool:
        """Whether it cannot be excluded that the graph helps a lot."""
        return self.most_added > TOO_WIDE

    def how_sure_help(self) -> Strength:
        """How sure the answer is, yes or no."""
        assert self.probe is not None
        gain = self.probe.gain
        if self.helps:
            return _by_p(gain.p_value)
        if self.is_linear:  # what only trees find was not looked for
            return Strength.LOW
        return _step(self.most_added, medium=0.05, high=0.02)

    # --- is averaging worse than own features? -------------------------------------------------

    @property
    def average(self) -> Difference | None:
        """Averaging over neighbours against own features; None without features."""
        return None if self.probe is None else self.probe.average_loss

    @property
    def is_worse(self) -> bool:
        """Whether averaging loses a point or more against own features."""
        return self.average is not None and self.average.is_worse

    def how_sure_worse(self) -> Strength:
        """How sure the answer is, yes or no."""
        if self.average is None:
            return Strength.HIGH
        if self.is_worse:
            return _by_p(self.average.p_value)
        return _step(-self.average.low, medium=0.05, high=0.02)

    # --- what do the labels at both ends of edges say? -----------------------------------------

    @property
    def is_homophilic(self) -> bool:
        """Whether edges match beyond chance, by 0.3 of what is possible and not for few edges."""
        if self.chance is None:
            return False
        homophily, error = self.chance.homophily, self.chance.homophily_error
        if homophily.p_value >= SIGNIFICANT or homophily.value + error < HOMOPHILIC_FROM:
            return False
        averaging_helps = self.average is not None and self.average.is_better
        return homophily.value - error >= HOMOPHILIC_FROM or averaging_helps

    def how_sure_homophilic(self) -> Strength:
        """How sure the answer is, yes or no: by standard errors from the border."""
        if self.chance is None:
            return Strength.MEDIUM
        away = abs(self.chance.homophily.value - HOMOPHILIC_FROM)
        return _step(-away / self.chance.homophily_error, medium=-2.0, high=-3.0)

    @property
    def _informative(self) -> tuple[Shuffled, ...]:
        """Label informativeness of labelled edges, and of classes predicted for neighbours."""
        found = [] if self.chance is None else [self.chance.informativeness]
        if self.probe is not None and self.probe.predicted is not None:
            found.append(self.probe.predicted)
        return tuple(found)

    @property
    def is_informative(self) -> bool:
        """Whether a neighbour's class tells something about a node's class, beyond chance."""
        return any(found.is_real(INFORMATIVE_FROM) for found in self._informative)

    @property
    def most_informative(self) -> float:
        """How large label informativeness may be where it was not found, at most."""
        return min((f.corrected + 2 * f.spread for f in self._informative), default=1.0)

    @property
    def may_be_informative(self) -> bool:
        """Whether the labels are too few to call neighbours' classes uninformative."""
        return not self.is_informative and self.most_informative >= UNKNOWN_INFORMATIVENESS

    def how_sure_informative(self) -> Strength:
        """How sure the answer is, yes or no."""
        if self.is_informative:
            return _by_p(min(f.p_value for f in self._informative if f.is_real(INFORMATIVE_FROM)))
        return _step(self.most_informative, medium=0.05, high=0.02)


def _by_p(p_value: float) -> Strength:
    return _step(p_value, medium=0.01, high=0.006)


def _step(value: float, *, medium: float, high: float) -> Strength:
    """Return HIGH up to the one limit, MEDIUM up to the other, else LOW."""
    return Strength.HIGH if value <= high else Strength.MEDIUM if value <= medium else Strength.LOW


@dataclass(frozen=True, slots=True)
class Rule:
    """If ``holds``, the verdict is ``kind``; ``text`` says when, as in docs/diagnosis.md.

    ``rests_on`` are the questions whose answers the verdict needs; it is as sure as the least sure
    of them.
    """

    kind: str
    text: str
    holds: Callable[[Evidence], bool]
    rests_on: tuple[Callable[[Evidence], Strength], ...] = ()


TOO_FEW = "too-few"

_HELP, _WORSE = Evidence.how_sure_help, Evidence.how_sure_worse
_ALIKE, _TELLS = Evidence.how_sure_homophilic, Evidence.how_sure_informative

RULES = (
    Rule("little", "the graph has no edges", lambda e: not e.has_edges),
    Rule(TOO_FEW, "there are too few labels for the probe", lambda e: e.probe is None),
    Rule(
        "homophilic",
        f"adjusted homophily is at least {HOMOPHILIC_FROM} and beyond chance (within one standard "
        f"error of {HOMOPHILIC_FROM}: only if averaging over neighbours helps), and averaging over "
        "neighbours is not worse than own features",
        lambda e: e.is_homophilic and not e.is_worse,
        (_ALIKE, _WORSE),
    ),
    Rule(
        "harmful",
        "averaging over neighbours is worse than own features, and a source from the graph adds "
        "to own features",
        lambda e: e.is_worse and e.helps,
        (_WORSE, _HELP),
    ),
    Rule(
        "harmless",
        "a source from the graph adds to own features, and averaging over neighbours is not worse "
        "than own features",
        lambda e: e.helps,
        (_HELP, _WORSE, _ALIKE),
    ),
    Rule(
        "harmful",
        "averaging over neighbours is worse than own features, no source from the graph adds to "
        f"them, yet label informativeness is at least {INFORMATIVE_FROM} beyond chance",
        lambda e: e.is_worse and e.is_informative,
        (_WORSE, _TELLS),
    ),
    Rule(
        TOO_FEW,
        f"the graph may add more than {100 * TOO_WIDE:.0f} points: the interval is too wide",
        lambda e: e.may_help,
    ),
    Rule(
        TOO_FEW,
        "averaging over neighbours is worse than own features, and the edges between labelled "
        "nodes are too few to say whether neighbours' classes tell anything",
        lambda e: e.is_worse and e.may_be_informative,
    ),
    Rule(
        "little",
        "no source from the graph adds to own features",
        lambda e: True,
        (_HELP, _ALIKE, _TELLS),
    ),
)
"""The first rule that holds gives the verdict."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One of the five kinds, how sure it is, the rule that gave it and the numbers behind it.

    Parameters
    ----------
    kind
        "homophilic", "harmless", "harmful", "little" or "too-few".
    confidence
        "high", "medium" or "low"; docs/diagnosis.md says how often each was right.
    rule
        The rule that held.
    helpful
        Sources from the graph that add to own features, the largest gain first.
    labels_needed
        With "too-few": about how many labelled nodes would do.
    """

    kind: str
    confidence: str
    rule: str
    evidence: Evidence
    helpful: tuple[str, ...] = ()
    labels_needed: int | None = None

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, with its confidence."""
        from heterophily.diagnosis.words import sentence

        return sentence(self)

    @property
    def because(self) -> tuple[str, ...]:
        """The numbers that the rules look at, a few words each."""
        from heterophily.diagnosis.words import because

        return because(self)

    @property
    def model(self) -> str:
        """The model to begin with."""
        return FIRST_MODEL.get((self.kind, self.helpful[0] if self.helpful else ""), "acm-gcn")

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "confidence": self.confidence,
            "rule": self.rule,
            "because": list(self.because),
            "helpful": list(self.helpful),
            "labels_needed": self.labels_needed,
        }


KINDS = ("homophilic", "harmless", "harmful", "little", TOO_FEW)

FIRST_MODEL: Mapping[tuple[str, str], str] = {
    ("little", ""): "mlp-2",
    **{("homophilic", source): "gcn" for source in ("", *FROM_GRAPH)},
    ("harmless", "structure"): "acm-gcn+",
    ("harmless", "labels"): "acm-gcn+",
    ("harmful", "structure"): "acm-gcn+",
    ("harmful", "labels"): "acm-gcn+",
}
"""(kind, most helpful source) -> model to begin with; acm-gcn for all others. acm-gcn+ also sees
which neighbours a node has."""


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict of the first rule that holds.

    >>> judge(Evidence(has_edges=False)).kind
    'little'
    >>> judge(Evidence(labelled=3)).kind
    'too-few'
    """
    rule = next(rule for rule in RULES if rule.holds(evidence))
    sure = min((question(evidence) for question in rule.rests_on), default=Strength.HIGH)
    if evidence.is_linear:
        sure = min(sure, Strength.MEDIUM)
    return Verdict(
        rule.kind,
        sure.name.lower(),
        rule.text,
        evidence,
        helpful_sources(evidence.probe),
        labels_needed(evidence) if rule.kind == TOO_FEW else None,
    )


def helpful_sources(probe: Probe | None) -> tuple[str, ...]:
    """Return the single sources that add to own features, the largest gain first.

    "all" stands alone when only everything together adds enough.
    """
    if probe is None:
        return ()
    found = {name: probe.gains[name].among(probe.candidates) for name in probe.gains}
    better = [name for name in FROM_GRAPH if name in found and found[name].is_better]
    single = [name for name in better if name != "all"] or better
    return tuple(sorted(single, key=lambda name: -found[name].value))


def labels_needed(evidence: Evidence) -> int:
    """Return about how many labelled nodes would settle the question, to two digits.

    The width of an interval falls with the root of the number of labels.
    """
    known = max(evidence.labelled, 1)
    wanted = 2.0 * known
    if evidence.probe is None:
        wanted = max(wanted, ENOUGH_LABELS)
    else:
        gain = evidence.probe.gain
        wanted = max(wanted, known * ((gain.high - gain.value) / WIDTH_WANTED) ** 2)
    step: int = 10 ** max(math.floor(math.log10(wanted)) - 1, 0)
    return math.ceil(wanted / step) * step
