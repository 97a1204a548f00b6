"""Tables ours beside theirs: Markdown, plain text, and a table for the terminal. Percent here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from heterophily.data.wording import count
from heterophily.studies.remarks import CellRemark
from heterophily.studies.study import PROTOCOLS

if TYPE_CHECKING:
    from rich.table import Table

    from heterophily.paper.printed import Published
    from heterophily.runs.cell import CellResult
    from heterophily.statistics.paired_tests import PairedTest
    from heterophily.studies.table import TableResult

NOTHING = "-"
EARLIER = "°"  # marks a value that earlier numerics of an engine gave
FAR = "*"  # marks a value more than one published standard deviation from the paper's


def percent(mean: float | None, std: float | None = None) -> str:
    """Write a fraction, with its spread, in percent.

    >>> percent(0.9475, 0.038), percent(0.5), percent(None)
    ('94.75 ± 3.80', '50.00', '-')
    """
    if mean is None:
        return NOTHING
    return f"{100 * mean:.2f}" if std is None else f"{100 * mean:.2f} ± {100 * std:.2f}"


def printed(value: Published | None) -> str:
    """Write a published value in percent."""
    return NOTHING if value is None else percent(value.mean, value.std)


def cell_text(cell: CellResult | None) -> str:
    """Write our value of a cell and its marks (:data:`FAR`, :data:`EARLIER`, counts if partial)."""
    if cell is None or cell.wanted == 0:
        return NOTHING
    if None in cell.test:
        return "diverged"
    if not cell.test:
        return f"0/{cell.wanted}"
    partial = "" if cell.is_complete else f" ({len(cell.test)}/{cell.wanted})"
    marks = (FAR if cell.is_within is False else "") + (EARLIER if cell.earlier_numerics else "")
    return percent(cell.mean, cell.std) + marks + partial


def grid(result: TableResult, *, measure: str = "accuracy") -> tuple[list[str], list[list[str]]]:
    """Return header and rows of texts; each model has a row of ours and a row of the paper's.

    ``measure`` is ``"accuracy"`` or ``"time"`` (milliseconds per epoch).
    """
    has_ranks = result.has_ranks and measure == "accuracy"
    header = ["model", "", *result.datasets, *(["rank"] if has_ranks else [])]
    ranks = result.ranks() if has_ranks else {}
    printed_ranks = result.ranks(published=True) if has_ranks else {}
    rows = []
    for name in result.rows:
        cells = [result.cell(name, dataset) for dataset in result.datasets]
        if measure == "time":
            ours = [NOTHING if c is None else _ms(c.ms_per_epoch) for c in cells]
            theirs = [NOTHING if c is None else _ms(c.published_ms) for c in cells]
        else:
            ours = [cell_text(cell) for cell in cells]
            theirs = [NOTHING if c is None else printed(c.published) for c in cells]
        rank = [_rank(ranks[name])] if has_ranks else []
        rows.append([name, "ours", *ours, *rank])
        best = [None if c is None or measure == "time" else c.by_test for c in cells]
        if any(best):
            texts = [NOTHING if b is None else percent(b.mean, b.std) for b in best]
            rows.append(["", "best by test", *texts, *([NOTHING] if has_ranks else [])])
        if any(text != NOTHING for text in theirs):
            known = [_rank(printed_ranks[name])] if has_ranks else []
            rows.append(["", "paper", *theirs, *known])
    return header, rows


def _ms(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def _rank(value: float | None) -> str:
    return NOTHING if value is None or value != value else f"{value:.2f}"


def summary_lines(result: TableResult) -> list[str]:
    """Say under which protocol the table was made and how far it agrees with the paper's."""
    facts = result.summary()
    lines = [
        f"Protocol {result.protocol}: {PROTOCOLS.get(result.protocol, 'your own')}.",
        f"Cells run: {facts['complete']} of {facts['cells']} ({facts['runs']:,} runs).",
    ]
    if engines := result.engines():
        lines.append(f"Trained with the engine {' and '.join(engines)}.")
    lines += numerics_lines(result)
    if facts["beside_published"]:
        lines.append(
            f"{facts['within_one_std']} of {facts['of_with_std']} lie within one published "
            f"standard deviation ({FAR} marks the others), {facts['within_two_std']} within two; "
            f"mean difference to the paper {100 * facts['mean_difference']:+.2f} points (mean "
            f"absolute difference {100 * facts['mean_size_of_difference']:.2f})."
        )
    if facts["gain_by_test"] is not None:
        lines.append(_gain(facts))
    if facts["rank_correlation"] is not None:
        each = [f"{d} {r:.2f}" for d, r in facts["rank_correlations"].items() if r is not None]
        lines.append(
            "Order of the models beside the paper's: Spearman correlation "
            f"{facts['rank_correlation']:.2f}, mean over the datasets ({', '.join(each)})."
        )
    if result.has_ranks and facts["beside_published"]:
        lines.append("Ranks, ours and the paper's, are among the cells that both have.")
    if facts["median_time_ratio"] is not None:
        lines.append(
            "An epoch in the paper, on its machine, took "
            f"{facts['median_time_ratio']:.1f} times as long as ours (median over the cells)."
        )
    return lines


