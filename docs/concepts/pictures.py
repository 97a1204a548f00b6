"""The pictures of the concept pages; the numbers in them are computed here.

Run: python docs/concepts/pictures.py
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from heterophily import Graph, compute_metrics, to_networkx
from heterophily.data.atomic import atomic_path
from heterophily.data.synthetic.toy import toy_graph
from heterophily.filters.filter import HIGH, IDENTITY, LOW
from heterophily.filters.normalization import normalized_adjacency
from heterophily.report.style import (
    BLACK,
    BLUE,
    CHANNEL_COLOURS,
    GREY,
    ORANGE,
    SYMBOLS,
    new_figure,
    style,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parent
COLOURS = (BLUE, ORANGE)


def two_circles() -> Graph:
    """Return two groups of friends and one bridge."""
    edges = [*combinations(range(4), 2), *combinations(range(4, 8), 2), (3, 4)]
    return Graph.from_edges(*np.array(edges).T, labels=[0] * 4 + [1] * 4)


def half_and_half() -> Graph:
    """Return a ring in which every node has one neighbour of each colour."""
    ring = np.arange(8)
    return Graph.from_edges(ring, (ring + 1) % 8, labels=[0, 0, 1, 1, 0, 0, 1, 1])


def gallery() -> dict[str, Graph]:
    """Return the graphs of the first picture by their titles."""
    return {
        "alike": two_circles(),
        "opposites": toy_graph("harmless-heterophily"),
        "half and half": half_and_half(),
        "mixed up": toy_graph("diversification-helps"),
    }


def numbers(graph: Graph) -> dict[str, float | None]:
    """Return the metrics under a graph."""
    return {name: compute_metrics(graph, names=[name])[name] for name in SYMBOLS}


def draw_gallery() -> Figure:
    """Draw small graphs with their metrics below."""
    graphs = gallery()
    with style():
        figure, axes = new_figure(1, len(graphs), size=(9, 2.9))
        for panel, (title, graph) in zip(axes[0], graphs.items(), strict=True):
            drawn = to_networkx(graph)
            place = nx.spring_layout(drawn, seed=3, iterations=300)
            if title == "opposites":
                place = nx.bipartite_layout(drawn, list(drawn)[:4], align="horizontal")
            if title == "half and half":
                place = nx.circular_layout(drawn)
            nx.draw_networkx(
                drawn,
                place,
                ax=panel,
                with_labels=False,
                node_size=110,
                node_color=[COLOURS[label] for label in graph.labels],
                edge_color=GREY,
                edgecolors=BLACK,
            )
            rows = [f"{SYMBOLS[name]} = {value:.2f}" for name, value in numbers(graph).items()]
            panel.set_title(title)
            panel.axis("off")
            panel.text(
                0.5, -0.04, "\n".join(rows), transform=panel.transAxes, ha="center", va="top"
            )
    return figure


def star() -> Graph:
    """Return a centre of one class and five neighbours of the other."""
    return Graph.from_edges([0] * 5, range(1, 6), labels=[0] + [1] * 5)


def draw_channels() -> Figure:
    """Draw what the three filters make of one signal on a star."""
    graph = star()
    signal = np.where(graph.labels == 0, 1.0, -0.2)
    operator = normalized_adjacency(graph.adjacency)
    filters = {"low": LOW, "high": HIGH, "identity": IDENTITY}
    with style():
        figure, axes = new_figure(1, 4, size=(9, 2.4))
        drawn = to_networkx(graph)
        nx.draw_networkx(
            drawn,
            nx.kamada_kawai_layout(drawn),
            ax=axes[0][0],
            node_color=[COLOURS[label] for label in graph.labels],
            edge_color=GREY,
            edgecolors=BLACK,
            node_size=160,
            font_size=7,
            font_color="white",
        )
        axes[0][0].axis("off")
        axes[0][0].set_title("a star, and its signal x")
        for panel, (name, filter_) in zip(axes[0][1:], filters.items(), strict=True):
            seen = filter_.identity * signal + filter_.aggregate * (operator @ signal)
            panel.bar(range(6), seen, color=CHANNEL_COLOURS[name])
            panel.axhline(0, color=BLACK, linewidth=0.8)
            panel.set(ylim=(-1.1, 1.1), xticks=range(6), title=name)
    return figure


def main() -> None:
    """Write both pictures."""
    for name, figure in (("metrics", draw_gallery()), ("channels", draw_channels())):
        with style(), atomic_path(FOLDER / f"{name}.svg") as path:
            figure.savefig(path, metadata={"Date": None}, format="svg", bbox_inches="tight")


if __name__ == "__main__":
    main()
