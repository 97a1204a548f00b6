"""The verdict: rules, written as a table, from the numbers of the diagnosis to one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heterophily.diagnosis.probe import SIGNIFICANT, Comparison, Probe, p_text

HOMOPHILIC_FROM = 0.3
"""Adjusted homophily from which a graph is called homophilic (0 = chance, 1 = all edges match)."""

INFORMATIVE_FROM = 0.01
"""Label informativeness from which a neighbour's class tells something about a node's class."""

HARMLESS_FROM = 0.9
"""Modified aggregation homophily from which aggregation keeps the classes apart by itself."""

CLEAR = 0.01
"""p-value below which a comparison is called clear."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the four answers: what it is called, what to run, and why."""

    title: str
    model: str
    why: str


KINDS = {
    "homophilic": Kind(
        "homophilic: neighbours tend to share a class, and aggregation keeps that",
        "gcn",
        "a plain GCN fits such a graph; acm-gcn costs little more and insures against exceptions",
    ),
    "harmless": Kind(
        "heterophilic but harmless: neighbours are not alike, yet their graph helps",
        "acm-gcn",
        "low pass carries the label; acm-gcn keeps it and adds what own features know",
    ),
    "harmful": Kind(
        "harmful heterophily, and mixing repairs it: aggregation alone loses what a node's own "
        "features know, mixed channels keep it",
        "acm-gcn",
        "adaptive channel mixing can fall back on own features and use differences to neighbours",
    ),
    "little": Kind(
        "the graph adds little: a node's own features do as well without their neighbours",
        "mlp-2",
        "start from the model without a graph; then check labels and edges, and try acm-gcn",
    ),
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """The numbers a verdict may use, all of them printed with it."""

    metrics: Mapping[str, float | None]
    has_edges: bool = True
    probe: Probe | None = None
    scaled_aggregation: float | None = None  # S_agg(S(Â, X)) with rows of X summing to 1
    scaled_features: float | None = None  # S_agg(S(I, X)), likewise

    def metric(self, name: str) -> float:
        """Return a metric; an undefined one counts as 0."""
        value = self.metrics.get(name)
        return 0.0 if value is None else value

    @property
    def is_homophilic(self) -> bool:
        """Whether edges match beyond chance. With one class on all edges they all match."""
        adjusted = self.metrics.get("adjusted_homophily")
        if adjusted is None:
            return self.metric("edge_homophily") == 1.0
        return adjusted >= HOMOPHILIC_FROM

    @property
    def is_informative(self) -> bool:
        """Whether a neighbour's class tells something about a node's class."""
        return self.metric("label_informativeness") >= INFORMATIVE_FROM


@dataclass(frozen=True, slots=True)
class Rule:
    """If ``holds``, the verdict is ``kind``; ``text`` says when, as in docs/diagnosis.md.

    ``rests_on`` gives the p-value of what the rule found. A rule that also rests on a difference
    *not* found is at most "likely", as the probe may have missed it.
    """

    kind: str
    text: str
    holds: Callable[[Evidence], bool]
    rests_on: Callable[[Probe], float] | None = None
    at_most: str = "clear"


def _low(probe: Probe | None) -> Comparison:
    assert probe is not None
    return probe.comparisons["low_against_own"]


def _mixed(probe: Probe | None) -> Comparison:
    """Own features and graph together; without features that is the graph alone."""
    assert probe is not None
    return probe.comparisons[f"{probe.combined}_against_own"]


def _repair(probe: Probe) -> float:
    """Return the p-value of: aggregation loses, mixing regains."""
    regained = probe.comparisons.get("mixed_against_low", _low(probe))
    return max(_low(probe).p_value, regained.p_value)


def _gain(probe: Probe) -> float:
    return min(_low(probe).p_value, _mixed(probe).p_value)


NO_EDGES = Rule("little", "the graph has no edges", lambda e: not e.has_edges)

PROBE_RULES = (
    NO_EDGES,
    Rule(
        "harmful",
        "low is worse than own, and mixed is better than own",
        lambda e: _low(e.probe).is_worse and _mixed(e.probe).is_better,
        lambda probe: max(_low(probe).p_value, _mixed(probe).p_value),
    ),
    Rule(
        "harmful",
        "low is worse than own, mixed is not worse than own, and label informativeness is at "
        f"least {INFORMATIVE_FROM}",
        lambda e: _low(e.probe).is_worse and not _mixed(e.probe).is_worse and e.is_informative,
        _repair,
        at_most="likely",
    ),
    Rule(
        "little",
        "low is worse than own, mixed is not better than own, and neighbours' classes tell nothing",
        lambda e: _low(e.probe).is_worse,
        lambda probe: _low(probe).p_value,
        at_most="likely",
    ),
    Rule(
        "homophilic",
        f"low is not worse than own, and adjusted homophily is at least {HOMOPHILIC_FROM}",
        lambda e: e.is_homophilic,
        _gain,
    ),
    Rule(
        "harmless",
        "low is not worse than own, and low or mixed is better than own",
        lambda e: _low(e.probe).is_better or _mixed(e.probe).is_better,
        _gain,
    ),
    Rule("little", "neither low nor mixed differs from own", lambda e: True, at_most="weak"),
)

METRIC_RULES = (
    NO_EDGES,
    Rule(
        "homophilic",
        f"adjusted homophily is at least {HOMOPHILIC_FROM}",
        lambda e: e.is_homophilic,
    ),
    Rule(
        "harmless",
        "features that sum to 1 per node agree with the classes better after aggregation",
        lambda e: (e.scaled_aggregation or 0.0) > (e.scaled_features or 0.0),
    ),
    Rule(
        "harmless",
        f"there are no features, and modified aggregation homophily is at least {HARMLESS_FROM}",
        lambda e: (
            e.scaled_features is None
            and e.metric("modified_aggregation_homophily") >= HARMLESS_FROM
        ),
    ),
    Rule(
        "harmful",
        f"label informativeness is at least {INFORMATIVE_FROM}",
        lambda e: e.is_informative,
    ),
    Rule("little", "none of the above", lambda e: True),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One of :data:`KINDS`, how sure it is, the rule that gave it and the numbers behind it."""

    kind: str
    confidence: str
    rule: str
    because: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, with its confidence."""
        title = KINDS[self.kind].title
        return f"{title[0].upper()}{title[1:]} ({CONFIDENCE[self.confidence]})."

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "confidence": self.confidence,
            "rule": self.rule,
            "because": list(self.because),
        }


CONFIDENCE = {
    "certain": "certain",
    "clear": "clear: what it rests on has p < 0.01",
    "likely": "likely: what it rests on has p < 0.05, or is in part a difference not found",
    "weak": "weak: no difference was found beyond the spread",
    "tentative": "tentative: from metrics alone",
}
"""Words for how sure a verdict is, the surest first."""


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict of the first rule that holds.

    >>> judge(Evidence({"adjusted_homophily": 0.77, "edge_homophily": 0.81})).kind
    'homophilic'
    """
    rules = METRIC_RULES if evidence.probe is None else PROBE_RULES
    rule = next(rule for rule in rules if rule.holds(evidence))
    return Verdict(rule.kind, _confidence(rule, evidence), rule.text, _because(evidence))


def _confidence(rule: Rule, evidence: Evidence) -> str:
    if rule is NO_EDGES:
        return "certain"
    if evidence.probe is None:
        return "tentative"
    p_value = 1.0 if rule.rests_on is None else rule.rests_on(evidence.probe)
    found = "clear" if p_value < CLEAR else "likely" if p_value < SIGNIFICANT else "weak"
    return max(found, rule.at_most, key=list(CONFIDENCE).index)


def _because(evidence: Evidence) -> tuple[str, ...]:
    """Return the numbers that the rules look at, one sentence each."""
    if not evidence.has_edges:
        return ("there is no edge",)
    told = []
    if (adjusted := evidence.metrics.get("adjusted_homophily")) is not None:
        told.append(f"adjusted homophily {adjusted:.2f} (0 is chance, 1 is all edges alike)")
    if (informative := evidence.metrics.get("label_informativeness")) is not None:
        told.append(f"label informativeness {informative:.3f}")
    if evidence.probe is None:
        if (aggregated := evidence.metrics.get("modified_aggregation_homophily")) is not None:
            told.append(f"modified aggregation homophily {aggregated:.2f}")
        if evidence.scaled_aggregation is not None and evidence.scaled_features is not None:
            told.append(
                "with features that sum to 1 per node, the share of nodes closer to their own "
                f"class is {evidence.scaled_aggregation:.3f} aggregated and "
                f"{evidence.scaled_features:.3f} raw"
            )
        return tuple(told)
    for name, test in evidence.probe.comparisons.items():
        first, second = name.split("_against_")
        if second == "own":
            told.append(
                f"{first} against own {100 * test.difference:+.1f} points "
                f"(p {p_text(test.p_value)})"
            )
    return tuple(told)
