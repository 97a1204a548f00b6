"""The models' results: a table, the splits behind it, and paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heterophily.experiments.statistics import PairedTest
from heterophily.page.table import Cell, number, table
from heterophily.page.text import percent, safe
from heterophily.report.tables import paired_rows

_FIELDS = ("first", "second", "splits", "difference", "p_value", "wilcoxon", "corrected")


def results_part(found: dict[str, Any]) -> str:
    """Return the table of a comparison (``Comparison.to_dict()``), best model first."""
    models = found["models"]
    values = [v for cell in models for v in cell["test"] if v is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    rows: list[Sequence[Cell | str]] = [
        [
            cell["row"],
            number(cell["mean"], percent(cell["mean"], cell["std"])),
            Cell(_dots(cell, low, high)),
            number(_mean(cell["validation"]), percent(_mean(cell["validation"]))),
            number(cell["epochs"], "–" if cell["epochs"] is None else f"{cell['epochs']:.0f}"),
            number(
                cell["ms_per_epoch"],
                "–" if cell["ms_per_epoch"] is None else f"{cell['ms_per_epoch']:.1f}",
            ),
        ]
        for cell in models
    ]
    count = max((len(cell["test"]) for cell in models), default=0)
    span = f"each split, {100 * low:.0f} to {100 * high:.0f} %"
    header = ["model", "test accuracy, %", span, "validation, %", "epochs", "ms per epoch"]
    parts = [
        f"<p>{safe(_sentence(found))}</p>",
        table(header, rows, is_sorted=True),
        f"<p class='dim small'>{count} {safe(found['splits'])} splits, the same for every model; "
        "± is the standard deviation over the splits.</p>",
        *(f"<p class='dim small'>Note: {safe(remark)}.</p>" for remark in found["remarks"]),
    ]
    if found["tests"]:
        parts += ["<h3>Paired tests</h3>", _tests(found["tests"])]
    return "\n".join(parts)


def _sentence(found: dict[str, Any]) -> str:
    best, rivals = found["best"], found["rivals"]
    if not found["tests"]:
        return f"Best mean test accuracy: {best}. There is no paired test."
    if rivals:
        return f"Best: {best}; not told apart from it: {', '.join(rivals)}."
    return f"Best: {best}, ahead of every other."


def _dots(cell: dict[str, Any], low: float, high: float) -> str:
    """Draw the accuracy of every split as a dot, the mean as a tick."""
    span = (high - low) or 1.0

    def at(value: float) -> float:
        return 5 + 190 * (value - low) / span

    marks = "".join(
        f"<circle class='fill mark' cx='{at(v):.1f}' cy='9' r='3' opacity='.6'>"
        f"<title>split {k}: {100 * v:.2f} %</title></circle>"
        for k, v in enumerate(cell["test"])
        if v is not None
    )
    if cell["mean"] is not None:
        x = at(cell["mean"])
        marks += f"<line class='stroke ink' x1='{x:.1f}' x2='{x:.1f}' y1='2' y2='16'/>"
    return (
        "<svg viewBox='0 0 200 18' width='200' height='18' aria-hidden='true'>"
        f"<line class='axis' x1='5' x2='195' y1='9' y2='9'/>{marks}</svg>"
    )


def _tests(tests: list[dict[str, Any]]) -> str:
    header, rows = paired_rows([PairedTest(**{k: t[k] for k in _FIELDS}) for t in tests])
    header = [*header[:2], "by, points", *header[3:-1], "verdict"]
    cells: list[Sequence[Cell | str]] = [
        [
            *row[:2],
            *(number(float(text) if text != "nan" else None, text) for text in row[2:6]),
            row[6],
        ]
        for row in rows
    ]
    return (
        table(header, cells, is_sorted=True)
        + "<p class='dim small'>p: corrected resampled t-test on equal splits (Nadeau and Bengio); "
        "p (Holm): after Holm's correction for the number of pairs, 0.05 decides; p (signed rank): "
        "Wilcoxon's test.</p>"
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None