def _gain(facts: Mapping[str, Any]) -> str:
    """Say what choosing the settings on the test nodes would add."""
    beside = facts["mean_difference_by_test"]
    then = (
        "" if beside is None else f"; the mean difference to the paper is then {100 * beside:+.2f}"
    )
    return (
        'Lines "best by test": the setting of the same search with the best mean test accuracy, '
        "which is too good an estimate. Mean over "
        f"{count(facts['chosen_twice'], 'cell')}: {100 * facts['gain_by_test']:.2f} points above "
        f"ours{then}."
    )


def numerics_lines(result: TableResult) -> list[str]:
    """Say how many cells each version of an engine's numerics gave, if some are not today's."""
    if not any(cell.earlier_numerics for cell in result.cells):
        return []
    counts = Counter(" and ".join(cell.numerics) for cell in result.cells if cell.numerics)
    each = ", ".join(f"{name} in {count}" for name, count in sorted(counts.items()))
    return [
        f"Cells by engine and version of its numerics: {each}. {EARLIER} marks earlier versions: "
        "today's engine does not repeat those numbers to the last digit."
    ]


_TITLES = {
    "no-model": "Not models of this package",
    "borrowed": "No optimum is printed for these rows, that of the model in brackets is used",
    "no-optimum": "No optimum is printed for these cells, --protocol validated searches one",
}
"""Kinds of remarks that are told together."""


def remark_lines(result: TableResult) -> list[str]:
    """Return the remarks; those that differ only in their names become one line."""
    groups: dict[str, list[str]] = {kind: [] for kind in _TITLES}
    others = []
    for remark in result.remarks:
        if isinstance(remark, CellRemark) and remark.kind in groups:
            beside = remark.dataset or remark.detail
            groups[remark.kind].append(f"{remark.row} ({beside})" if beside else remark.row)
        else:
            others.append(f"{remark}.")
    told = [f"{_TITLES[kind]}: {', '.join(names)}." for kind, names in groups.items() if names]
    return told + others


def markdown(result: TableResult) -> str:
    """Return the whole page of a table: where it comes from, how far it agrees, the numbers."""
    place = f" ({result.place} of the paper)" if result.place else ""
    parts = [
        f"# {result.title}",
        "",
        f"Study `{result.study}`{place}, protocol **{result.protocol}**.",
        "",
        *(f"- {line}" for line in summary_lines(result)),
        *(f"- {line}" for line in origin_lines(result)),
        "",
        "Test accuracy in percent, mean and standard deviation over the splits:",
        "",
        _markdown_grid(*grid(result)),
        "",
    ]
    if any(cell.published_ms is not None for cell in result.cells):
        parts += ["Milliseconds per epoch:", "", _markdown_grid(*grid(result, measure="time")), ""]
    parts += [f"- {line}" for line in remark_lines(result)]
    return "\n".join(parts).rstrip() + "\n"


def data_text(result: TableResult) -> str:
    """Return the data of a table as JSON, one cell a line: every accuracy, every key of a run."""
    content = result.to_dict()
    cells = ",\n ".join(json.dumps(cell) for cell in content.pop("cells"))
    head = json.dumps(content, indent=1).removesuffix("\n}")
    return f'{head},\n "cells": [\n {cells}\n ]\n}}\n'


