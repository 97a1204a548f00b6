"""Accuracy of models on nodes of low to high local homophily."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heterophily.comparison.portrait import Portrait
from heterophily.metrics.node_homophily import node_homophily_values
from heterophily.report.figures.request import Request, runs_of
from heterophily.report.style import SERIES, accuracy_axis, hide_rest, label, line_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 5
_MARKERS = "osD^vPX*"


def by_bin(portraits: list[Portrait], homophily: NDArray[np.float64]) -> dict[str, Any]:
    """Return the accuracy on test nodes in five bins of local homophily.

    ``accuracy`` is over the test nodes of all splits together, ``std`` the standard deviation of
    the splits' own accuracies, ``nodes`` the number of (node, split) pairs; None in empty bins.
    Nodes without a labelled neighbour are in no bin.

    Parameters
    ----------
    homophily
        (N,) local homophily, NaN where undefined.
    """
    place = np.where(np.isfinite(homophily), np.minimum(homophily * BINS, BINS - 1), -1).astype(int)
    right = np.zeros((len(portraits), BINS))
    count = np.zeros((len(portraits), BINS))
    for row, portrait in enumerate(portraits):
        tested = portrait.test & (place >= 0)
        is_right = portrait.predictions == portrait.labels
        count[row] = np.bincount(place[tested], minlength=BINS)
        right[row] = np.bincount(place[tested], weights=is_right[tested], minlength=BINS)
    total = count.sum(axis=0)
    accuracies, spreads = [], []
    for column in range(BINS):
        filled = count[:, column] > 0
        each = right[filled, column] / count[filled, column]
        has_any = bool(total[column])
        accuracies.append(
            round(float(right[:, column].sum() / total[column]), 6) if has_any else None
        )
        spreads.append(round(float(each.std()), 6) if has_any else None)
    return {
        "model": portraits[0].model,
        "accuracy": accuracies,
        "std": spreads,
        "nodes": [int(n) for n in total],
    }


def collect(request: Request) -> dict[str, Any]:
    """Train the models on every graph and sort their test nodes into bins."""
    panels, runs = [], []
    for source in request.graphs:
        graph = request.open(source)
        found = request.portraits_of(source)
        homophily = node_homophily_values(graph)
        panels.append(
            {
                "graph": graph.name,
                "models": [by_bin(portraits, homophily) for portraits in found.values()],
            }
        )
        runs += [run for portraits in found.values() for run in runs_of(portraits)]
    return {"panels": panels, "runs": runs}


def draw(data: dict[str, Any]) -> Figure:
    """Draw a panel per graph: a line per model, whiskers over splits, numbers of nodes below."""
    panels = data["panels"]
    columns = 1 if len(panels) == 1 else 2 if len(panels) <= 4 else 3
    rows = -(-len(panels) // columns)
    figure, axes = new_figure(
        rows, columns, size=(0.6 + 3.1 * columns, 0.9 + 2.3 * rows), sharex=True
    )
    middles = (np.arange(BINS) + 0.5) / BINS
    for panel, found in zip(axes.flat, panels, strict=False):
        for number, line in enumerate(found["models"]):
            look = line_style(line["model"])
            known = [k for k, value in enumerate(line["accuracy"]) if value is not None]
            is_styled = look.label != line["model"]
            panel.errorbar(
                middles[known] + 0.012 * (number - (len(found["models"]) - 1) / 2),
                [line["accuracy"][k] for k in known],
                yerr=[line["std"][k] for k in known],
                color=look.colour if is_styled else SERIES[number % len(SERIES)],
                marker=look.marker if is_styled else _MARKERS[number % len(_MARKERS)],
                linestyle=look.dashes,
                capsize=2,
                elinewidth=0.8,
                label=label(look.label),
            )
        counts = found["models"][0]["nodes"]
        for middle, count in zip(middles, counts, strict=True):
            panel.text(
                middle, 0.015, f"n={count:,}", transform=panel.get_xaxis_transform(),
                ha="center", fontsize=6, color="#6e6e6e",
            )  # fmt: skip
        panel.set_title(label(found["graph"]), fontsize=9)
        panel.set_xticks(np.linspace(0, 1, BINS + 1))
        panel.set(xlim=(0, 1), ylim=(-0.06, 1.03))
        accuracy_axis(panel)
    hide_rest(axes, len(panels))
    for panel in axes[:, 0]:
        panel.set_ylabel("test accuracy (%)")
    for panel in axes.flat[max(0, len(panels) - columns) : len(panels)]:
        panel.tick_params(labelbottom=True)
        panel.set_xlabel(r"local homophily $H_\mathrm{node}^v$", fontsize=8)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(4, len(labels)))
    return figure


def alternative(data: dict[str, Any]) -> str:
    """Say each model's accuracy in the lowest and the highest bin."""
    said = []
    for found in data["panels"]:
        words = []
        for line in found["models"]:
            known = [value for value in line["accuracy"] if value is not None]
            words.append(f"{line['model']} from {100 * known[0]:.0f} to {100 * known[-1]:.0f} %")
        said.append(f"{found['graph']}: {', '.join(words)}")
    return "Accuracy from low to high local homophily. " + "; ".join(said) + "."
