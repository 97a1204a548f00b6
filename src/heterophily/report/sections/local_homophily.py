"""Local homophily as a histogram."""

from __future__ import annotations

from typing import Any

from heterophily.page.svg import Chart, figure
from heterophily.report.figures.local_homophily import BINS, alternative


def local_homophily_part(found: dict[str, Any]) -> str:
    """Draw the histogram of :func:`~heterophily.report.figures.local_homophily.histogram`."""
    counts = found["counts"]
    total = max(1, sum(counts))
    chart = Chart(
        x=(0, 1),
        y=(0, max(counts) / total * 1.05),
        across="share of a node's neighbours that have its class",
        up="share of the nodes",
        width=640,
        y_text=lambda value: f"{100 * value:.0f} %",
    )
    for number, count in enumerate(counts):
        low, high = number / BINS, (number + 1) / BINS
        title = f"{low:.2f} to {high:.2f}: {count:,} nodes ({100 * count / total:.1f} %)"
        chart.bar((low, high), count / total, title)
    at = chart.x(found["mean"])
    chart.line(at, chart.top, at, chart.bottom, "stroke ink dashed")
    left = [f"The dashed line is the mean, {found['mean']:.3f}."]
    if found["undefined"]:
        left.append(
            f"{found['undefined']:,} nodes are left out: no label, or no labelled neighbour."
        )
    return figure(chart.html(alternative({"panels": [found]})), " ".join(left))
