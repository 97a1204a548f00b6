"""Files as they come: a right graph with a remark, or one sentence that says what to do."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heterophily import Graph, read_tables, write_tables
from heterophily.data.graph import same_content
from heterophily.errors import InputError

ROWS = 40
IDS = [f"n{k}" for k in range(ROWS)]


def ring(ids: list[str] = IDS, delimiter: str = ",") -> str:
    rows = [(ids[k], ids[(k + 1) % len(ids)]) for k in range(len(ids))]
    return "\n".join(map(delimiter.join, [("source", "target"), *rows])) + "\n"


def nodes(cell: Any, *, ids: list[str] = IDS, label: Any = None, header: str = "") -> str:
    """Return a node table whose last column is ``cell(row)``."""
    label = label or (lambda k: "xy"[k % 2])
    rows = [f"{ids[k]},{label(k)},{cell(k)}" for k in range(ROWS)]
    return "\n".join([header or "id,label,age", *rows]) + "\n"


def read(folder: Path, edges: str | bytes, table: str | bytes, **options: Any) -> Graph:
    for name, text in (("e.csv", edges), ("n.csv", table)):
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_tables(folder / "e.csv", folder / "n.csv", **options)


SPACES = [f"Ann {k} Lee" for k in range(ROWS)]
WITH_POINT, EMOJI = [f"{k}.0" for k in range(ROWS)], [f"😀{k}" for k in range(ROWS)]
DATES = ("2020-01-{:02}", "{:02}.02.2021", "03/{:02}/2022")
RIGHT = {
    "a word among numbers": (
        ring(), nodes(lambda k: "unknown" if k == 7 else 20 + k), "1 cell is no number and counts "
        "as missing: 'unknown' on line 9"),
    "thousands separators": (
        ring(), nodes(lambda k: f'"{1000 + 37 * k:,}.5"'), "number: 'age'"),
    "decimal commas": (ring(), nodes(lambda k: f'"{k},{k % 7}5"'), "number: 'age'"),
    "dates in three formats": (
        ring(), nodes(lambda k: DATES[k % 3].format(k % 27 + 1)),
        "column 'age': dates in 3 spellings, read as "),
    "dates whose day may be the month": (
        ring(), nodes(lambda k: f"{k % 12 + 1:02}/{k % 11 + 1:02}/2021"),
        "column 'age': dates read as month/day/year"),
    "emoji": (ring(EMOJI), nodes(lambda k: "🍎🍐🍊"[k % 3], ids=EMOJI), "category: 'age'"),
    "byte order mark": ("\ufeff" + ring(), "\ufeff" + nodes(lambda k: k % 9), "number: 'age'"),
    "ids with spaces": (ring(SPACES), nodes(lambda k: k % 9, ids=SPACES), "number: 'age'"),
    "ids with blanks around them": (
        ring(), nodes(lambda k: k % 9, ids=[f"{name} " for name in IDS]), "blanks around ids"),
    "ids 1.0 in the edges": (
        ring(WITH_POINT), nodes(lambda k: k % 9, ids=[str(k) for k in range(ROWS)]),
        "column 'source': whole numbers with a point ('0.0') read as integers"),
    "ids 1.0 in the nodes": (
        ring([str(k) for k in range(ROWS)]), nodes(lambda k: k % 9, ids=WITH_POINT),
        "column 'id': whole numbers with a point ('0.0') read as integers"),
    "labels with blanks": (
        ring(), nodes(lambda k: k % 9, label=lambda k: ("ok", "ok ", "fraud")[k % 3]),
        "labels that differ in blanks alone are one class: 'ok'"),
    "labels NULL": (
        ring(), nodes(lambda k: k % 9, label=lambda k: ("ok", "NULL", "fraud")[k % 3]),
        "column 'label': 'NULL' taken for no label: 13 nodes"),
    "Latin-1": (
        ring(), nodes(lambda k: "Zürich" if k % 2 else "Genf").encode("latin-1"),
        "n.csv: not UTF-8; read as Windows-1252, with words such as 'Zürich'"),
    "Latin-1 far from the beginning": (
        ring(), nodes(lambda k: "ab" * 9000 if k < 39 else "Zürich").encode("latin-1"),
        "n.csv: not UTF-8; read as Windows-1252"),
    "UTF-16": (ring(), nodes(lambda k: k % 9).encode("utf-16"), "n.csv: not UTF-8; read as UTF-16"),
    "semicolons in a .csv": (
        ring(delimiter=";"), nodes(lambda k: k % 9), "e.csv: columns separated by ';'"),
    "no header above numbers": (
        "\n".join(f"{k} {(k + 1) % ROWS}" for k in range(1, ROWS)) + "\n0 1\n",
        nodes(lambda k: k % 9, ids=[str(k) for k in range(ROWS)]),
        "e.csv: no header line, the first one holds numbers"),
    "columns without names": (
        ring(), nodes(lambda k: f"{k % 9},,", header="id,label,age,,"),
        "ignored: '', 'Unnamed: 4'"),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
def test_odd_files_give_the_right_graph_with_a_remark(case: str, tmp_path: Path) -> None:
    edges, table, remark = RIGHT[case]
    graph = read(tmp_path, edges, table)
    assert (graph.num_nodes, graph.num_edges, graph.num_classes) == (ROWS, ROWS, 2)
    assert graph.num_features > 0
    assert any(remark in text for text in graph.remarks), graph.remarks


WRONG = {
    "two header lines": (
        ring(), nodes(lambda k: f"{k},{7 * k}", header="id,label,age,pay\nName,Class,Years,EUR"),
        r"line 2 \(data row 1\): looks like a second header line .*; remove it"),
    "two header lines with one column of numbers": (
        ring(), nodes(lambda k: k, header="id,label,age\nName,Class,Years"),
        r"line 2 \(data row 1\): looks like a second header line .*; remove it"),
    "two header lines in the edges": (
        ring().replace("target", "target\nvon,nach"), nodes(lambda k: k % 9),
        r"line 2 .* node 'von' is not in n\.csv; .* if it is a second header line, remove it"),
    "the header twice": (
        ring(), "id,label,age\n" + nodes(lambda k: k), r"n\.csv, line 2: it repeats the header"),
    "the header of the edges twice": (
        "source,target\n" + ring(), nodes(lambda k: k), r"e\.csv, line 2: it repeats the header"),
    "Cyrillic, not in UTF-8": (
        ring(), nodes(lambda k: "Москва" if k % 2 else "Omsk").encode("cp1251"),
        r"n\.csv, line 3: not UTF-8 text \(byte 0xcc\); save the file as UTF-8"),
    "a title above the header": (
        ring(), "Export of May,,\n" + nodes(lambda k: k),
        r"n\.csv, line 1: 'Export of May' is alone in its line.*; if it is a title, remove it"),
    "a line of units below the header": (
        ring(), nodes(lambda k: k, header="id,label,age\n,,years"),
        r"line 2 .*, column 'id': empty id; .*; if it is a second header line, remove it"),
    "one class and empty cells": (
        ring(), nodes(lambda k: k, label=lambda k: "fraud" if k % 9 == 0 else ""),
        "all labels are 'fraud'; .*; if the empty cells are a class too, write its name into them"),
    "a quote that is never closed": (
        ring(), nodes(lambda k: f'"{k}' if k == 5 else k), r'line 7: a quote \("\) is opened and'),
    "two columns of one name": (
        ring(), nodes(lambda k: f"{k},{k}", header="id,label,age,age"),
        "two columns are called 'age'; rename one"),
    "an id that is not unique": (
        ring(), nodes(lambda k: k % 9, ids=[f"n{k // 2}" for k in range(ROWS)]),
        r"line 3 .*, column 'id': node id 'n0' was already on line 2 .*keep one row per node"),
    "ids with leading zeros on one side": (
        ring([f"{k:03}" for k in range(ROWS)]), nodes(lambda k: k, ids=list(map(str, range(ROWS)))),
        r"line 2 .*, column 'source': node '000' is not in n\.csv"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_one_sentence_that_says_what_to_do(case: str, tmp_path: Path) -> None:
    edges, table, sentence = WRONG[case]
    with pytest.raises(InputError, match=sentence) as caught:
        read(tmp_path, edges, table)
    assert "\n" not in str(caught.value)


def test_edges_alone_refuse_two_words_above_numbers(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target\nvon,nach\n1,2\n2,3\n")
    with pytest.raises(InputError, match=r"line 2 .*'von' and 'nach'.* second header line"):
        read_tables(tmp_path / "e.csv")
    (tmp_path / "e.csv").write_text("source,target\nann,bob\n1,2\nbob,3\n")
    assert read_tables(tmp_path / "e.csv").num_nodes == 5


def test_ends_of_which_some_are_unknown_are_named_by_their_own_column(tmp_path: Path) -> None:
    rows = [f"r{k},{IDS[k] if k % 5 else 'stranger'},{IDS[-k]}" for k in range(1, ROWS)]
    with pytest.raises(InputError, match=r"line 6 .*, column 'one': node 'stranger' is not in n"):
        read(tmp_path, "\n".join(["row,one,other", *rows]), nodes(lambda k: k % 9))


def test_labels_of_ends_are_not_offered_as_types_of_edges(tmp_path: Path) -> None:
    ends = [(k, (k + 1) % 12) for k in range(12)]
    rows = [f"{u},{v},{'xy'[u % 2]},{'xy'[v % 2]}" for u, v in ends]
    (tmp_path / "e.csv").write_text("\n".join(["source,target,source_label,target_label", *rows]))
    remarks = read_tables(tmp_path / "e.csv").remarks
    assert not any("not used" in text for text in remarks), remarks


def test_a_label_column_that_is_nearly_empty_is_said_in_the_report(tmp_path: Path) -> None:
    ids = [f"n{k}" for k in range(2500)]
    rows = [f"{name},{'xy'[k] if k < 2 else ''},{k % 7}" for k, name in enumerate(ids)]
    graph = read(tmp_path, ring(ids), "\n".join(["id,label,age", *rows]) + "\n")
    assert graph.num_classes == 2
    assert "2,498 unlabelled nodes" in graph.report.found


# --- properties -----------------------------------------------------------------------------------

quick = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
CELLS = {
    "number": st.floats(-1e6, 1e6, width=32).map(lambda x: round(x, 3)),
    "whole": st.integers(-1000, 1000),
    "word": st.sampled_from(["Rome", "Oslo", "Bern", "São Paulo", "a b", 'say "x"']),
    "flag": st.booleans(),
    "day": st.dates(min_value=date(1990, 1, 1)),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A node table of 12 rows and some columns of different types, with gaps."""
    columns: dict[str, Any] = {
        "id": [f"n{k}" for k in range(12)],
        "label": [("x", "y", None)[k % 3] for k in range(12)],
    }
    for kind in draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, unique=True)):
        cells = st.lists(st.none() | CELLS[kind], min_size=12, max_size=12)
        columns[kind] = draw(cells.filter(lambda values: any(v is not None for v in values)))
    return pa.table(columns)


