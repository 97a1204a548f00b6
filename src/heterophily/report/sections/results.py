"""The models' results: a table, the splits behind it, and paired tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from heterophily.evaluation.evaluate import Against, ScoreValue
from heterophily.evaluation.scores import SCORE_TITLES
from heterophily.page.table import TableCell, number, table
from heterophily.page.text import percent, safe
from heterophily.report.evaluation_text import against_text
from heterophily.report.tables import paired_rows
from heterophily.statistics.paired_tests import PairedTest

MOST_CLASSES = 20
"""With more classes a confusion matrix is too wide for a page."""

_FIELDS = ("first", "second", "splits", "difference", "p_value", "wilcoxon", "corrected")


def results_part(found: dict[str, Any]) -> str:
    """Return the table of a comparison (``Comparison.to_dict()``), best model first.

    Baselines stand at its end: what costs nothing, on the same test nodes.
    """
    models, score = found["models"], found.get("score", "accuracy")
    title, other = SCORE_TITLES[score], score != "accuracy"
    scores = [_score(cell, score) for cell in models]
    beside = found.get("baselines", ())
    based = [ScoreValue.from_dict(base["test"] or {"values": ()}) for base in beside]
    values = [v for each in (*scores, *based) for v in each.values if math.isfinite(v)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    rows: list[Sequence[TableCell | str]] = []
    for cell, value in zip(models, scores, strict=True):
        accuracy = [number(cell["mean"], percent(cell["mean"], cell["std"]))] * other
        validation = _mean(cell["validation"])
        cost = [
            number(v, "" if v is None else text.format(v))
            for v, text in ((cell["epochs"], "{:.0f}"), (cell["ms_per_epoch"], "{:.1f}"))
        ]
        held = number(validation, percent(validation))
        rows.append([cell["row"], *_shown(value, low, high), *accuracy, held, *cost])
    for base, value in zip(beside, based, strict=True):
        empty: list[TableCell | str] = [""] * (3 + other)
        shown = [base["absence"], "", ""] if base["absence"] else _shown(value, low, high)
        rows.append([f"baseline: {base['title']}", *shown, *empty])
    count = max((len(cell["test"]) for cell in models), default=0)
    nodes = f" with {found['test_nodes']} test nodes" if found.get("test_nodes") else ""
    header = ["model", f"test {title}, %", "95 % interval", _span(low, high)]
    header += ["test accuracy, %"] * other + ["validation accuracy, %", "epochs", "ms per epoch"]
    parts = [
        f"<p>{safe(_sentence(found))}</p>",
        *(f"<p>{safe(text)}.</p>" for text in _against(found)),
        table(header, rows, is_sorted=True),
        f"<p class='dim small'>{count} {safe(found['splits'])} splits{nodes}, the same for every "
        "model; ± is the standard deviation over the splits. Baselines use no edges.</p>",
        *(f"<p class='dim small'>Note: {safe(remark)}.</p>" for remark in found["remarks"]),
    ]
    if found["tests"]:
        parts += ["<h3>Paired tests</h3>", _tests(found["tests"])]
    return "\n".join(parts + classes_parts(models))


def classes_parts(models: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return, for each model, a table of its classes and its confusion matrix, folded."""
    parts = []
    for model in models:
        classes = model.get("per_class")
        if not classes:
            continue
        rows: list[Sequence[TableCell | str]] = [
            [
                each["class"],
                number(each["nodes"], f"{each['nodes']:,}"),
                *(
                    number(each[name], "undefined" if each[name] is None else percent(each[name]))
                    for name in ("precision", "recall", "f1")
                ),
            ]
            for each in classes
        ]
        header = ["class", "test nodes", "precision, %", "recall, %", "F1, %"]
        parts.append(
            f"<details><summary>The classes one by one: {safe(model['row'])}</summary>"
            f"{table(header, rows, is_sorted=True)}{_confusion(model, classes)}"
            "<p class='dim small'>Over the test nodes of all splits; a node that is tested in "
            "several splits counts in each. Precision: of the nodes predicted as a class, the "
            "share that belongs to it. Recall: of the nodes of a class, the share that was found. "
            "F1: their harmonic mean.</p></details>"
        )
    return ["<h3>Classes</h3>", *parts] if parts else []


