"""The verdict in words: one sentence a reader can act on, and the numbers behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def capital(text: str) -> str:
    """Return a text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def sentence(verdict: Verdict) -> str:
    """Return the verdict in one sentence, with its confidence."""
    probe = verdict.evidence.probe
    if verdict.kind == "too-few":
        return f"{capital(_too_few(verdict))}."
    if probe is None:
        return "The graph adds nothing: it has no edges (confidence: high)."
    told = _TOLD[verdict.kind](verdict, probe)
    return f"{capital(told)} (confidence: {verdict.confidence})."


def _base(probe: Probe) -> str:
    """What the gain is measured against."""
    return "own features" if probe.has_features else "guessing the largest class"


def _adds(verdict: Verdict, probe: Probe) -> str:
    """Say which sources add how much: the best in full, the next one in brackets."""
    if not verdict.helpful:
        return ""
    best, *others = verdict.helpful
    verb = "add" if best in ("neighbours", "labels") else "adds"
    told = (
        f"{PHRASES.get(best, SOURCES[best])} {verb} {100 * probe.gains[best].value:.1f} points to "
        f"{_base(probe)}"
    )
    if others:
        told += f" ({SOURCES[others[0]]}: {100 * probe.gains[others[0]].value:.1f})"
    return told


def _averaging(probe: Probe) -> str:
    """Say what averaging over neighbours does."""
    found = probe.average_loss
    if found is None:
        return ""
    if found.is_better:
        return f"averaging features over neighbours gains {100 * found.value:.1f}"
    if found.is_worse:
        return f"averaging features over neighbours loses {-100 * found.value:.1f}"
    return "averaging features over neighbours does not"


def _homophilic(verdict: Verdict, probe: Probe) -> str:
    helps = (
        _adds(verdict, probe)
        or f"nothing from the graph adds to {_base(probe)} ({_largest(probe)})"
    )
    return f"homophilic: neighbours tend to share a class; {helps}"


def _harmless(verdict: Verdict, probe: Probe) -> str:
    average = _averaging(probe)
    return (
        "heterophilic but harmless: neighbours are not alike, yet the graph helps: "
        f"{_adds(verdict, probe)}{'; ' + average if average else ''}"
    )


def _harmful(verdict: Verdict, probe: Probe) -> str:
    assert probe.average_loss is not None
    repair = (
        f"used beside own features, {_adds(verdict, probe)}"
        if verdict.helpful
        else f"nothing from the graph adds to own features ({_largest(probe)}), so keep them apart"
    )
    return (
        f"harmful heterophily: averaging over neighbours loses "
        f"{-100 * probe.average_loss.value:.1f} points against a node's own features; {repair}"
    )


def _little(verdict: Verdict, probe: Probe) -> str:
    return f"the graph adds little: no source from it adds to {_base(probe)} ({_largest(probe)})"


def _largest(probe: Probe) -> str:
    """Say which source adds most, with its limits."""
    return f"at most {SOURCES[probe.best]}, {interval(probe.gain)}"


def _too_few(verdict: Verdict) -> str:
    evidence = verdict.evidence
    known = f"with {evidence.labelled:,} labelled nodes"
    needed = f"about {verdict.labels_needed:,} labelled nodes would do"
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


def because(verdict: Verdict) -> tuple[str, ...]:
    """Return the numbers that the rules look at, a few words each."""
    evidence = verdict.evidence
    if not evidence.has_edges:
        return ("there is no edge",)
    told = []
    if evidence.probe is not None:
        probe = evidence.probe
        told.append(
            f"best from the graph: {SOURCES[probe.best]} beside {_base(probe)}, "
            f"{interval(probe.gain)}"
        )
        if probe.average_loss is not None:
            told.append(
                f"averaging over neighbours alone: {interval(probe.average_loss)} against own "
                "features"
            )
    if evidence.chance is not None:
        chance = evidence.chance
        told.append(
            f"adjusted homophily {chance.homophily.value:.2f} (0 is chance, 1 is all edges alike; "
            f"p {p_text(chance.homophily.p_value)})"
        )
        told.append(
            f"label informativeness beyond chance {chance.informativeness.corrected:.3f} "
            f"(p {p_text(chance.informativeness.p_value)}, {chance.edges:,} labelled edges)"
        )
    if evidence.probe is not None and evidence.probe.predicted is not None:
        found = evidence.probe.predicted
        told.append(
            f"the same with classes predicted for neighbours {found.corrected:.3f} "
            f"(p {p_text(found.p_value)})"
        )
    return tuple(told)
