"""Exports as practitioners have them: the right graph, and predictions on another such export."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heterophily import Graph, read_tables
from heterophily.errors import InputError

ROWS = 60
Rows = list[list[Any]]


def links(name: Callable[[int], str] = str) -> Rows:
    ends = [(k, (k + 1) % ROWS) for k in range(ROWS)]
    return [["source", "target"], *([name(u), name(v)] for u, v in ends)]


def table(header: str, row: Callable[[int], list[Any]]) -> Rows:
    return [header.split(), *(row(k) for k in range(ROWS))]


def text(rows: Rows, delimiter: str = ",", encoding: str = "utf-8") -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter).writerows(rows)
    return stream.getvalue().encode(encoding)


def read(folder: Path, edges: bytes, nodes: bytes, **options: Any) -> Graph:
    (folder / "e.csv").write_bytes(edges)
    (folder / "n.csv").write_bytes(nodes)
    return read_tables(folder / "e.csv", folder / "n.csv", **options)


def label(k: int) -> str:
    return "ab"[k % 2]


KINDS = {
    "NULL of MySQL in a column of numbers": (
        "id x label", lambda k: [k, "\\N" if k % 3 else f"{k}.25", label(k)], "number"),
    "zip codes": (
        "id x label", lambda k: [k, ("01067", "10115", "20095")[k % 3], label(k)], "category"),
    "numbers with a leading zero here and there": (
        "id x label", lambda k: [k, f"0{k}" if k % 7 == 0 else 37 * k % 1000, label(k)], "number"),
    "phone numbers with brackets": (
        "id x label", lambda k: [k, f"(030) {123 + k} {456 + k}", label(k)], "id"),
    "phone numbers": (
        "id x label", lambda k: [k, f"+49 170 {1234567 + 891 * k}", label(k)], "id"),
    "thousands with blanks": (
        "id x label", lambda k: [k, f"{k % 9 + 1} {100 + k} {200 + k},50", label(k)], "number"),
    "euros": (
        "id x label", lambda k: [k, f"€1.{100 + k},50", label(k)], "number"),
    "minus behind the number, as SAP writes it": (
        "id x label", lambda k: [k, f"{k % 9 + 1}.{100 + k},50{'-' * (k % 2)}", label(k)],
        "number"),
    "accounts with brackets and currencies": (
        "id x label", lambda k: [k, ("-$1,{}.50", "(2,{}.00)", "$3,{}")[k % 3].format(100 + k),
                                 label(k)], "number"),
    "seconds since 1970": (
        "id created_at label", lambda k: [k, 1_600_000_000 + 86_400 * k, label(k)], "date"),
    "milliseconds since 1970": (
        "id lastLoginTime label", lambda k: [k, 1_600_000_000_123 + 86_400_000 * k, label(k)],
        "date"),
    "times with a zone": (
        "id seen label", lambda k: [k, f"2023-01-{k % 28 + 1:02}T10:00:00+02:00", label(k)],
        "date"),
    "yes and no": ("id x label", lambda k: [k, "YN"[k % 3 == 0], label(k)], "boolean"),
    "percent": ("id x label", lambda k: [k, f"{k % 9}%", label(k)], "number"),
    "blanks around names and cells": (
        "id x\u2002 label", lambda k: [k, f" {k % 7}.5 ", label(k)], "number"),
}  # fmt: skip


@pytest.mark.parametrize("case", KINDS)
def test_the_kind_of_a_column_is_right(case: str, tmp_path: Path) -> None:
    header, row, kind = KINDS[case]
    graph = read(tmp_path, text(links()), text(table(header, row)))
    assert (graph.num_nodes, graph.num_edges, graph.class_names) == (ROWS, ROWS, ("a", "b"))
    assert graph.encoder is not None
    assert list(graph.encoder.kinds.values()) == [kind]
    assert not any("count as missing" in remark for remark in graph.remarks)


def test_a_semicolon_export_with_decimal_commas_has_weights(tmp_path: Path) -> None:
    edges = [[*row, f"{k},5" if k else "Betrag"] for k, row in enumerate(links())]
    nodes = table("id x label", lambda k: [k, f"{k},25", label(k)])
    files = text(edges, ";"), text(nodes, ";")
    assert any("'Betrag' (numbers; weight=" in remark for remark in read(tmp_path, *files).remarks)
    graph = read(tmp_path, *files, weight="Betrag")
    assert graph.adjacency[0, 1] == 1.5
    edges[7][2] = "viel"
    with pytest.raises(InputError, match=r"line 8 .*, column 'Betrag': 'viel' is not a number; "):
        read(tmp_path, text(edges, ";"), files[1], weight="Betrag")


@pytest.mark.parametrize(
    ("end", "name", "sentence"),
    [
        (str, "{:05}".format, r"the ids differ in leading zeros \('0' here, '00000' in n\.csv\)"),
        ("u{}@x.com".format, "U{}@X.com".format, "the ids differ in upper and lower case"),
        (lambda k: str(491 * 10**9 + k * 10**9), lambda k: f"{4.91e11 + k * 1e9:.2E}",
         r"ids such as '4\.91E\+11' were rounded by a spreadsheet"),
    ],
)  # fmt: skip
def test_ids_that_are_spelt_otherwise_say_so(
    end: Callable[[int], str], name: Callable[[int], str], sentence: str, tmp_path: Path
) -> None:
    nodes = table("id x label", lambda k: [name(k), k % 9, label(k)])
    for how in ("refuse", "add"):  # nothing but strangers is no graph
        with pytest.raises(InputError, match=sentence) as caught:
            read(tmp_path, text(links(end)), text(nodes), unknown_ends=how)
        assert "add it there" not in str(caught.value)


def test_a_warning_says_when_many_added_ends_are_spelt_otherwise(tmp_path: Path) -> None:
    nodes = table("id x label", lambda k: [f"{k:02}", k % 9, label(k)])
    graph = read(tmp_path, text(links()), text(nodes), unknown_ends="add")
    assert any(
        r.startswith("warning: e.csv: the ids differ in leading zeros") for r in graph.remarks
    )


def test_a_line_of_totals_is_no_node(tmp_path: Path) -> None:
    nodes = table("id x label", lambda k: [k, k % 9, label(k)])
    with pytest.raises(InputError, match=r"line 62 .*: no edge has the node 'Total'; if it is a l"):
        read(tmp_path, text(links()), text([*nodes, ["Total", 240, ""]]))
    edges = [*links(), ["Total", "0"]]
    assert read(tmp_path, text(edges), text([*nodes, ["Total", 240, ""]])).num_nodes == ROWS + 1


@pytest.mark.parametrize("null", ["\\N", "NULL", "N/A", "NaN", "."])
def test_no_label_among_numbers_is_no_class(null: str, tmp_path: Path) -> None:
    nodes = table("id x fraud", lambda k: [k, k % 9, null if k % 5 == 0 else k % 2])
    graph = read(tmp_path, text(links()), text(nodes), label="fraud")
    assert graph.class_names == ("0", "1")
    assert int((graph.labels < 0).sum()) == ROWS // 5
    assert any(f"{null!r} taken for no label: 12 nodes" in remark for remark in graph.remarks)


def test_equal_counts_in_both_classes_tell_no_label(tmp_path: Path) -> None:
    header = " ".join(["id", "label", *(f"tag{j}" for j in range(20))])
    nodes = table(header, lambda k: [k, label(k), *(int(k // 2 == j) for j in range(20))])
    remarks = read(tmp_path, text(links()), text(nodes)).remarks
    assert not any("tells the class" in remark for remark in remarks)


def test_types_of_parquet_are_columns_like_others(tmp_path: Path) -> None:
    columns = {
        "id": pa.array(range(ROWS), pa.uint32()),
        "label": pa.array([label(k) for k in range(ROWS)]).dictionary_encode(),
        "price": pa.array([Decimal(f"{k}.25") for k in range(ROWS)], pa.decimal128(9, 2)),
        "half": pa.array(np.linspace(-1, 1, ROWS).astype(np.float16)),
        "level": pa.array([("u", "v", None)[k % 3] for k in range(ROWS)]).dictionary_encode(),
        "seen": pa.array(
            [datetime.datetime(2020, 1, 1 + k % 28, k % 24) for k in range(ROWS)],
            pa.timestamp("us", tz="Europe/Berlin"),
        ),
        "flag": pa.array([(True, False, None)[k % 3] for k in range(ROWS)]),
    }
    pq.write_table(pa.table(columns), tmp_path / "n.parquet")
    (tmp_path / "e.csv").write_bytes(text(links()))
    graph = read_tables(tmp_path / "e.csv", tmp_path / "n.parquet")
    assert graph.encoder is not None
    kinds = {"price": "number", "half": "number", "level": "category", "seen": "date"}
    assert graph.encoder.kinds == {**kinds, "flag": "boolean"}
    lists = pa.table({**columns, "tags": pa.array([["x"]] * ROWS)})
    pq.write_table(lists, tmp_path / "n.parquet")
    with pytest.raises(InputError, match=r"'tags' holds list.* ignore=\['tags'\] \(--ignore\)"):
        read_tables(tmp_path / "e.csv", tmp_path / "n.parquet")