@quick
@given(table=tables())
def test_a_table_gives_the_same_graph_as_text_as_parquet_and_as_a_frame(
    table: pa.Table, tmp_path: Path
) -> None:
    ends = pa.table({"source": table["id"][:-1], "target": table["id"][1:]})
    pa_csv.write_csv(ends, tmp_path / "e.csv")
    pa_csv.write_csv(table, tmp_path / "n.csv")
    pq.write_table(table, tmp_path / "n.parquet")
    found = [
        read_tables(tmp_path / "e.csv", source)
        for source in (tmp_path / "n.csv", tmp_path / "n.parquet", table)
    ]
    for graph in found[1:]:
        assert graph.feature_names == found[0].feature_names
        assert same_content(graph, found[0])


@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(table=tables(), model=st.sampled_from(["trees", "mlp-2", "res-acm"]))
def test_a_table_is_written_read_trained_and_predicted(
    table: pa.Table, model: str, tmp_path: Path
) -> None:
    from heterophily.cli.app import main

    ends = pa.table({"source": table["id"][:-1], "target": table["id"][1:]})
    pa_csv.write_csv(ends, tmp_path / "e.csv")
    pa_csv.write_csv(table, tmp_path / "n.csv")
    tables = ["--edges", str(tmp_path / "e.csv"), "--nodes", str(tmp_path / "n.csv")]
    cheap = [
        "--repeats",
        "1",
        "--workers",
        "1",
        "--max-epochs",
        "2",
        "--store",
        f"sqlite:///{tmp_path}/runs.sqlite",
    ]
    folder, out = str(tmp_path / "model"), tmp_path / "p.csv"
    assert main(["train", model, *tables, *cheap, "--out", folder, "--overwrite"]) == 0
    assert main(["predict", folder, *tables, "--out", str(out)]) == 0
    assert main(["explain", folder, *tables, "--node", "n0"]) == 0
    rows = pa_csv.read_csv(out).to_pylist()
    assert {row["node"] for row in rows} == set(table["id"].to_pylist())
    assert all(row["label"] in "xy" and abs(row["p(x)"] + row["p(y)"] - 1) < 2e-6 for row in rows)


@quick
@given(data=st.data(), weighted=st.booleans(), keep=st.booleans())
def test_graphs_with_types_survive_tables(
    data: st.DataObject, weighted: bool, keep: bool, tmp_path: Path
) -> None:
    size = data.draw(st.integers(2, 6))
    edge = st.tuples(
        st.integers(0, size - 1), st.integers(0, size - 1), st.sampled_from(["a", "b c", "7"]),
        st.sampled_from([0.5, 1.0, 3.0]),
    )  # fmt: skip
    edges = data.draw(st.lists(edge, min_size=1, max_size=12).filter(
        lambda rows: any(u != v for u, v, _, _ in rows)))  # fmt: skip
    source, target, types, weight = zip(*edges, strict=True)
    how: dict[str, Any] = {"direction": "keep" if keep else "drop", "self_loops": "keep"}
    graph = Graph.from_edges(
        source, target, num_nodes=size, edge_type=types, labels=np.arange(size) % 2,
        weight=weight if weighted else None, **how,
    )  # fmt: skip
    write_tables(graph, tmp_path / "e.csv", tmp_path / "n.csv")
    again = read_tables(tmp_path / "e.csv", tmp_path / "n.csv", edge_type="edge_type", **how)
    assert same_content(again, graph)
