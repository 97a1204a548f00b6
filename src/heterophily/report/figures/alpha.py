"""Distributions of the learned mixing weights in the hidden and the output layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heterophily.comparison.portrait import Portrait
from heterophily.errors import InputError
from heterophily.report.figures.request import Request, runs_of, shares
from heterophily.report.style import BLACK, CHANNEL_COLOURS, GREY, hide_rest, label, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 100
SYMBOLS = {"low": r"$\alpha_L$", "high": r"$\alpha_H$", "identity": r"$\alpha_I$"}
_DASHES = {"low": "-", "high": "--", "identity": "-.", "structure": ":"}


def histograms(portraits: list[Portrait], *, layer: int) -> dict[str, Any]:
    """Count the weights of a layer (0 first, -1 last) by channel, over nodes and splits."""
    first = portraits[0]
    if not first.weights:
        raise InputError(
            f"{first.model} has no mixing weights; choose an ACM model, for example acm-gcn"
        )
    if layer == 0 and len(first.weights) < 2:
        raise InputError(f"{first.model} has one layer, so no hidden one; draw alpha-output")
    stacked = np.concatenate([portrait.weights[layer] for portrait in portraits])
    return {
        "graph": first.graph,
        "model": first.model,
        "channels": list(first.channels),
        "counts": [shares(column, BINS) for column in stacked.T],
        "means": [round(float(column.mean()), 6) for column in stacked.T],
    }


def collect(request: Request, *, variant: str) -> dict[str, Any]:
    """Train the model on every graph and count its weights."""
    if len(request.models) != 1:
        raise InputError(f"alpha-{variant} draws one model, got {', '.join(request.models)}")
    layer = 0 if variant == "hidden" else -1
    panels, runs = [], []
    for graph in request.graphs:
        portraits = request.portraits_of(graph)[request.models[0]]
        panels.append(histograms(portraits, layer=layer))
        runs += runs_of(portraits)
    return {"panels": panels, "runs": runs}


def draw_weights(panel: Axes, found: dict[str, Any]) -> None:
    """Draw one panel: an outline per channel, its mean as a tick below."""
    edges = np.linspace(0, 1, len(found["counts"][0]) + 1)
    for name, counts, mean in zip(found["channels"], found["counts"], found["means"], strict=True):
        colour = CHANNEL_COLOURS.get(name, BLACK)
        share = np.array(counts) / max(1, sum(counts))
        symbol = SYMBOLS.get(name, label(name))
        panel.stairs(share, edges, color=colour, fill=True, alpha=0.18)
        panel.stairs(
            share,
            edges,
            color=colour,
            linewidth=1.1,
            linestyle=_DASHES.get(name, "-"),
            label=symbol,
        )
        panel.plot([mean], [0], marker="^", markersize=5, color=colour, clip_on=False, zorder=5)
    panel.set_xlim(0, 1)
    panel.set_ylim(bottom=0)
    panel.tick_params(labelsize=7.5, colors=GREY)


def draw(data: dict[str, Any], *, variant: str) -> Figure:
    """Draw a panel per graph."""
    panels = data["panels"]
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    size = (0.5 + 2.15 * columns, 0.9 + 1.5 * rows)
    figure, axes = new_figure(rows, columns, size=size, sharex=True)
    for panel, found in zip(axes.flat, panels, strict=False):
        draw_weights(panel, found)
        panel.set_title(label(found["graph"]), fontsize=9)
    hide_rest(axes, len(panels))
    for panel in axes[:, 0]:
        panel.set_ylabel("share of nodes", fontsize=8)
    for panel in axes.flat[max(0, len(panels) - columns) : len(panels)]:
        panel.tick_params(labelbottom=True)
        panel.set_xlabel("weight", fontsize=8)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    model = panels[0]["model"].upper()
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=len(labels) + 1,
        title=f"{model}, {variant} layer (triangles: means)",
        fontsize=9,
        title_fontsize=9,
    )
    return figure


def alternative(data: dict[str, Any], *, variant: str) -> str:
    """Say the mean weights of each graph."""
    said = []
    for found in data["panels"]:
        means = ", ".join(
            f"{name} {mean:.2f}"
            for name, mean in zip(found["channels"], found["means"], strict=True)
        )
        said.append(f"{found['graph']}: {means}")
    model = data["panels"][0]["model"]
    return f"Mean mixing weights of the {variant} layer of {model}. " + "; ".join(said) + "."
