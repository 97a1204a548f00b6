"""Scores in words: the one place that writes them for people, on a terminal and on pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heterophily.data.wording import capital
from heterophily.evaluation.evaluate import Against, Evaluation, ScoreValue
from heterophily.evaluation.intervals import Interval, TestSizes
from heterophily.evaluation.per_class import ClassScore
from heterophily.evaluation.scores import SCORE_TITLES
from heterophily.report.tables import percent, plain

if TYPE_CHECKING:
    from heterophily.comparison.compare import Comparison
    from heterophily.runs.cell import CellResult

SMALL = 500
"""On fewer test nodes, and with a single split, a score is written with its 95 % interval."""

MOST_CLASSES = 12
"""With more classes the table of classes is left to ``--json`` and the report."""

UNDEFINED = "undefined (see the note)"


def plus_minus(mean: float | None, std: float | None) -> str:
    """Write a fraction and its standard deviation.

    >>> plus_minus(0.5, 0.01), plus_minus(1.0, None)
    ('0.5000 ± 0.0100', '1.0000')
    """
    if mean is None:
        return UNDEFINED
    return f"{mean:.4f}" if std is None else f"{mean:.4f} ± {std:.4f}"


def score_text(found: ScoreValue, sizes: TestSizes, *, with_nodes: bool = True) -> str:
    """Write a score: mean and deviation over splits, and the interval where nodes are few.

    A deviation of zero is left out: it would look like certainty. ``with_nodes`` adds the number
    of test nodes.

    >>> import numpy as np
    >>> six = TestSizes(np.array([3.0, 3.0]), 1, 6, 0.3)
    >>> score_text(ScoreValue((0.95,), Interval(0.61, 1.0)), six)
    '0.9500 (95 % interval 0.61 to 1.00, 6 test nodes)'
    """
    if found.mean is None:
        return UNDEFINED
    std = found.std if len(found.values) > 1 and (found.std or 0.0) > 0 else None
    text = plus_minus(found.mean, std)
    if sizes.nodes >= SMALL and len(found.values) > 1:
        return text
    nodes = f"{sizes.nodes} test nodes"
    if len(found.values) > 1:
        nodes += f" in each of {len(found.values)} splits"
    facts = ["no interval" if found.interval is None else interval_text(found.interval)]
    facts += [nodes] if with_nodes else []
    return f"{text} ({', '.join(facts)})"


def interval_text(interval: Interval) -> str:
    """Write the interval of a score."""
    return f"95 % interval {interval.low:.2f} to {interval.high:.2f}"


def against_text(found: Against, model: str = "") -> str:
    """Say whether a model is better than a baseline, by how many points, with the interval.

    >>> trees = Against("trees", "trees", "accuracy", None, 0.003,
    ...                 Interval(-0.011, 0.017), 10, 10)
    >>> against_text(trees)
    'not clearly better than trees: +0.3 points, 95 % interval -1.1 to +1.7 (10 splits)'
    """
    subject = f"{model} is " if model else ""
    if found.absence:
        return f"no comparison with {found.title}: {found.absence}"
    if found.difference is None:
        return f"no comparison with {found.title}: {SCORE_TITLES[found.score]} is undefined"
    title = found.title
    if found.value is not None and found.value.mean is not None:
        title += f" ({SCORE_TITLES[found.score]} {found.value.mean:.4f})"
    splits = "one split" if found.splits == 1 else f"{found.splits} splits"
    if found.splits < found.of_splits:
        splits = f"the first {found.splits} of {found.of_splits} splits, to save time"
    points = f"{100 * found.difference:+.1f} points"
    if found.interval is None:
        return f"{subject}compared with {title}: {points}, no interval ({splits})"
    verdict = "better than" if found.is_better else "not clearly better than"
    if found.interval.high < 0:
        verdict = "worse than"
    low, high = 100 * found.interval.low, 100 * found.interval.high
    return (
        f"{subject}{verdict} {title}: {points}, 95 % interval {low:+.1f} to {high:+.1f} ({splits})"
    )


def evaluation_lines(found: Evaluation) -> list[str]:
    """Return an evaluation as lines: scores, the one that decides first; baselines; classes."""
    names = [found.score, *(name for name in found.scores if name != found.score)]
    lines = [
        _line(
            f"test {SCORE_TITLES[name]}",
            score_text(found.scores[name], found.sizes, with_nodes=name == found.score),
        )
        for name in names
    ]
    untested = [repr(each.name) for each in found.classes if each.nodes == 0]
    if untested:
        lines.append(
            f"  No test node is of class {', '.join(untested[:MOST_CLASSES])}: these scores say "
            "nothing about it."
        )
    lines += [f"  {capital(against_text(base))}." for base in found.baselines]
    if found.threshold is not None:
        chosen, name = found.threshold, found.classes[found.threshold.positive].name
        lines.append(
            f"  If nodes with a probability of at least {chosen.value:.2f} are called {name!r} (a "
            f"limit chosen on validation nodes): F1 {chosen.scores['f1']:.4f}, precision "
            f"{chosen.scores['precision']:.4f}, recall {chosen.scores['recall']:.4f}, balanced "
            f"accuracy {chosen.scores['balanced-accuracy']:.4f}."
        )
    if len(found.classes) <= MOST_CLASSES:
        lines += ["", *(f"  {line}" for line in class_table(found.classes).splitlines())]
    return lines


def comparison_rows(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a comparison, in percent: models, best first, then baselines."""
    title = SCORE_TITLES[found.score]
    is_small = found.sizes is not None and found.sizes.nodes < SMALL
    other = found.score != "accuracy"
    header = ["model", title, *["95 % interval"] * is_small, *["accuracy"] * other]
    rows = []
    for cell in found.models:
        value = found.values[cell.row]
        row = [cell.row, _percent(value), *[_bounds(value)] * is_small]
        accuracy = ScoreValue(tuple(v for v in cell.test if v is not None))
        rows.append([*row, *[_percent(accuracy)] * other, *_cost(cell)])
    for base in found.baselines.get(found.best.row, ()):
        value = base.value or ScoreValue(())
        text = base.absence or _percent(value)
        row = [f"(baseline) {base.title}", text, *[_bounds(value)] * is_small]
        rows.append([*row, *[""] * other, "", ""])
    return [*header, "epochs", "ms per epoch"], rows


