"""An explanation in words."""

from __future__ import annotations

from collections.abc import Mapping

from heterophily.prediction.explain import (
    CHANNEL_WORDS,
    RESIDUAL,
    SHOWN,
    ChannelShare,
    Explanation,
)


def as_text(found: Explanation) -> str:
    """Return the explanation as lines for people."""
    return "\n".join(
        [_verdict(found), "", *_channels(found), "", *_neighbours(found), "", _homophily(found)]
    )


def _verdict(found: Explanation) -> str:
    known = "its label is not known" if found.known is None else f"its label is {found.known}"
    return (
        f"Node {found.node} is predicted as class {found.predicted} with probability "
        f"{found.probability:.2f} (next: {found.second}, {found.second_probability:.2f}); {known}."
    )


def _channels(found: Explanation) -> list[str]:
    if found.features:
        return _features(found)
    if not found.channels:
        return ["The model does not mix channels: there are no channel weights to show."]
    lines = []
    decisive = found.decisive
    if decisive is not None and decisive.margin is not None and decisive.margin_without is not None:
        end = (
            "the label would change"
            if decisive.margin_without < 0
            else "the label would stay, with a smaller lead"
            if decisive.margin_without < decisive.margin
            else "the label would stay: no single part decides"
        )
        lines.append(
            f"What decided: {_named(decisive)}. Without it {end}. Lead of {found.predicted} over "
            f"the next class, in logits: {decisive.margin:+.2f} with it, "
            f"{decisive.margin_without:+.2f} without."
        )
    else:
        lines.append(
            "The logits of some models are not a sum over channels, so the part that decided "
            "cannot be named; the weights below are means over the models that have channels."
        )
    lines.append("  part        weight  class mean  alone favours    adds to lead  lead without it")
    return [*lines, *(_part(share) for share in found.parts)]


def _features(found: Explanation) -> list[str]:
    """List the columns that the trees use most, over all nodes."""
    lines = ["What the trees use most, over all nodes (share of the gain of their splits):"]
    return [*lines, *(f"  {100 * one.share:5.1f} %  {one.name}" for one in found.features)]


def _named(share: ChannelShare) -> str:
    if share.name == RESIDUAL:
        return "the residual (its own features, added after the channels are mixed)"
    words = CHANNEL_WORDS.get(share.name, "")
    return f"the {share.name} channel{f' ({words})' if words else ''}"


def _part(share: ChannelShare) -> str:
    weight = "-" if share.weight is None else f"{share.weight:.2f}"
    mean = "-" if share.class_weight is None else f"{share.class_weight:.2f}"
    adds = "-" if share.adds is None else f"{share.adds:+.2f}"
    without = "-" if share.margin_without is None else f"{share.margin_without:+.2f}"
    return (
        f"  {share.name:<10} {weight:>7} {mean:>11}  {share.favours or '-':<15} {adds:>13} "
        f"{without:>16}"
    )


def _neighbours(found: Explanation) -> list[str]:
    if found.num_neighbours == 0:
        return ["It has no neighbours: the graph says nothing about it."]
    lines = [
        f"Neighbours: {found.num_neighbours}. Known labels: {_counted(found.neighbour_labels)}. "
        f"Predicted: {_counted(found.neighbour_predictions)}."
    ]
    for other in found.neighbours:
        lines.append(
            f"  {other.node:<12} {other.label or 'unknown':<15} predicted {other.predicted} "
            f"({other.probability:.2f})"
        )
    if found.num_neighbours > SHOWN:
        lines.append(f"  ... and {found.num_neighbours - SHOWN} more")
    return lines


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in counts.items()) or "none"


def _homophily(found: Explanation) -> str:
    label = found.known or found.predicted
    if found.local_homophily is None:
        return "Local homophily: undefined, no neighbour has a known label."
    text = (
        f"Local homophily: {100 * found.local_homophily:.0f} % of its labelled neighbours are "
        f"{label}"
    )
    if found.class_homophily is None:
        return f"{text}."
    return f"{text}; the mean over nodes of {label} is {100 * found.class_homophily:.0f} %."
