"""Tables as text."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from studies.test_table import TABLE, cell

from heterophily.report.live import Watched, duration, watching
from heterophily.report.tables import (
    cell_text,
    data_text,
    grid,
    markdown,
    paired_rows,
    remark_lines,
    show,
    statistics_lines,
    summary_lines,
)
from heterophily.runs.cell import BestByTest
from heterophily.statistics.paired_tests import all_pairs
from heterophily.studies.remarks import CellRemark


def test_a_cell_shows_distance_progress_and_divergence() -> None:
    texts = [cell_text(found) for found in TABLE.cells]
    assert texts == [
        *("85.00 ± 5.00", "70.00 ± 0.00*", "55.00 ± 5.00", "50.00 ± 0.00"),
        *("80.00 ± 10.00 (2/3)", "diverged"),
    ]
    assert cell_text(cell("a", "x", (), wanted=3)) == "0/3"
    assert cell_text(None) == "-"


def test_ours_stands_above_the_papers() -> None:
    header, rows = grid(TABLE)
    assert header == ["model", "", "x", "y"]
    assert rows[0] == ["a", "ours", "85.00 ± 5.00", "50.00 ± 0.00"]
    assert rows[1] == ["", "paper", "84.00 ± 2.00", "-"]


def test_what_choosing_on_the_test_nodes_would_print_stands_below_ours() -> None:
    best = BestByTest({"lr": 2}, 3, 0.9, 0.01)
    table = replace(TABLE, cells=(replace(TABLE.cells[0], by_test=best), *TABLE.cells[1:]))
    _, rows = grid(table)
    assert rows[1] == ["", "best by test", "90.00 ± 1.00", "-"]
    assert [row[1] for row in rows].count("best by test") == 1
    assert "Mean over 1 cell: 5.00 points above ours; the mean difference to the paper is then" in (
        markdown(table)
    )


def test_every_form_names_the_protocol() -> None:
    for protocol in ("published", "validated"):
        result = replace(TABLE, protocol=protocol)
        assert f"Protocol {protocol}:" in summary_lines(result)[0]
        assert f"protocol **{protocol}**" in markdown(result)
        stream = io.StringIO()
        show(result, stream=stream)
        assert f"Protocol {protocol}:" in stream.getvalue()


def test_markdown_is_one_table_with_escaped_marks() -> None:
    lines = markdown(TABLE).splitlines()
    assert "| b | ours | 70.00 ± 0.00\\* | 80.00 ± 10.00 (2/3) |" in lines
    assert lines.count("| --- | --- | ---: | ---: |") == 1


def test_times_stand_beside_those_of_the_paper() -> None:
    timed = replace(TABLE, cells=(cell("a", "x", (0.9,), ms_per_epoch=1.234, published_ms=8.25),))
    _, rows = grid(timed, measure="time")
    assert rows[0][:3] == ["a", "ours", "1.23"]
    assert rows[1][:3] == ["", "paper", "8.25"]
    assert "Milliseconds per epoch:" in markdown(timed)
    assert summary_lines(timed)[-1] == (
        "An epoch in the paper, on its machine, took 6.7 times as long as ours (median over the "
        "cells)."
    )


def test_the_statement_counts_cells_and_compares_orders() -> None:
    assert summary_lines(TABLE)[1:] == [
        "Cells run: 4 of 6 (12 runs).",
        "1 of 2 lie within one published standard deviation (* marks the others), 2 within two; "
        "mean difference to the paper -1.33 points (mean absolute difference 5.33).",
        "Order of the models beside the paper's: Spearman correlation 1.00, mean over the datasets "
        "(x 1.00).",
    ]


def test_the_data_is_json_with_one_cell_a_line() -> None:
    text = data_text(TABLE)
    assert json.loads(text) == json.loads(json.dumps(TABLE.to_dict()))
    assert sum(line.startswith(' {"row"') for line in text.splitlines()) == len(TABLE.cells)


def test_the_page_says_what_made_it() -> None:
    facts = {"versions": ("torch 1", "numpy 2"), "finished": ("2026-01-02",), "engine": "native"}
    made = cell("a", "x", (0.9,), seconds=1800.0, **facts)
    later = cell("b", "x", (0.8,), versions=("torch 1",), finished=("2026-01-04",), engine="torch")
    page = markdown(
        replace(TABLE, cells=(made, later), place="Table 9", command="heterophily paper table t")
    )
    for line in (
        "Study `mine` (Table 9 of the paper), protocol **published**.",
        "- Trained with the engine native and torch.",
        "- Command: `heterophily paper table t`",
        "- Versions: numpy 2, torch 1.",
        "- Trained 2026-01-02 to 2026-01-04, 0.50 hours of one worker.",
    ):
        assert line in page.splitlines()


def test_remarks_of_one_kind_are_told_in_one_line() -> None:
    remarks = (
        CellRemark("no-model", "p"),
        CellRemark("borrowed", "a", detail="b"),
        "other",
        CellRemark("no-model", "q"),
        CellRemark("no-optimum", "c", "x", "fixed splits"),
        CellRemark("no-optimum", "c", "y", "fixed splits (NA in its table)"),
    )
    assert remark_lines(replace(TABLE, remarks=remarks)) == [
        "Not models of this package: p, q.",
        "No optimum is printed for these rows, that of the model in brackets is used: a (b).",
        "No optimum is printed for these cells, --protocol validated searches one: c (x), c (y).",
        "other.",
    ]


def test_paired_tests_name_the_better_model_first() -> None:
    tests = all_pairs({"a": [0.1, 0.2, 0.1], "b": [0.8, 0.9, 0.9]}, test_to_train=1 / 3)
    _, rows = paired_rows(tests)
    assert rows[0][:3] == ["b", "a", "73.33"]
    assert rows[0][-1] == "clear difference"


def test_statistics_show_the_matrix_and_the_diagram() -> None:
    whole = replace(
        TABLE,
        cells=tuple(
            cell(row, dataset, (base, base + 0.01) * 5)
            for row, base in (("a", 0.9), ("b", 0.5), ("c", 0.1))
            for dataset in ("x", "y")
        ),
    )
    text = "\n".join(statistics_lines(whole))
    assert "2/0/0" in text
    assert "Critical difference of mean ranks 2.34" in text
    assert "1.00  a" in text


def test_progress_is_one_line_per_finished_cell_without_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    watched = [
        Watched("a", "x", frozenset({"1", "2"}), lambda: TABLE.cells[0]),
        Watched("b", "x", frozenset({"3"}), lambda: TABLE.cells[1]),
    ]
    with watching(watched, title="t", is_terminal=False) as watch:
        watch({"1"}, 3)
        watch({"1", "3"}, 3)
        watch({"1", "2", "3"}, 3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1 of 3 runs"
    assert lines[1].startswith("x  b  70.00 ± 0.00* (paper 80.00 ± 5.00)   2 of 3 runs, about")
    assert lines[2].startswith("x  a  85.00 ± 5.00 (paper 84.00 ± 2.00)   3 of 3 runs")


def test_progress_is_a_table_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("FORCE_COLOR", "1")
    watched = [Watched("a", "x", frozenset({"1", "2"}), lambda: TABLE.cells[0])]
    with watching(watched, title="growing", is_terminal=True) as watch:
        watch({"1"}, 2)
    assert "growing" in stream.getvalue()
    assert "1/2" in stream.getvalue()


def test_durations_are_for_people() -> None:
    assert [duration(s) for s in (0.4, 89, 100, 5399, 9000)] == [
        *("0 s", "89 s", "2 min", "90 min", "2.5 h")
    ]


def test_tables_open_without_torch() -> None:
    script = (
        "import sys, heterophily.report.tables, heterophily.report.live\n"
        "import heterophily.runs.stores.sqlite, heterophily.studies.table\n"
        "import heterophily.runs.complete, heterophily.runs.transfer\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
