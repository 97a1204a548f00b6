"""Exports that could be read wrongly without a word: the right graph, or one sentence."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from heterophily import Graph, read_tables
from heterophily.data.wording import Doubt
from heterophily.errors import InputError

ROWS = 60
EDGES = [(k % 50, (k * k + 7) % ROWS) for k in range(ROWS)]
RIGHT = sorted({(min(u, v), max(u, v)) for u, v in EDGES if u != v})


def text(rows: list[list[Any]], delimiter: str = ",") -> str:
    held = io.StringIO(newline="")
    csv.writer(held, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return held.getvalue()


def nodes(**columns: Any) -> list[list[Any]]:
    """Return a table of ids 0, 1, ..., a label and further columns, each a function of the row."""
    rows = [[k, "xy"[k % 2], *(cell(k) for cell in columns.values())] for k in range(ROWS)]
    return [["id", "label", *columns], *rows]


def read(folder: Path, edges: str, table: str, suffix: str = "csv", **options: Any) -> Graph:
    (folder / f"e.{suffix}").write_text(edges)
    (folder / f"n.{suffix}").write_text(table)
    return read_tables(folder / f"e.{suffix}", folder / f"n.{suffix}", **options)


def pairs(graph: Graph) -> list[tuple[int, int]]:
    ids = graph.node_ids
    assert ids is not None
    coo = graph.adjacency.tocoo()
    return sorted((int(ids[u]), int(ids[v])) for u, v in zip(*coo.coords, strict=True) if u < v)


@pytest.mark.parametrize(
    "header",
    [
        ["amount", "count", "sender_key", "receiver_key"],
        ["count", "amount", "PID1", "PID2"],
        ["step", "fee", "nameOrig", "nameDest"],
    ],
)
def test_small_numbers_before_the_ends_are_told_apart_by_names(
    header: list[str], tmp_path: Path
) -> None:
    rows = [[(5 * k) % 50, k % 9, u, v] for k, (u, v) in enumerate(EDGES)]
    assert pairs(read(tmp_path, text([header, *rows]), text(nodes()))) == RIGHT


def test_a_number_of_each_row_in_any_order_is_no_end(tmp_path: Path) -> None:
    rows = [[(11 * k + 3) % ROWS, u % 30, v % 30] for k, (u, v) in enumerate(EDGES)]
    graph = read(tmp_path, text([["row", "p", "q"], *rows]), text(nodes()))
    assert "columns 'p', 'q'" in graph.remarks[0]


def test_ends_that_could_be_others_are_doubted_or_asked_for(tmp_path: Path) -> None:
    rows = [[u % 30, v % 30, k % 30] for k, (u, v) in enumerate(EDGES)]
    graph = read(tmp_path, text([["p", "q", "via"], *rows]), text(nodes()))
    doubts = [remark for remark in graph.remarks if isinstance(remark, Doubt)]
    assert "'p', 'q' are taken for the ends because they stand first; 'via' holds" in doubts[0]
    graph = read(tmp_path, text([["amount", "p", "q"], *rows]), text(nodes()))
    assert "columns 'p', 'q' (they hold ids of n.csv)" in graph.remarks[0]
    rows = [[k % 9, *row] for k, row in enumerate(rows)]
    with pytest.raises(InputError, match=r"columns 'p', 'q', 'via' all hold ids of n.csv; say"):
        read(tmp_path, text([["amount", "p", "q", "via"], *rows]), text(nodes()))


def test_ids_as_large_floats_are_refused() -> None:
    ids = [float(2**60 + k) for k in range(ROWS)]
    expected = "column 'id': numbers from 9,007,199,254,740,992 on are rounded in type doub"
    with pytest.raises(InputError, match=expected):
        read_tables(
            pa.table({"source": ids, "target": ids[::-1]}),
            pa.table({"id": ids, "label": ["x", "y"] * (ROWS // 2)}),
        )


def test_names_of_rows_as_r_writes_them(tmp_path: Path) -> None:
    edges = '"from" "to"\n' + "".join(f'"{k}" "g{u}" "g{v}"\n' for k, (u, v) in enumerate(EDGES))
    rows = "".join(f'"g{k}" {k / 7:.3f} "{"xy"[k % 2]}"\n' for k in range(ROWS))
    graph = read(tmp_path, edges, '"expr" "status"\n' + rows, "txt", label="status")
    assert graph.num_nodes == ROWS
    assert graph.num_edges == len(RIGHT)
    assert graph.feature_names == ("expr",)
    assert any("the first is taken for the name of the row" in text for text in graph.remarks)


def test_a_comma_too_many_in_every_row_is_no_name_of_rows(tmp_path: Path) -> None:
    rows = "".join(f"{k},{'xy'[k % 2]},Lee, Ann\n" for k in range(ROWS))
    with pytest.raises(InputError, match="4 cells, expected 3"):
        read(tmp_path, text([["source", "target"], *EDGES]), "id,label,name\n" + rows)


def test_a_delimiter_at_the_end_of_each_row_and_empty_rows_at_the_end(tmp_path: Path) -> None:
    table = text(nodes(age=lambda k: k % 9)).replace("\n", ",\n").replace("age,", "age")
    edges = text([["source", "target"], *EDGES]) + ",\n" * 3
    graph = read(tmp_path, edges, table + ",,,\n , ,,\n")
    assert pairs(graph) == RIGHT
    assert graph.feature_names == ("age",)
    assert "e.csv: 3 empty rows at the end left out" in graph.remarks
    assert "n.csv: 2 empty rows at the end left out" in graph.remarks


def test_an_empty_row_between_others_is_still_refused(tmp_path: Path) -> None:
    table = text(nodes(age=lambda k: k % 9))
    with pytest.raises(InputError, match=r"line 2 .*empty id"):
        read(tmp_path, text([["source", "target"], *EDGES]), table.replace("\n", "\n,,\n", 1))


def test_the_line_that_tells_excel_the_delimiter(tmp_path: Path) -> None:
    edges = "sep=;\r\n" + text([["source", "target"], *EDGES], ";")
    graph = read(tmp_path, edges, '"sep=;"\n' + text(nodes(age=lambda k: f"{k},5"), ";"))
    assert pairs(graph) == RIGHT
    assert "e.csv: the first line announces ';'" in graph.remarks


def test_a_printed_table_is_refused(tmp_path: Path) -> None:
    drawn = " source | target \n--------+--------\n 1 | 2\n"
    with pytest.raises(InputError, match=r"line 2: '--------\+--------' is a drawn line"):
        read(tmp_path, drawn, drawn, "txt")


@pytest.mark.parametrize(
    ("spelt", "what"),
    [
        ("+{}", "blanks and signs"),
        ("{{A-{}}}", "blanks and signs"),
        ("user_{}", "what stands beside the number"),
    ],
)
def test_ids_in_another_spelling_are_explained(spelt: str, what: str, tmp_path: Path) -> None:
    plain = "a{}" if "A" in spelt else "{}"
    edges = [[plain.format(u), plain.format(v)] for u, v in EDGES]
    table = [[spelt.format(k), "xy"[k % 2]] for k in range(ROWS)]
    with pytest.raises(InputError, match=f"the ids differ in {what} .*; write them alike"):
        read(tmp_path, text([["from", "to"], *edges]), text([["id", "label"], *table]))


@pytest.mark.parametrize("name", ["n.sql", "n.json", "n.sas7bdat"])
def test_files_of_other_kinds_say_what_to_do(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("[]")
    with pytest.raises(InputError, match=f"^{name}: .*(export|pandas)"):
        read_tables(tmp_path / name)


@pytest.mark.parametrize("yes", [("1", "2"), ("Yes", "No"), ("TRUE", "FALSE"), ("0.0", "1.0")])
@pytest.mark.parametrize("none", ["NA", "unknown", "?", "None"])
def test_no_label_beside_numbers_or_yes_and_no(
    yes: tuple[str, str], none: str, tmp_path: Path
) -> None:
    table = [["id", "label"], *([k, (*yes, none)[k % 3]] for k in range(ROWS))]
    graph = read(tmp_path, text([["source", "target"], *EDGES]), text(table))
    assert graph.num_classes == 2
    assert graph.labels is not None
    assert (graph.labels < 0).sum() == ROWS // 3
    assert f"n.csv, column 'label': {none!r} taken for no label: 20 nodes" in graph.remarks
    graph = read_tables(tmp_path / "e.csv", tmp_path / "n.csv", labels_are_classes=True)
    assert graph.num_classes == 3


def test_a_word_for_no_label_beside_other_words_is_a_class_with_a_doubt(tmp_path: Path) -> None:
    table = [["id", "label"], *([k, ("DE", "FR", "NA")[k % 3]] for k in range(ROWS))]
    graph = read(tmp_path, text([["source", "target"], *EDGES]), text(table))
    assert graph.class_names == ("DE", "FR", "NA")
    assert any("'NA' is a class like the others" in remark for remark in graph.remarks)


KINDS = {
    "a missing code beside numbers": (lambda k: ".A" if k % 3 == 0 else 20 + k, "number"),
    "below the limit of detection": (lambda k: "<0.05" if k % 3 == 0 else k / 7, "number"),
    "errors of a spreadsheet": (lambda k: ("#REF!", "#DIV/0!", k / 7)[k % 3], "category"),
    "few errors of a spreadsheet": (lambda k: ("#REF!", k / 7, k / 3)[k % 3], "number"),
    "sizes and a word": (lambda k: ("36", "38", "XL")[k % 3], "category"),
    "JSON lists": (lambda k: f"[{k}, {k % 7}, {k % 3}]", "text"),
    "few JSON lists": (lambda k: f"[22, {(80, 443)[k % 2]}]", "category"),
    "milliseconds": (lambda k: 1_600_000_000_000 + (k * 7919 % 60) * 10**7, "date"),
}


@pytest.mark.parametrize("case", KINDS)
def test_columns_that_were_taken_for_another_kind(case: str, tmp_path: Path) -> None:
    cell, kind = KINDS[case]
    table = nodes(first_seen_ms=cell)
    graph = read(tmp_path, text([["source", "target"], *EDGES]), text(table))
    assert graph.encoder is not None
    assert graph.encoder.kinds == {"first_seen_ms": kind}
