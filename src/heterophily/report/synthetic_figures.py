"""The figures of the synthetic experiments, drawn from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from heterophily.data.synthetic.proposition import similarity_gap, worst_homophily
from heterophily.report.monotone import Monotonicity, monotonicity
from heterophily.report.style import (
    BLACK,
    PURPLE,
    SYMBOLS,
    accuracy_axis,
    line_style,
    new_figure,
    style,
)
from heterophily.studies.synthetic_curves import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curves = Mapping[str, Sequence[Point]]
"""Model -> its points, by level."""

EDGE = "edge_homophily"


def order_table(curves: Curves) -> dict[str, dict[str, Monotonicity]]:
    """Return metric -> model -> how nearly accuracy rises with the metric, over the levels."""
    return {
        metric: {
            model: monotonicity([p.metric(metric) for p in points], [p.accuracy for p in points])
            for model, points in curves.items()
        }
        for metric in SYMBOLS
    }


def metrics_figure(curves: Curves, *, base: str) -> Figure:
    """Draw accuracy against each of the four metrics, levels reordered by the metric (Figure 2)."""
    table = order_table(curves)
    with style():
        figure, axes = new_figure(2, 2, size=(8.4, 7.0), sharey=True)
        for panel, (metric, symbol) in zip(axes.flat, SYMBOLS.items(), strict=True):
            for model, points in curves.items():
                _curve(panel, points, metric, model)
            lines = [symbol]
            lines += [f"{line_style(m).label}: {value}" for m, value in table[metric].items()]
            panel.set_xlabel("\n".join(lines))
            panel.set_xlim(-0.03, 1.03)
            accuracy_axis(panel)
        for panel in axes[:, 0]:
            panel.set_ylabel("test accuracy (%)")
        axes[0, 0].legend(loc="lower right")
        graphs = len(next(iter(curves.values()))[0].accuracies)
        levels = len(next(iter(curves.values())))
        figure.suptitle(
            f"syn-{base}: {levels} levels of edge homophily, {graphs} graphs each", fontsize=11
        )
    return figure


def models_figure(groups: Mapping[str, Sequence[Curves]], *, against: str = EDGE) -> Figure:
    """Draw graph-agnostic, plain and ACM models: a column per base, a row per family.

    ``groups`` maps a base to its rows of curves (linear models, two-layer models).
    """
    rows = len(next(iter(groups.values())))
    with style():
        size = (0.9 + 2.9 * len(groups), 0.8 + 2.6 * rows)
        figure, axes = new_figure(rows, len(groups), size=size, sharey="col")
        for column, (base, families) in enumerate(groups.items()):
            for row, curves in enumerate(families):
                panel = axes[row, column]
                for model, points in curves.items():
                    _curve(panel, points, against, model)
                panel.set_xlim(-0.03, 1.03)
                accuracy_axis(panel)
                if column == 0:
                    panel.set_ylabel("test accuracy (%)")
                    panel.legend(loc="best")
            axes[0, column].set_title(f"syn-{base}")
            axes[-1, column].set_xlabel(SYMBOLS[against])
    return figure


def regular_figure(curves: Curves, *, base: str, classes: int, intra_degree: float) -> Figure:
    """Draw accuracy on regular graphs above g(h) of Proposition 1; the zero of g is marked."""
    worst = worst_homophily(intra_degree=intra_degree, classes=classes)
    levels = [p.level for p in next(iter(curves.values()))]
    fine = np.linspace(min(levels), max(levels), 400)
    with style():
        figure, axes = new_figure(
            2, 1, size=(6.0, 5.6), sharex=True, gridspec_kw={"height_ratios": [2, 1]}
        )
        top, bottom = axes[:, 0]
        for model, points in curves.items():
            _curve(top, points, EDGE, model)
        top.set_ylabel("test accuracy (%)")
        top.legend(loc="lower right")
        top.set_title(
            f"syn-{base}, regular graphs: {classes} classes, {intra_degree:g} same-class neighbours"
        )
        accuracy_axis(top)
        gap = similarity_gap(fine, degree=intra_degree / fine, classes=classes)
        bottom.plot(fine, gap, color=PURPLE)
        bottom.set_ylabel("$g(h)$")
        bottom.set_xlabel(f"{SYMBOLS[EDGE]}")
        for panel in (top, bottom):
            panel.axvline(worst, color=BLACK, linewidth=1, linestyle=(0, (4, 3)))
        bottom.annotate(
            f"g = 0 at h = {worst:.4f}",
            (worst, float(gap.max()) * 0.85),
            xytext=(6, 0),
            textcoords="offset points",
        )
    return figure


def _curve(panel: Axes, points: Sequence[Point], metric: str, model: str) -> None:
    """Draw every graph as a pale dot, and level means with their spread, in the metric's order."""
    look = line_style(model)
    ordered = sorted(points, key=lambda point: point.metric(metric))
    x = [point.metric(metric) for point in ordered]
    y = [point.accuracy for point in ordered]
    spread = [point.spread for point in ordered]
    panel.scatter(
        np.concatenate([point.metrics[metric] for point in ordered]),
        np.concatenate([point.accuracies for point in ordered]),
        s=7,
        color=look.colour,
        alpha=0.25,
        linewidths=0,
    )
    panel.errorbar(
        x,
        y,
        yerr=spread,
        color=look.colour,
        marker=look.marker,
        linestyle=look.dashes,
        elinewidth=0.8,
        capsize=1.5,
        label=look.label,
    )
