"""The verdict in words: one sentence a reader can act on, and the numbers behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heterophily.data.wording import capital
from heterophily.diagnosis.paired import Difference
from heterophily.diagnosis.probe_value import SOURCES, Probe

if TYPE_CHECKING:
    from heterophily.diagnosis.verdict import Verdict

CONFIDENCE = ("high", "medium", "low")

WHY = {
    "homophilic": "a plain GCN suits such a graph; acm-gcn costs little more and also copes with "
    "nodes whose neighbours differ",
    "harmless": "acm-gcn uses neighbours beside a node's own features",
    "harmful": "acm-gcn keeps a node's own features apart from the average over its neighbours",
    "little": "begin with a model without a graph; check that the edges are the right ones",
    "too-few": "label more nodes, then repeat the diagnosis; until then let auto compare models",
}
"""Kind of verdict -> why the next command is what it is."""

PHRASES = {
    "structure": "knowing which neighbours a node has",
    "all": "everything from the graph together",
}
"""How a sentence calls some sources."""

SEES_WHICH = "acm-gcn+ also sees which neighbours a node has"


def points(value: float) -> str:
    """Write a difference of scores in points.

    >>> points(0.1234), points(-0.0004)
    ('+12.3 points', '0.0 points')
    """
    shown = f"{100 * value:+.1f}"
    return f"{'0.0' if shown in ('+0.0', '-0.0') else shown} points"


def interval(found: Difference) -> str:
    """Write a difference with its limits.

    >>> interval(Difference(0.1, 0.05, 0.151, 0.001))
    '+10.0 points (95 % interval +5.0 to +15.1)'
    """
    return (
        f"{points(found.value)} (95 % interval {100 * found.low:+.1f} to {100 * found.high:+.1f})"
    )


def p_text(p_value: float) -> str:
    """Write a p-value.

    >>> p_text(0.0421), p_text(1e-9)
    ('= 0.042', '< 0.001')
    """
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"


def sentence(verdict: Verdict) -> str:
    """Return the verdict in one sentence, with its confidence."""
    probe = verdict.evidence.probe
    if verdict.kind == "too-few":
        return f"{capital(_too_few(verdict))}."
    if probe is None:
        return "The graph adds nothing: it has no edges (confidence: high)."
    told, limits = _TOLD[verdict.kind](verdict, probe)
    return f"{capital(told)} ({limits}confidence: {verdict.confidence})."


def _base(probe: Probe) -> str:
    """What the gain is measured against."""
    return "a node's own features" if probe.has_features else "guessing the largest class"


def _adds(verdict: Verdict, probe: Probe) -> str:
    """Say what the most helpful source adds."""
    best = verdict.helpful[0]
    verb = "add" if best in ("neighbours", "labels") else "adds"
    gain = f"{100 * probe.gains[best].value:.1f} points"
    return f"{PHRASES.get(best, SOURCES[best])} {verb} {gain} to {_base(probe)}"


def _averaging(probe: Probe) -> str:
    """Say what averaging over neighbours does."""
    found = probe.average_loss
    if found is None:
        return ""
    if found.is_better:
        return f", and averaging over neighbours gains {100 * found.value:.1f}"
    if found.is_worse:
        return f", and averaging over neighbours loses {-100 * found.value:.1f}"
    return ", and averaging over neighbours does no harm"


def _homophilic(verdict: Verdict, probe: Probe) -> tuple[str, str]:
    told = "homophilic: neighbours tend to share a class"
    if verdict.helpful:
        return f"{told}, and {_adds(verdict, probe)}", ""
    return f"{told}, but nothing in the graph clearly adds to {_base(probe)}", _best(probe)


def _harmless(verdict: Verdict, probe: Probe) -> tuple[str, str]:
    told = "heterophilic but harmless: neighbours are not alike, yet the graph helps"
    return f"{told}: {_adds(verdict, probe)}{_averaging(probe)}", ""


def _harmful(verdict: Verdict, probe: Probe) -> tuple[str, str]:
    assert probe.average_loss is not None
    told = (
        f"harmful heterophily: averaging over neighbours loses "
        f"{-100 * probe.average_loss.value:.1f} points against a node's own features"
    )
    if verdict.helpful:
        return f"{told}; kept apart from them, {_adds(verdict, probe)}", ""
    return f"{told}, and nothing else in the graph clearly adds to them", _best(probe)


def _little(verdict: Verdict, probe: Probe) -> tuple[str, str]:
    return f"the graph adds little: nothing in it clearly adds to {_base(probe)}", _best(probe)


def _best(probe: Probe) -> str:
    """Say which source adds most, where none adds enough to count."""
    low, high = 100 * probe.gain.low, 100 * probe.gain.high
    gain = f"{points(probe.gain.value)}, 95 % interval {low:+.1f} to {high:+.1f}"
    return f"best: {SOURCES[probe.best]}, {gain}; "


def _too_few(verdict: Verdict) -> str:
    evidence = verdict.evidence
    known = f"with {evidence.labelled:,} labelled nodes"
    needed = f"about {verdict.labels_needed:,} labelled nodes would be enough"
    if evidence.probe is None:
        return f"too few labels to tell: {known} nothing can be measured; {needed}"
    return (
        f"too few labels to tell: {known} the graph may add between "
        f"{100 * evidence.probe.gain.low:+.0f} and {100 * evidence.probe.gain.high:+.0f} points; "
        f"{needed}"
    )


_TOLD = {
    "homophilic": _homophilic,
    "harmless": _harmless,
    "harmful": _harmful,
    "little": _little,
}


def _chosen_among(probe: Probe) -> str:
    """Say why the limits are wider than those of the table."""
    if probe.candidates < 2:
        return ""
    return f"; the interval is wider than in the table, as this is the best of {probe.candidates}"


def because(verdict: Verdict) -> tuple[str, ...]:
    """Return the numbers that the rules look at, a few words each."""
    evidence = verdict.evidence
    if not evidence.has_edges:
        return ("there is no edge",)
    told = []
    if evidence.probe is not None:
        probe = evidence.probe
        told.append(
            f"best information from the graph: {SOURCES[probe.best]}, {interval(probe.gain)} over "
            f"{_base(probe)}{_chosen_among(probe)}"
        )
        if probe.average_loss is not None:
            told.append(
                f"averaging over neighbours, as a GCN does: {interval(probe.average_loss)} against "
                "a node's own features"
            )
    if evidence.chance is not None:
        chance = evidence.chance
        told.append(
            f"adjusted homophily {chance.homophily.value:.2f} (0: edges ignore classes, 1: all "
            f"edges are within a class; p {p_text(chance.homophily.p_value)})"
        )
        told.append(
            f"label informativeness {chance.informativeness.corrected:.3f} beyond chance (0: a "
            "neighbour's class tells nothing about a node's class, 1: everything; "
            f"p {p_text(chance.informativeness.p_value)}, {chance.edges:,} labelled edges)"
        )
    if evidence.probe is not None and evidence.probe.predicted is not None:
        found = evidence.probe.predicted
        told.append(
            f"label informativeness {found.corrected:.3f} where neighbours' classes are predicted "
            f"(p {p_text(found.p_value)})"
        )
    return tuple(told)
