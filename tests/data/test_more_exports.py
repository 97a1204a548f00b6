"""Exports of other programs: parents in the same table, days as numbers, titles, matrices."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heterophily import Graph, read_tables
from heterophily.data.encode.dates import seconds_of
from heterophily.data.wording import Doubt
from heterophily.errors import InputError

ROWS = 60
EDGES = [(k % 50, (k * k + 7) % ROWS) for k in range(ROWS)]


def text(rows: list[list[Any]], delimiter: str = ",") -> str:
    held = io.StringIO(newline="")
    csv.writer(held, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return held.getvalue()


def read(
    folder: Path, edges: list[list[Any]], nodes: list[list[Any]], suffix: str = "csv", **how: Any
) -> Graph:
    (folder / f"e.{suffix}").write_text(text(edges, " " if suffix == "txt" else ","))
    (folder / "n.csv").write_text(text(nodes))
    return read_tables(folder / f"e.{suffix}", folder / "n.csv", **how)


def plain(name: Callable[[int], Any] = int) -> list[list[Any]]:
    return [["a", "b"], *([name(u), name(v)] for u, v in EDGES)]


def nodes(cell: Callable[[int], Any], header: str = "x") -> list[list[Any]]:
    return [["id", "label", header], *([k, "pq"[k % 2], cell(k)] for k in range(ROWS))]


def accounts(parent: Callable[[int], Any]) -> list[list[Any]]:
    rows = [[f"A{k}", f"Name {k}", parent(k), "uv"[k % 2]] for k in range(ROWS)]
    return [["Id", "Name", "ParentId", "label"], *rows]


@pytest.mark.parametrize("none", ["", "NULL", "-"])
@pytest.mark.parametrize("as_frame", [False, True])
def test_rows_that_name_others_are_nodes_and_edges(
    none: str, as_frame: bool, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(text(accounts(lambda k: f"A{k // 2}" if k > 2 else none)))
    (tmp_path / "copy.csv").write_bytes((tmp_path / "a.csv").read_bytes())
    table: Any = tmp_path / "a.csv"
    if as_frame:
        table = pytest.importorskip("pandas").read_csv(table, keep_default_na=False)
    graph = read_tables(table, table if as_frame else tmp_path / "copy.csv", self_loops="keep")
    assert graph.num_nodes == ROWS
    assert graph.feature_names is None  # names are ids, and the parent is no feature
    coo = graph.adjacency.tocoo()
    pairs = {(int(u), int(v)) for u, v in zip(*coo.coords, strict=True) if u > v}
    assert pairs == {(k, k // 2) for k in range(3, ROWS)}
    assert not (coo.coords[0] == coo.coords[1]).any()
    assert any("3 rows without 'ParentId': no edge" in remark for remark in graph.remarks)


def test_an_unknown_parent_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text(accounts(lambda k: "A99" if k == 7 else "A1" * (k > 0))))
    with pytest.raises(InputError, match=r"line 9 .*'ParentId': node 'A99' is not in a.csv"):
        read_tables(tmp_path / "a.csv", tmp_path / "a.csv")


def test_a_column_called_parent_is_taken_among_numbers(tmp_path: Path) -> None:
    rows = [[k, k * k % 50, k // 2 or "", "uv"[k % 2]] for k in range(1, ROWS)]
    (tmp_path / "a.csv").write_text(text([["id", "age", "manager_id", "label"], *rows]))
    graph = read_tables(tmp_path / "a.csv", tmp_path / "a.csv")
    assert (graph.num_edges, graph.feature_names) == (ROWS - 2, ("age",))


def test_two_parents_or_none_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,mother,father,label\n1,,,a\n2,1,,b\n3,1,2,a\n4,2,3,b\n")
    with pytest.raises(InputError, match="'mother', 'father' all hold ids of 'id'; say which"):
        read_tables(tmp_path / "a.csv", tmp_path / "a.csv")
    found = read_tables(tmp_path / "a.csv", tmp_path / "a.csv", source="id", target="mother")
    assert found.num_edges == 3
    with pytest.raises(InputError, match="no other column holds ids of 'id'"):
        read_tables(tmp_path / "a.csv", tmp_path / "a.csv", ignore=["mother", "father"])


KINDS = {
    "days as whole numbers": (lambda k: 20230101 + 100 * (k % 12) + k % 28, "date"),
    "whole numbers that are no days": (lambda k: 20231301 + 37 * k * k % 1000, "number"),
    "times of day": (lambda k: f"{k % 24:02}:{7 * k % 60:02}", "date"),
    "scores such as 3:1": (lambda k: f"{k % 5}:{k % 3}", "category"),
    "dates as Jira writes them": (lambda k: f"{k % 28 + 1}/Mar/23 {k % 12 + 1}:05 PM", "date"),
    "thousands in short": (lambda k: f"{k % 9}.{k % 7}k" if k % 3 else 37 * k, "number"),
    "amounts with a currency code": (lambda k: f"USD {k}.50" if k % 2 else f"{k} EUR", "number"),
}


@pytest.mark.parametrize("case", KINDS)
def test_the_kind_of_a_column_is_right(case: str, tmp_path: Path) -> None:
    cell, kind = KINDS[case]
    graph = read(tmp_path, plain(), nodes(cell))
    assert graph.encoder is not None
    assert graph.encoder.kinds == {"x": kind}
    assert not any("count as missing" in remark for remark in graph.remarks)


def test_days_as_whole_numbers_and_offsets_of_zones_are_points_in_time() -> None:
    pd = pytest.importorskip("pandas")
    days = pd.Series([19700102.0, 20240229.0, 20230229.0, np.nan] + [20240301.0] * 6)
    stamps = ["1970-01-02", "2024-02-29"]
    wanted = [pd.Timestamp(stamp).timestamp() for stamp in stamps]
    import pyarrow as pa

    found = seconds_of(pa.array(days, from_pandas=True), ())[0]
    assert found[:2].tolist() == wanted
    assert np.isnan(found[2:4]).all()
    zones = pa.array(["2024-02-29T01:00:00+02:00", "2024-02-28T18:00:00-0500", "2024-02-28 23:00Z"])
    assert seconds_of(zones, ["%Y-%m-%d"])[0].tolist() == [wanted[1] - 3600] * 3


def test_ids_in_a_column_without_a_name(tmp_path: Path) -> None:
    table = [["", "x", "label"], *([f"n{k}", k % 9, "pq"[k % 2]] for k in range(ROWS))]
    assert read(tmp_path, plain("n{}".format), table).num_nodes == ROWS
    table = [["x", "", "label"], *([k % 9, f"n{k}", "pq"[k % 2]] for k in range(ROWS))]
    graph = read(tmp_path, plain("n{}".format), table)
    assert (graph.num_nodes, graph.feature_names) == (ROWS, ("x",))


def test_ids_with_something_in_front_say_so(tmp_path: Path) -> None:
    edges = plain("https://doi.org/10.1/{}.x".format)
    table = [["id", "label"], *([f"10.1/{k}.x", "pq"[k % 2]] for k in range(ROWS))]
    with pytest.raises(InputError, match="the ids differ in what stands in front"):
        read(tmp_path, edges, table)


def test_a_matrix_and_a_list_of_neighbours_are_no_edges(tmp_path: Path) -> None:
    matrix = [["", *(f"n{k}" for k in range(9))]]
    matrix += [[f"n{k}", *(int(abs(k - j) == 1) for j in range(9))] for k in range(9)]
    (tmp_path / "m.csv").write_text(text(matrix))
    with pytest.raises(InputError, match="as in a matrix with a row and a column for each node"):
        read_tables(tmp_path / "m.csv")
    lists = [[k, *range(k % 4 + 1)] for k in range(ROWS)]
    with pytest.raises(InputError, match=r"expected 2 .*; write one edge per line"):
        read(tmp_path, lists, nodes(str), "txt")


def test_columns_of_edges_are_offered_for_what_they_are_called(tmp_path: Path) -> None:
    edges = [["src", "dst", "edge_type", "edge_timestamp", "day"]]
    edges += [[u, v, k % 3 + 1, k % 40, 20230101 + k % 28] for k, (u, v) in enumerate(EDGES)]
    remark = read(tmp_path, edges, nodes(str)).remarks[0]
    assert "edge_type='edge_type'" in remark
    assert "'edge_timestamp' (points in time), 'day' (points in time)" in remark


def test_numbers_of_other_things_are_doubted(tmp_path: Path) -> None:
    edges = [["user_id", "movie_id"], *([u, v] for u, v in EDGES)]
    table = [["user_id", "label"], *([k, "pq"[k % 2]] for k in range(ROWS))]
    doubts = [text for text in read(tmp_path, edges, table).remarks if isinstance(text, Doubt)]
    assert any("numbers of 'movie_id' are taken for those of 'user_id'" in text for text in doubts)
    edges[0] = ["user_id", "friend"]
    assert not any(isinstance(text, Doubt) for text in read(tmp_path, edges, table).remarks)


def test_a_label_of_edges_and_one_in_a_third_table_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("nameOrig,nameDest,fraud\na,b,0\nb,c,1\n")
    with pytest.raises(InputError, match="'fraud': it is a label of edges, but nodes are class"):
        read_tables(tmp_path / "e.csv", label="fraud")
    with pytest.raises(InputError, match="must be joined to this one first; columns: 'id'"):
        read(tmp_path, plain(), nodes(str), label="outcome")


@pytest.mark.parametrize("name", ["target", "is_fraud", "isFraud"])
def test_usual_names_of_labels(name: str, tmp_path: Path) -> None:
    table = [["uid", "x", name], *([k, k / 7, k % 2] for k in range(ROWS))]
    assert read(tmp_path, plain(), table).class_names == ("0", "1")


def test_whole_numbers_beyond_64_bits_in_a_frame() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"id": range(9), "wei": [k % 4 * 10**19 for k in range(9)]})
    table["label"] = ["p", "q", "p"] * 3
    edges = pd.DataFrame({"source": range(8), "target": range(1, 9)})
    graph = read_tables(edges, table, columns={"wei": "number"})
    assert graph.features is not None
    assert graph.feature_names == ("wei",)