def origin_lines(result: TableResult) -> list[str]:
    """Say what made the table: command, versions, days, hours of training."""
    days = sorted({day for cell in result.cells for day in cell.finished})
    lines = [f"Command: `{result.command}`"] if result.command else []
    if versions := result.versions():
        lines.append(f"Versions: {', '.join(versions)}.")
    if days:
        span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        hours = result.summary()["seconds"] / 3600
        lines.append(f"Trained {span}, {hours:.2f} hours of one worker.")
    return lines


def _markdown_grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * 2 + ["---:"] * (len(header) - 2), *rows]
    return "\n".join("| " + " | ".join(_escaped(text) for text in line) + " |" for line in lines)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def plain(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return aligned columns, for files and pipes.

    >>> print(plain(["model", "x"], [["gcn", "1"], ["acm-gcn", "10"]]))
    model     x
    gcn       1
    acm-gcn  10
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, *rows):
        cells = [text.rjust(width) for text, width in zip(row, widths, strict=True)]
        cells[0] = row[0].ljust(widths[0])
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def terminal(header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> Table:
    """Return a table for a terminal; rows without a name belong to the one above."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, box=SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for number, column in enumerate(header):
        table.add_column(column, justify="left" if number < 2 else "right", no_wrap=True)
    for row in rows:
        style = "dim" if not row[0] else ""
        table.add_row(*(Text(text, style=style) for text in row))
    return table


def show(result: TableResult, *, stream: Any = None) -> None:
    """Print a table and its summary, for people on a terminal, as plain columns elsewhere."""
    from rich.console import Console

    console = Console(file=stream)
    measures = {"accuracy": "test accuracy in percent"}
    if any(cell.published_ms is not None for cell in result.cells):
        measures["time"] = "milliseconds per epoch"
    for measure, unit in measures.items():
        title = f"{result.title} ({unit})"
        header, rows = grid(result, measure=measure)
        if console.is_terminal:
            console.print(terminal(header, rows, title=title))
        else:
            print(f"{title}\n\n{plain(header, rows)}\n", file=stream)
    for line in summary_lines(result) + remark_lines(result):
        print(line, file=stream)


def statistics_lines(result: TableResult) -> list[str]:
    """Return the win/tie/loss matrix and the critical-difference diagram as text."""
    wins = result.wins()
    names = [name for name in result.rows if any(name in pair for pair in wins)]
    lines = []
    if names:
        rows = [
            [name, *("/".join(map(str, wins.get((name, other), ("", "")))) for other in names)]
            for name in names
        ]
        for number, row in enumerate(rows):
            row[number + 1] = NOTHING
        lines += ["Wins/ties/losses of the row against the column, over the datasets:", ""]
        lines += [plain(["", *names], rows), ""]
    diagram = result.critical_difference()
    if diagram is not None:
        lines.append(
            f"Critical difference of mean ranks {diagram.difference:.2f} (Nemenyi, 5 %, "
            f"{diagram.datasets} datasets; Friedman p = {diagram.p_value:.4f}):"
        )
        marks = "abcdefghijklmnopqrstuvwxyz"
        for name, rank in diagram.ranks.items():
            inside = [m for m, g in zip(marks, diagram.groups, strict=False) if name in g]
            lines.append(f"  {rank:6.2f}  {name}  {''.join(inside)}".rstrip())
        lines.append("Between models that share a letter there is no clear difference.")
    return lines


def paired_rows(tests: Sequence[PairedTest]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of paired tests, the surest difference first."""
    header = ["better", "than", "by", "p", "p (Holm)", "p (signed rank)", ""]
    rows = []
    for test in sorted(tests, key=lambda test: (test.corrected, -abs(test.difference))):
        names = [test.first, test.second]
        if test.difference < 0:
            names.reverse()
        numbers = [f"{p:.4f}" for p in (test.p_value, test.corrected, test.wilcoxon)]
        verdict = "clear difference" if test.is_significant() else "no clear difference"
        rows.append([*names, f"{100 * abs(test.difference):.2f}", *numbers, verdict])
    return header, rows
