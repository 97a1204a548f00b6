"""One look for every figure: colour-blind safe, readable in print, SVG and PNG alike."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterophily.data.atomic import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which stay apart under the common forms of colour blindness.
BLACK, GREY = "#000000", "#6e6e6e"
ORANGE, SKY, GREEN = "#e69f00", "#56b4e9", "#009e73"
BLUE, VERMILION, PURPLE = "#0072b2", "#d55e00", "#cc79a7"
SERIES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY, BLACK)
"""Colours of series and classes, in this order."""

CHANNEL_COLOURS = {"low": BLUE, "high": VERMILION, "identity": GREEN, "structure": PURPLE}
SEQUENTIAL = "cividis"
"""Colour map for values from low to high."""

DIVERGING = "PuOr_r"
"""Colour map for signed values: orange is positive, purple negative, white zero."""

SYMBOLS = {
    "edge_homophily": r"$H_\mathrm{edge}$",
    "node_homophily": r"$H_\mathrm{node}$",
    "class_homophily": r"$H_\mathrm{class}$",
    "modified_aggregation_homophily": r"$H_\mathrm{agg}^M$",
}


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How a model is drawn: colour, marker and dashes each tell it apart."""

    label: str
    colour: str
    marker: str
    dashes: str = "-"


LINE_STYLES = {
    "mlp-1": LineStyle("MLP-1", GREY, "^", ":"),
    "mlp-2": LineStyle("MLP-2", GREY, "^", ":"),
    "sgc-1": LineStyle("SGC-1", ORANGE, "s", "--"),
    "gcn": LineStyle("GCN", BLUE, "o", "-"),
    "acm-sgc-1": LineStyle("ACM-SGC-1", GREEN, "D", "-"),
    "acm-gcn": LineStyle("ACM-GCN", VERMILION, "D", "-"),
}

_SETTINGS: Any = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.5,
    "lines.markersize": 4,
    "legend.frameon": False,
    "figure.dpi": 110,
    "savefig.dpi": 150,
    "svg.fonttype": "none",  # text stays text: small files, searchable
    "svg.hashsalt": "heterophily",  # the same figure is the same file
}


def line_style(model: str) -> LineStyle:
    """Return how a model is drawn; models without a style of their own are black.

    >>> line_style("gcn").label
    'GCN'
    """
    return LINE_STYLES.get(model, LineStyle(model, BLACK, "o"))


@contextmanager
def style() -> Iterator[None]:
    """Draw in the look of the package inside this block."""
    import matplotlib

    with matplotlib.rc_context(_SETTINGS):
        yield


def new_figure(
    rows: int, columns: int, *, size: tuple[float, float], **options: Any
) -> tuple[Figure, Any]:
    """Return a figure and its (rows, columns) axes; no window, no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def accuracy_axis(axes: Axes) -> None:
    """Write percent on the y axis of accuracies; values stay fractions."""
    from matplotlib.ticker import PercentFormatter

    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=""))


def label(name: object, *, letters: int = 24) -> str:
    """Return a stranger's name for a picture: short, one line, never read as a formula.

    >>> label("cost in $")
    'cost in \\\\$'
    """
    from heterophily.page.text import printable

    text = printable(str(name))
    text = text if len(text) <= letters else text[: letters - 1] + "…"
    return text.replace("$", r"\$")


def note_below(figure: Figure, text: str) -> None:
    """Write a small line under the whole picture; long ones are broken to its width."""
    import textwrap

    letters = int(figure.get_figwidth() * 19)
    lines = textwrap.fill(text, letters, break_on_hyphens=False)
    figure.supxlabel(lines, fontsize=6.5, color=GREY, x=0.01, ha="left")


def hide_rest(axes: Any, used: int) -> None:
    """Make the panels after the first ``used`` ones invisible."""
    for panel in axes.flat[used:]:
        panel.set_visible(False)


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write ``stem.svg`` and ``stem.png``; each appears whole or not at all."""
    written = []
    for suffix in (".svg", ".png"):
        path = stem.with_name(stem.name + suffix)
        metadata = {"Date": None} if suffix == ".svg" else None
        with atomic_path(path) as temporary, warnings.catch_warnings():
            # A name in letters that the font of the PNG lacks; the SVG keeps it as text.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            figure.savefig(temporary, metadata=metadata)
        written.append(path)
    return written
