"""t-SNE maps of input, outputs and channels of GCN and ACM-GCN (Figure 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heterophily.errors import InputError
from heterophily.report.figures.alpha import draw_weights, histograms
from heterophily.report.figures.embedding import SIDE, embed, feature_rows
from heterophily.report.figures.request import Request, runs_of, sample
from heterophily.report.style import GREY, SERIES, label, line_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CLASSES = 8
_MARKERS = "osD^vPX*"


def collect(request: Request) -> dict[str, Any]:
    """Train the models on the first split and embed what they see and give."""
    graph = request.open(request.graphs[0])
    if graph.num_classes > MOST_CLASSES:
        raise InputError(
            f"{graph.name} has {graph.num_classes} classes; the maps tell at most {MOST_CLASSES} "
            "apart: draw alpha-output or accuracy-by-homophily instead"
        )
    nodes = sample(graph.num_nodes, request.nodes, seed=request.seed)
    found = {model: every[0] for model, every in request.portraits_of(request.graphs[0]).items()}
    mixing = [portrait for portrait in found.values() if portrait.weights]
    if not mixing:
        raise InputError(
            f"none of {', '.join(found)} has mixing weights; name an ACM model, such as acm-gcn"
        )
    maps: dict[str, Any] = {}
    if graph.features is not None:
        maps["input features"] = feature_rows(graph, nodes, seed=request.seed)
    maps |= {f"{model} output": portrait.logits[nodes] for model, portrait in found.items()}
    main = mixing[-1]
    maps |= {
        f"{name} channel": output[nodes]
        for name, output in zip(main.channels, main.outputs, strict=True)
    }
    return {
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "classes": list(graph.class_names),
        "labels": graph.labels[nodes].tolist(),
        "maps": {name: embed(rows, seed=request.seed) for name, rows in maps.items()},
        "weights": histograms([main], layer=-1),
        "runs": runs_of(list(found.values())),
    }


def draw(data: dict[str, Any]) -> Figure:
    """Draw the maps, a colour and a marker per class, and the weights of the output layer."""
    maps = data["maps"]
    columns = 4
    rows = -(-(len(maps) + 1) // columns)
    figure, axes = new_figure(rows, columns, size=(7.4, 0.9 + 1.95 * rows))
    labels = np.array(data["labels"])
    first = min(len(maps), columns - 1 if len(maps) == 6 else columns)
    places = [*axes[0, :first], *axes[1:].flat]
    for panel, (name, (x, y)) in zip(places, maps.items(), strict=False):
        for number, known in enumerate(data["classes"]):
            chosen = labels == number
            panel.scatter(
                np.array(x)[chosen], np.array(y)[chosen], s=2.5, marker=_MARKERS[number],
                color=SERIES[number], linewidths=0, alpha=0.75, label=label(known, letters=16),
                rasterized=True,
            )  # fmt: skip
        model, _, rest = name.rpartition(" ")
        title = f"{line_style(model).label} {rest}" if rest == "output" else name
        panel.set_title(label(title, letters=30), fontsize=8.5)
        panel.set(xticks=[], yticks=[], xlim=(-30, SIDE + 30), ylim=(-30, SIDE + 30))
        panel.set_aspect("equal")
        panel.grid(False)
        for side in ("left", "bottom"):
            panel.spines[side].set_color("#cccccc")
    draw_weights(places[len(maps)], data["weights"])
    places[len(maps)].set_title("weights, output layer", fontsize=8.5)
    places[len(maps)].set_xlabel("weight", fontsize=8)
    places[len(maps)].set_ylabel("share of nodes", fontsize=8)
    places[len(maps)].legend(fontsize=7, loc="upper right", handlelength=1.3)
    for panel in [*axes[0, first:], *places[len(maps) + 1 :]]:
        panel.set_visible(False)
    shown, total = labels.size, data["nodes"]
    said = f"all {total:,} nodes" if shown == total else f"{shown:,} of {total:,} nodes, sampled"
    handles, names = places[0].get_legend_handles_labels()
    key = figure.legend(
        handles, names, loc="outside upper center", ncols=min(8, len(names)), markerscale=3.5,
        title=f"{label(data['graph'])}: {said}; colours are classes", title_fontsize=9, fontsize=8,
    )  # fmt: skip
    key.get_title().set_color(GREY)
    return figure


def alternative(data: dict[str, Any]) -> str:
    """Name the maps and the sample."""
    return (
        f"t-SNE maps of {len(data['labels']):,} of {data['nodes']:,} nodes of {data['graph']}, "
        f"coloured by class: {', '.join(data['maps'])}; and the distribution of the mixing weights."
    )
