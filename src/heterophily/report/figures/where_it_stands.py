"""Edge homophily against modified aggregation homophily, among the paper's ten datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heterophily.diagnosis.known import known_metrics
from heterophily.diagnosis.page import AXES
from heterophily.errors import InputError
from heterophily.metrics.catalog import compute_metrics
from heterophily.report.figures.request import Request, check_classes
from heterophily.report.style import BLACK, GREY, SYMBOLS, VERMILION, label, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def collect(request: Request) -> dict[str, Any]:
    """Measure the graphs; the known ones are stored with the package."""
    points = [
        {"graph": name, "x": values[AXES[0]], "y": values[AXES[1]], "is_known": True}
        for name, values in known_metrics().items()
    ]
    for source in request.graphs:
        graph = request.open(source)
        check_classes(graph, "its place")
        found = compute_metrics(graph, names=AXES)
        x, y = (found.values[axis] for axis in AXES)
        if x is None or y is None:
            raise InputError(next(iter(found.reasons.values())))
        points = [point for point in points if point["graph"] != graph.name]
        points.append({"graph": graph.name, "x": x, "y": y, "is_known": False})
    return {"points": points}


def draw(data: dict[str, Any]) -> Figure:
    """Draw the points; labels go where there is room."""
    from heterophily.page.svg import PointLabels

    figure, axes = new_figure(1, 1, size=(4.6, 4.2))
    panel = axes[0, 0]
    lowest = min(0.4, min(point["y"] for point in data["points"]) - 0.05)
    wide, high, top = 270.0, 230.0, 1.03  # points of the page inside the axes, about
    places = PointLabels(0, wide, letter=4.1)
    for point in sorted(data["points"], key=lambda point: point["is_known"]):
        x, y, is_known = point["x"], point["y"], point["is_known"]
        across, down = wide * x, high * (top - y) / (top - lowest)
        name = label(point["graph"])
        start, baseline = places.place(across, down, len(name))
        colour, marker = (GREY, "o") if is_known else (VERMILION, "D")
        panel.plot([x], [y], marker=marker, color=colour, markersize=4 if is_known else 7)
        panel.annotate(
            name,
            (x, y),
            xytext=(start - across, down - baseline + 1),
            textcoords="offset points",
            fontsize=7.5,
            color=GREY if is_known else BLACK,
            weight="normal" if is_known else "bold",
        )
    panel.set(xlim=(0, 1), ylim=(lowest, top))
    panel.set_xlabel(f"edge homophily {SYMBOLS[AXES[0]]}")
    panel.set_ylabel(f"modified aggregation homophily {SYMBOLS[AXES[1]]}")
    return figure


def alternative(data: dict[str, Any]) -> str:
    """Give the two numbers of every graph."""
    said = "; ".join(f"{p['graph']} {p['x']:.2f}, {p['y']:.2f}" for p in data["points"])
    return f"Edge homophily and modified aggregation homophily of graphs: {said}."
