"""Loss and validation accuracy in each epoch of training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heterophily.comparison.portrait import Portrait
from heterophily.report.figures.request import Request, name_of, runs_of
from heterophily.report.style import SERIES, accuracy_axis, label, line_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 400
_CURVES = {
    "train_loss": "training loss",
    "validation_loss": "validation loss",
    "validation_accuracy": "validation accuracy (%)",
}


def curves(portrait: Portrait) -> dict[str, Any]:
    """Return the curves of a run, at most 400 epochs of them, evenly taken."""
    epochs = len(portrait.train_loss)
    step = max(1, -(-epochs // MOST_POINTS))
    taken = np.arange(0, epochs, step)
    return {
        "model": portrait.model,
        "split": portrait.split,
        "best_epoch": portrait.record.outcome.best_epoch,
        "epoch": [int(number) + 1 for number in taken],
        **{name: _plain(getattr(portrait, name)[taken]) for name in _CURVES},
    }


def _plain(values: NDArray[Any]) -> list[float | None]:
    return [round(float(v), 5) if np.isfinite(v) else None for v in values]


def collect(request: Request) -> dict[str, Any]:
    """Train the models and keep what was seen in each epoch."""
    found = request.portraits_of(request.graphs[0])
    every = [portrait for portraits in found.values() for portrait in portraits]
    return {
        "graph": name_of(request.graphs[0]),
        "lines": [curves(portrait) for portrait in every],
        "runs": runs_of(every),
    }


def draw(data: dict[str, Any]) -> Figure:
    """Draw a panel per quantity, a colour per model; a dot marks the reported epoch."""
    figure, axes = new_figure(1, 3, size=(7.4, 2.7))
    models = list(dict.fromkeys(line["model"] for line in data["lines"]))
    for panel, (quantity, title) in zip(axes[0], _CURVES.items(), strict=True):
        for line in data["lines"]:
            look = line_style(line["model"])
            number = models.index(line["model"])
            is_styled = look.label != line["model"]
            colour = look.colour if is_styled else SERIES[number % len(SERIES)]
            values = [np.nan if v is None else v for v in line[quantity]]
            is_first = line["split"] == 0
            panel.plot(
                line["epoch"],
                values,
                color=colour,
                linewidth=1.1,
                linestyle=look.dashes,
                label=label(look.label) if is_first else None,
            )
            at = int(np.argmin(np.abs(np.array(line["epoch"]) - line["best_epoch"])))
            panel.plot([line["epoch"][at]], [values[at]], "o", color=colour, markersize=4.5)
        panel.set_title(title, fontsize=9)
        panel.set_xlabel("epoch", fontsize=8)
        panel.tick_params(labelsize=7.5)
    accuracy_axis(axes[0, 2])
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=min(4, len(labels)),
        title=f"{label(data['graph'])} (dots: the reported epoch)",
        title_fontsize=9,
    )
    return figure


def alternative(data: dict[str, Any]) -> str:
    """Say when each model reached its reported epoch."""
    said = "; ".join(
        f"{line['model']}, split {line['split']}: reported epoch {line['best_epoch']}, "
        f"{line['epoch'][-1]} epochs"
        for line in data["lines"]
    )
    return f"Training curves on {data['graph']}. {said}."
