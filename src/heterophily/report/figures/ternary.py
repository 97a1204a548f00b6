"""Every node between low, high and identity: its mixing weights in a triangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heterophily.comparison.portrait import Portrait
from heterophily.errors import InputError
from heterophily.metrics.node_homophily import node_homophily_values
from heterophily.report.figures.request import Request, runs_of, sample
from heterophily.report.style import BLACK, GREY, SEQUENTIAL, label, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CORNERS = {"low": (0.0, 0.0), "high": (1.0, 0.0), "identity": (0.5, 0.8660254)}
"""Where a node is whose weight is all on one channel."""


def triangle(weights: NDArray[Any]) -> NDArray[np.float64]:
    """Turn weights (N, 3) of low, high, identity into places (N, 2) in the triangle.

    >>> triangle(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])).tolist()
    [[0.0, 0.0], [0.5, 0.0]]
    """
    places: NDArray[np.float64] = np.asarray(weights, np.float64) @ list(CORNERS.values())
    return places


def points(
    portrait: Portrait, homophily: NDArray[np.float64], *, most: int, seed: int
) -> dict[str, Any]:
    """Return the weights of sampled nodes in each layer, with their local homophily."""
    if set(portrait.channels) != set(CORNERS):
        raise InputError(
            f"the triangle is for the channels low, high and identity; {portrait.model} mixes "
            f"{', '.join(portrait.channels) or 'none'}"
        )
    nodes = sample(homophily.size, most, seed=seed)
    order = [portrait.channels.index(name) for name in CORNERS]
    return {
        "graph": portrait.graph,
        "model": portrait.model,
        "nodes": homophily.size,
        "homophily": [None if np.isnan(h) else round(float(h), 3) for h in homophily[nodes]],
        "layers": [
            np.round(w[nodes][:, order].astype(np.float64), 4).tolist()
            for w in _ends(portrait.weights)
        ],
    }


def _ends(weights: tuple[Any, ...]) -> tuple[Any, ...]:
    return weights if len(weights) < 2 else (weights[0], weights[-1])


def collect(request: Request) -> dict[str, Any]:
    """Train the model on every graph; the first split is drawn."""
    if len(request.models) != 1:
        raise InputError(f"ternary draws one model, got {', '.join(request.models)}")
    panels, runs = [], []
    for source in request.graphs:
        portrait = request.portraits_of(source)[request.models[0]][0]
        homophily = node_homophily_values(request.open(source))
        panels.append(points(portrait, homophily, most=request.nodes, seed=request.seed))
        runs += runs_of([portrait])
    return {"panels": panels, "runs": runs}


def draw(data: dict[str, Any]) -> Figure:
    """Draw a row per graph, hidden and output layer side by side."""
    panels = data["panels"]
    columns = max(len(found["layers"]) for found in panels)
    figure, axes = new_figure(
        len(panels), columns, size=(0.9 + 3.0 * columns, 0.5 + 2.6 * len(panels))
    )
    image: Any = None
    for row, found in enumerate(panels):
        homophily = np.array([np.nan if h is None else h for h in found["homophily"]])
        for column, weights in enumerate(found["layers"]):
            panel = axes[row, column]
            corners = np.array([*CORNERS.values(), CORNERS["low"]])
            panel.plot(*corners.T, color=GREY, linewidth=0.8)
            places = triangle(np.array(weights))
            image = panel.scatter(
                *places.T, c=homophily, s=5, cmap=SEQUENTIAL, vmin=0, vmax=1,
                linewidths=0, alpha=0.8, plotnonfinite=False, rasterized=True,
            )  # fmt: skip
            middle = triangle(np.mean(weights, axis=0)[None])
            panel.plot(*middle.T, "+", color=BLACK, markersize=9)
            _enlarge(panel, places, homophily)
            layer = ("hidden", "output")[column] if len(found["layers"]) > 1 else "only"
            panel.set_title(f"{label(found['graph'])}, {layer} layer (cross: mean)", fontsize=9)
            for name, (x, y) in CORNERS.items():
                below = y == 0
                panel.annotate(
                    name, (x, y), xytext=(0, -11 if below else 4), textcoords="offset points",
                    ha="center", fontsize=8,
                )  # fmt: skip
            panel.set(xlim=(-0.1, 1.3), ylim=(-0.13, 1.0), aspect="equal")
            panel.axis("off")
    bar = figure.colorbar(image, ax=axes, shrink=0.7, aspect=25)
    bar.set_label(r"local homophily $H_\mathrm{node}^v$", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    return figure


def frame(places: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return left, bottom and side of a square around the points, a little larger than they need.

    >>> left, bottom, side = frame(np.array([[0.4, 0.2], [0.5, 0.3]]))
    >>> round(left, 3), round(bottom, 3), round(side, 3)
    (0.39, 0.19, 0.12)
    """
    low, high = places.min(axis=0), places.max(axis=0)
    side = max(0.03, 1.2 * float((high - low).max()))
    left, bottom = (float(value) for value in (low + high) / 2 - side / 2)
    return left, bottom, side


def _enlarge(panel: Axes, places: NDArray[np.float64], homophily: NDArray[np.float64]) -> None:
    """Draw the part that holds the points once more, larger, where the triangle is empty."""
    left, bottom, side = frame(places)
    if side > 0.5:
        return
    inset = panel.inset_axes((0.7, 0.52, 0.42, 0.46))
    inset.scatter(
        places[:, 0], places[:, 1], c=homophily, s=4, cmap=SEQUENTIAL, vmin=0, vmax=1,
        linewidths=0, alpha=0.8, plotnonfinite=False, rasterized=True,
    )  # fmt: skip
    inset.set(xlim=(left, left + side), ylim=(bottom, bottom + side), xticks=[], yticks=[])
    inset.set_aspect("equal")
    inset.grid(False)
    for spine in inset.spines.values():
        spine.set(visible=True, color=GREY, linewidth=0.6)
    panel.indicate_inset_zoom(inset, edgecolor=GREY, linewidth=0.6)


def alternative(data: dict[str, Any]) -> str:
    """Say the mean weights of each layer."""
    said = []
    for found in data["panels"]:
        for number, weights in enumerate(found["layers"], start=1):
            mean = np.mean(weights, axis=0)
            text = ", ".join(f"{n} {v:.2f}" for n, v in zip(CORNERS, mean, strict=True))
            said.append(f"{found['graph']}, drawn layer {number}: {text}")
    shown = len(data["panels"][0]["homophily"])
    return (
        f"Mixing weights of {shown:,} nodes in a triangle, coloured by local homophily. "
        f"Means: {'; '.join(said)}."
    )