def comparison_sentences(found: Comparison) -> list[str]:
    """Say how the best model stands against each baseline."""
    model = found.best.row
    texts = [against_text(base, model) for base in found.baselines.get(model, ())]
    return [f"{text if text.startswith(model) else capital(text)}." for text in texts]


def _percent(value: ScoreValue) -> str:
    return "undefined" if value.mean is None else percent(value.mean, value.std or None)


def _bounds(value: ScoreValue) -> str:
    if value.interval is None:
        return ""
    return f"{100 * value.interval.low:.0f} to {100 * value.interval.high:.0f}"


def _cost(cell: CellResult) -> list[str]:
    return [
        "" if cell.epochs is None else f"{cell.epochs:.0f}",
        "" if cell.ms_per_epoch is None else f"{cell.ms_per_epoch:.2f}",
    ]


def class_table(classes: Sequence[ClassScore]) -> str:
    """Return precision and recall of each class as aligned columns."""
    header = ["class", "test nodes", "precision", "recall", "F1"]
    return plain(header, class_rows(classes))


def class_rows(classes: Sequence[ClassScore]) -> list[list[str]]:
    """Return a row of texts for each class; what cannot be computed is said to be undefined."""
    return [
        [
            found.name,
            str(found.nodes),
            *(
                "undefined" if value is None else f"{value:.4f}"
                for value in (found.precision, found.recall, found.f1)
            ),
        ]
        for found in classes
    ]


def _line(name: str, text: str) -> str:
    return f"  {name:<22} {text}"