def _confusion(model: Mapping[str, Any], classes: Sequence[Mapping[str, Any]]) -> str:
    if not model.get("confusion") or len(classes) > MOST_CLASSES:
        return ""
    names = [str(each["class"]) for each in classes]
    rows: list[Sequence[TableCell | str]] = [
        [name, *(number(count, f"{count:,}") for count in row)]
        for name, row in zip(names, model["confusion"], strict=True)
    ]
    return table(["true class by row, predicted by column", *names], rows)


def _score(cell: Mapping[str, Any], score: str) -> ScoreValue:
    """Return the score of a model; files of earlier versions have the accuracy alone."""
    if score == "accuracy" and "score" not in cell:
        return ScoreValue(tuple(math.nan if v is None else v for v in cell["test"]))
    return ScoreValue.from_dict(cell["score"])


def _shown(value: ScoreValue, low: float, high: float) -> list[TableCell | str]:
    text = "undefined" if value.mean is None else percent(value.mean, value.std or None)
    bounds = ""
    if value.interval is not None:
        bounds = f"{100 * value.interval.low:.0f} to {100 * value.interval.high:.0f}"
    return [number(value.mean, text), bounds, TableCell(_dots(value, low, high))]


def _span(low: float, high: float) -> str:
    return f"each split, {100 * low:.0f} to {100 * high:.0f} %"


def _against(found: Mapping[str, Any]) -> list[str]:
    """Say how the best model stands against each baseline."""
    best = [cell for cell in found["models"] if cell["row"] == found["best"]]
    beside = [Against.from_dict(each) for cell in best for each in cell.get("against", ())]
    texts = [against_text(each, found["best"]) for each in beside]
    return [text[:1].upper() + text[1:] if text.startswith("no ") else text for text in texts]


def _sentence(found: dict[str, Any]) -> str:
    best, rivals = found["best"], found["rivals"]
    title = SCORE_TITLES[found.get("score", "accuracy")]
    if not found["tests"]:
        return f"Best mean test {title}: {best}. There is no paired test."
    if rivals:
        return f"Best: {best}; not clearly worse: {', '.join(rivals)}."
    return f"Best: {best}, ahead of every other."


def _dots(value: ScoreValue, low: float, high: float) -> str:
    """Draw the score of every split as a dot, the mean as a tick."""
    span = (high - low) or 1.0

    def at(value: float) -> float:
        return 5 + 190 * (value - low) / span

    marks = "".join(
        f"<circle class='fill mark' cx='{at(v):.1f}' cy='9' r='3' opacity='.6'>"
        f"<title>split {k}: {100 * v:.2f} %</title></circle>"
        for k, v in enumerate(value.values)
        if math.isfinite(v)
    )
    if value.mean is not None:
        x = at(value.mean)
        marks += f"<line class='stroke ink' x1='{x:.1f}' x2='{x:.1f}' y1='2' y2='16'/>"
    return (
        "<svg viewBox='0 0 200 18' width='200' height='18' aria-hidden='true'>"
        f"<line class='axis' x1='5' x2='195' y1='9' y2='9'/>{marks}</svg>"
    )


def _tests(tests: list[dict[str, Any]]) -> str:
    header, rows = paired_rows([PairedTest(**{k: t[k] for k in _FIELDS}) for t in tests])
    header = [*header[:2], "by, points", *header[3:-1], "verdict"]
    cells: list[Sequence[TableCell | str]] = [
        [
            *row[:2],
            *(number(float(text) if text != "nan" else None, text) for text in row[2:6]),
            row[6],
        ]
        for row in rows
    ]
    return (
        table(header, cells, is_sorted=True)
        + "<p class='dim small'>p: t-test over the splits, corrected for their overlap "
        "(Nadeau and Bengio); p (Holm): after Holm's correction for the number of pairs, below "
        "0.05 is a clear difference; p (signed rank): Wilcoxon's test.</p>"
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None
