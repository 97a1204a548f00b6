"""What trained models look like inside: accuracy by homophily, weights, curves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.page.svg import Chart, clouds, colour, figure, legend, picture
from heterophily.page.table import TableCell, number, table
from heterophily.page.text import safe
from heterophily.report.figures import accuracy_by_homophily, alpha, ternary, training_curves

HOMOPHILY_CLASSES = ("h0", "h1", "h2", "h3", "h4")
_ZOOM = 300
_CHANNEL_CLASS = {"low": "s0", "high": "s1", "identity": "s2", "structure": "s3"}


def accuracy_part(lines: list[dict[str, Any]], graph: str) -> str:
    """Draw accuracy by local homophily, a line per model."""
    bins = accuracy_by_homophily.BINS
    chart = Chart(
        x=(0, 1),
        y=(-0.08, 1),
        across="local homophily of the node",
        up="test accuracy",
        width=640,
        height=300,
        y_text=lambda value: f"{100 * value:.0f} %",
    )
    for place, line in enumerate(lines):
        known = [k for k, value in enumerate(line["accuracy"]) if value is not None]
        shift = 0.012 * (place - (len(lines) - 1) / 2)
        points = [((k + 0.5) / bins + shift, line["accuracy"][k]) for k in known]
        chart.path(points, colour(place))
        for k, (x, y) in zip(known, points, strict=True):
            low, high = (chart.y(min(max(y + s * line["std"][k], 0), 1)) for s in (-1, 1))
            chart.line(chart.x(x), low, chart.x(x), high, f"stroke thin {colour(place)}")
            title = (
                f"{line['model']}, homophily {k / bins:.1f} to {(k + 1) / bins:.1f}: "
                f"{100 * y:.1f} ± {100 * line['std'][k]:.1f} % on {line['nodes'][k]:,} test nodes"
            )
            chart.dot(x, y, title, f"fill {colour(place)}", 4.5)
    for k, count in enumerate(lines[0]["nodes"]):
        chart.text(chart.x((k + 0.5) / bins), chart.bottom - 5, f"n = {count:,}", "middle")
    data = {"panels": [{"graph": graph, "models": lines}]}
    return figure(
        chart.html(accuracy_by_homophily.alternative(data))
        + legend([line["model"] for line in lines]),
        "n: test nodes of all splits together; whiskers: standard deviation over the splits.",
    )


def weights_part(models: list[dict[str, Any]]) -> str:
    """Draw the distribution of the mixing weights of each ACM model, layer by layer."""
    parts = []
    for model in models:
        charts = "".join(_weights(found, f"{place} layer") for place, found in model["layers"])
        channels = model["layers"][0][1]["channels"]
        rows: list[Sequence[TableCell | str]] = [
            [
                f"{place} layer",
                *(number(mean, f"{mean:.3f}") for mean in found["means"]),
            ]
            for place, found in model["layers"]
        ]
        kinds = [_CHANNEL_CLASS.get(name, "s7") for name in channels]
        parts.append(
            f"<h3>{safe(model['model'])}</h3>{legend(channels, kinds)}"
            f"<div class='side'>{charts}</div>"
            + "<p class='dim small'>Nodes of all splits together.</p>"
            + table(["mean weight", *channels], rows)
            + (_triangle(model["triangle"]) if model.get("triangle") else "")
        )
    return "\n".join(parts)


def _weights(found: dict[str, Any], layer: str) -> str:
    bins = alpha.BINS
    shares = [[n / max(1, sum(counts)) for n in counts] for counts in found["counts"]]
    chart = Chart(
        x=(0, 1),
        y=(0, max(map(max, shares)) * 1.05),
        across=f"weight, {layer}",
        up="share of the nodes",
        width=400,
        height=220,
        y_text=lambda value: f"{100 * value:.0f} %",
    )
    for name, share in zip(found["channels"], shares, strict=True):
        kind = _CHANNEL_CLASS.get(name, "s7")
        steps = [(k / bins, value) for k, value in enumerate(share)]
        chart.path([(0, 0), *steps, (1, share[-1]), (1, 0)], kind, is_stepped=True)
        for k, value in enumerate(share):
            if value > 0.002:
                title = f"{name}, {k / bins:.3f} to {(k + 1) / bins:.3f}: {100 * value:.1f} %"
                chart.bar((k / bins, (k + 1) / bins), value, title, f"fill faint {kind}")
    words = {"panels": [found]}
    return (
        f"<div>{chart.html(alpha.alternative(words, variant=layer.removesuffix(' layer')))}</div>"
    )


def _triangle(found: dict[str, Any]) -> str:
    """Draw the nodes of the last layer between low, high and identity, and enlarged."""
    side, left, top = 320, 40, 22
    height = side * ternary.CORNERS["identity"][1]
    places = ternary.triangle(np.array(found["layers"][-1]))
    corners = [(left, top + height), (left + side, top + height), (left + side / 2, top)]
    outline = "".join(
        f"<line class='axis' x1='{a[0]:.0f}' y1='{a[1]:.0f}' x2='{b[0]:.0f}' y2='{b[1]:.0f}'/>"
        for a, b in pairwise([*corners, corners[0]])
    )
    names = "".join(
        f"<text text-anchor='middle' x='{x:.0f}' y='{y + (16 if y > top else -7):.0f}'>"
        f"{name}</text>"
        for name, (x, y) in zip(ternary.CORNERS, corners, strict=True)
    )
    start, bottom, part = ternary.frame(places)
    seen = (
        f"<rect class='axis' x='{left + side * start:.1f}' "
        f"y='{top + height - side * (bottom + part):.1f}' width='{side * part:.1f}' "
        f"height='{side * part:.1f}'/>"
    )
    whole = _dots(places * [side, -side] + [left, top + height], found["homophily"])
    scale = _ZOOM / part
    close = _dots(places * [scale, -scale] + [-start * scale, (bottom + part) * scale],
                  found["homophily"])  # fmt: skip
    edge = f"<rect class='axis' x='.5' y='.5' width='{_ZOOM - 1}' height='{_ZOOM - 1}'/>"
    shown, total = len(places), found["nodes"]
    said = f"{shown:,} of {total:,} nodes, sampled" if shown < total else f"all {total:,} nodes"
    alternative = ternary.alternative({"panels": [found]})
    drawn = (
        picture(side + 2 * left, height + top + 26, outline + whole + seen + names, alternative),
        picture(_ZOOM, _ZOOM, close + edge, "The framed part of the triangle, enlarged."),
    )
    ranges = [f"{k / 5:.1f} to {(k + 1) / 5:.1f}" for k in range(5)]
    return figure(
        f"<div class='side'>{''.join(drawn)}</div>" + legend(ranges, list(HOMOPHILY_CLASSES)),
        f"Mixing weights of the last layer, first split, {said}. A node in a corner uses one "
        "channel only. Right: the framed part, enlarged. Colour: local homophily.",
    )


def _dots(places: NDArray[np.float64], homophily: list[float | None]) -> str:
    """Draw nodes at pixels, in five colours of local homophily; grey where it is undefined."""
    last = len(HOMOPHILY_CLASSES)
    groups: dict[str, list[tuple[float, float]]] = {k: [] for k in ("none", *HOMOPHILY_CLASSES)}
    for (x, y), value in zip(places.tolist(), homophily, strict=True):
        kind = "none" if value is None else HOMOPHILY_CLASSES[min(int(value * last), last - 1)]
        groups[kind].append((x, y))
    return clouds(groups)


def curves_part(lines: list[dict[str, Any]], graph: str) -> str:
    """Draw the validation loss in each epoch, a line per model; a dot is the reported epoch."""
    last = max(line["epoch"][-1] for line in lines)
    seen = [v for line in lines for v in line["validation_loss"] if v is not None]
    start = min(seen)
    usual = sorted(seen)[int(0.98 * (len(seen) - 1))]
    chart = Chart(
        x=(0, last),
        y=(start * 0.95, usual * 1.05),
        across="epoch",
        up="validation loss",
        width=640,
    )
    for place, line in enumerate(lines):
        points = [
            (e, min(v, usual * 1.05))
            for e, v in zip(line["epoch"], line["validation_loss"], strict=True)
            if v is not None
        ]
        chart.path(points, colour(place))
        epoch, value = min(points, key=lambda point: abs(point[0] - line["best_epoch"]))
        title = f"{line['model']}: reported epoch {line['best_epoch']}, loss {value:.3f}"
        chart.dot(epoch, value, title, f"fill {colour(place)}", 4.5)
    return figure(
        chart.html(training_curves.alternative({"graph": graph, "lines": lines}))
        + legend([line["model"] for line in lines]),
        "First split. A dot marks the epoch that is reported; hover it for its loss.",
    )
