"""The result of ``auto`` in words: one sentence, a leaderboard, what validation labels were for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from heterophily.evaluation.baselines import LARGEST, TREES
from heterophily.evaluation.scores import SCORE_TITLES
from heterophily.page.table import TableCell, table
from heterophily.page.text import safe
from heterophily.prediction.candidates import uses_edges
from heterophily.prediction.leaderboard import Leaderboard

if TYPE_CHECKING:
    from heterophily.prediction.leaderboard import BoardRow
    from heterophily.prediction.result import AutoResult

NO_GRAPH_TRAINED = (
    "No model that sees the graph was trained: the time was too short. What the graph adds is not "
    "known. Give the same command more --minutes (in Python: minutes=...)."
)
NOT_ASKED = "No model that sees the graph was among the families."
NO_EDGES = "The graph has no edges: it adds nothing."

SHOWN = 8
"""Candidates in a printed leaderboard."""

_AGAINST = {TREES: "trees on own features", LARGEST: "always guessing the largest class"}


def sentence(result: AutoResult) -> str:
    """Say what won, by how much over trees and the largest class, and what the graph added."""
    found = result.estimate.evaluation
    title = SCORE_TITLES[found.score]
    models = ", ".join(dict.fromkeys(t.candidate.family.label for t in result.choice.trials))
    value = "undefined" if found.main.mean is None else f"{found.main.mean:.4f}"
    text = f"Chosen: {models}, with test {title} {value}"
    gaps = [
        f"{_points(base.difference)} {_AGAINST[base.name]}"
        for base in found.baselines
        if base.difference is not None and base.name in _AGAINST
    ]
    text += f": {' and '.join(gaps)}. " if gaps else ". "
    return text + _added(result)


def _points(difference: float) -> str:
    word = "above" if difference >= 0 else "below"
    return f"{100 * abs(difference):.1f} points {word}"


def any_saw_graph(result: AutoResult) -> bool:
    """Whether a model that sees the edges was trained and scored."""
    return any(
        math.isfinite(trial.mean) and uses_edges(trial.candidate.family) for trial in result.trials
    )


def _added(result: AutoResult) -> str:
    """Say what the graph added, on the validation nodes where both were scored."""
    if not any_saw_graph(result):
        if any(map(uses_edges, result.families)):
            return NO_GRAPH_TRAINED
        return NOT_ASKED if result.graph.adjacency.nnz else NO_EDGES
    best = result.without_graph
    if best is None:
        if not result.graph.num_features:
            return "Nodes have no features: the model learned from the graph alone."
        return "No model without the graph was tried."
    voters = result.choice.trials
    if all(not uses_edges(trial.candidate.family) for trial in voters):
        return (
            "No model that uses the graph was better on validation nodes: the graph adds nothing."
        )
    board = Leaderboard(result.graph, result.splits, result.score)
    told = board.interval([best.mean], best.splits)
    gain = result.choice.score - best.mean
    is_chance = told is not None and result.choice.score <= told.high
    return (
        f"On validation nodes the graph added {100 * gain:+.1f} points to the best model without "
        f"it ({best.candidate.family.label}, {best.mean:.4f})"
        + (", which may be chance." if is_chance else ".")
    )


def validation_use(result: AutoResult) -> str:
    """Say what the labels of validation nodes were used for."""
    used = ["when a training stops", "which models vote"]
    if result.temperature != 1.0:
        used.append("the temperature")
    if result.estimate.evaluation.threshold is not None:
        used.append("the threshold")
    listed = f"{', '.join(used[:-1])} and {used[-1]}"
    if result.is_refit:
        return (
            f"Labels of validation nodes decided {listed}. Then the voting models were trained "
            "again on folds of training and validation nodes together (refit)."
        )
    test = result.splits.test
    if len(result.splits) > 1 and all((test[0] == row).all() for row in test):
        return (
            f"Labels of validation nodes decided {listed}. Every node outside the test set is a "
            "validation node in one fold and a training node in the others."
        )
    return f"Labels of validation nodes decided {listed}. No model was trained on them (no refit)."


def top_lines(result: AutoResult) -> list[str]:
    """Say what the nodes that are ranked first hold, where a class is rare."""
    return [
        f"  Of the {found.count} test nodes ranked first for "
        f"{str(result.graph.class_names[found.class_number])!r}, {100 * found.precision:.1f} % are "
        f"of this class ({100 * found.chance:.1f} % of all are); that finds "
        f"{100 * found.recall:.1f} % of the class."
        for found in result.estimate.top
    ]


def shown_rows(result: AutoResult, count: int = SHOWN) -> list[BoardRow]:
    """Return the head of the leaderboard: chosen rows, the first ones, and every baseline."""
    rows = result.leaderboard_rows()
    own = result.without_graph
    label = "" if own is None else own.candidate.family.label
    head = rows[: count + 1]
    extra = [row for row in rows[count + 1 :] if row.is_baseline]
    if label and not any(row.model == label for row in head):
        extra += [next(row for row in rows if row.model == label)]
    return sorted([*head, *extra], key=rows.index)


def cells(row: BoardRow, splits: int) -> list[str]:
    """Return a row of the leaderboard as text."""
    mark = "* " if row.is_chosen else "  "
    bounds = "" if row.interval is None else f"{row.interval.low:.3f} to {row.interval.high:.3f}"
    on = "" if row.is_baseline else f"{row.splits} of {splits}"
    return [f"{mark}{row.model}", row.settings, on, f"{row.validation:.4f}", bounds]


def header(score: str) -> list[str]:
    """Return the head of the columns."""
    return ["  model", "setting", "splits", f"validation {SCORE_TITLES[score]}", "95 % interval"]


def as_text(result: AutoResult) -> str:
    """Return the sentence and the leaderboard as aligned text."""
    rows = [cells(row, len(result.splits)) for row in shown_rows(result)]
    lines = [header(result.score), *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([sentence(result), validation_use(result), *top_lines(result), "", *text])


def as_html(result: AutoResult) -> str:
    """Return the sentence and the leaderboard as HTML."""
    rows: list[list[TableCell | str]] = [
        list(cells(row, len(result.splits))) for row in shown_rows(result)
    ]
    lines = [sentence(result), validation_use(result), *map(str.strip, top_lines(result))]
    told = "".join(f"<p>{safe(line)}</p>" for line in lines)
    return told + table(header(result.score), rows)
