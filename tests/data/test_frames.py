"""Tables in memory give the graph that their files give."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from heterophily import read_tables
from heterophily.data.graph import same_content
from heterophily.errors import InputError

EDGES = pa.table({"source": ["a", "b", "c", "d"], "target": ["b", "c", "d", "a"]})
NODES = pa.table(
    {
        "id": ["a", "b", "c", "d"],
        "label": ["x", "y", None, "x"],
        "age": pa.array([31, None, 40, 55]),
        "rate": [0.5, 1.5, 2.5, 3.5],
        "city": ["Rome", "Oslo", "Rome", None],
        "joined": [date(2020, 1, 1), date(2021, 5, 3), None, date(2022, 2, 2)],
        "member": [True, False, None, True],
    }
)


def pandas_frame(table: Any) -> Any:
    return table.to_pandas()


def pandas_arrow(table: Any) -> Any:
    pandas = pytest.importorskip("pandas")
    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def polars_frame(table: Any) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


def pyarrow_table(table: Any) -> Any:
    return table


FRAMES = [pandas_frame, pandas_arrow, polars_frame, pyarrow_table]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_gives_the_graph_of_its_file(frame: Any, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pa_csv.write_csv(EDGES, tmp_path / "e.csv")
    pq.write_table(NODES, tmp_path / "n.parquet")
    wanted = read_tables(tmp_path / "e.csv", tmp_path / "n.parquet")
    graph = read_tables(frame(EDGES), frame(NODES))
    assert same_content(graph, wanted)
    assert graph.feature_names == wanted.feature_names
    assert graph.encoder is not None
    assert graph.encoder.kinds == wanted.encoder.kinds
    assert graph.name == "graph"
    assert read_tables(frame(EDGES), tmp_path / "n.parquet").num_classes == 2  # a frame and a file
    assert read_tables(frame(EDGES), name="mine").name == "mine"


def test_pandas_keeps_ids_in_a_named_index_or_as_text() -> None:
    pytest.importorskip("pandas")
    edges, nodes = EDGES.to_pandas(), NODES.to_pandas()
    wanted = read_tables(edges, nodes)
    assert same_content(read_tables(edges, nodes.set_index("id")), wanted)
    unnamed = nodes.set_index("id").rename_axis(None)
    assert same_content(read_tables(edges, unnamed, node_id="index"), wanted)
    # a filtered frame has gaps in its index, which are no ids
    assert same_content(read_tables(edges[::-1], nodes[::-1][::-1]), wanted)


def test_pandas_numbers_beside_missing_cells_and_mixed_cells() -> None:
    pandas = pytest.importorskip("pandas")
    edges = pandas.DataFrame({"source": [1.0, 2.0], "target": [2, 3]})
    nodes = pandas.DataFrame(
        {"id": [1, 2, 3], "label": [1.0, 0.0, None], "odd": [1, "x", None], 7: [1.0, 2.0, 3.5]}
    )
    graph = read_tables(edges, nodes)
    assert graph.node_ids.tolist() == [1, 2, 3]
    assert graph.class_names == ("0", "1")
    assert graph.labels.tolist() == [1, 0, -1]
    assert graph.feature_names is not None
    assert "7" in graph.feature_names
    with pytest.raises(InputError, match="edges, row 2, column 'source': empty id"):
        read_tables(edges.assign(source=[1.0, None]), nodes)


def test_categorical_columns_are_categories() -> None:
    pandas = pytest.importorskip("pandas")
    nodes = NODES.to_pandas().assign(city=pandas.Categorical(["p", "q", "p", "p"]))
    assert "city=q" in (read_tables(EDGES.to_pandas(), nodes).feature_names or ())


def test_numbers_stay_as_they_are_without_encoding() -> None:
    pytest.importorskip("pandas")
    nodes = NODES.select(["id", "rate"]).to_pandas()
    graph = read_tables(EDGES, nodes, encode=False)
    assert np.asarray(graph.features).ravel().tolist() == [0.5, 1.5, 2.5, 3.5]


def test_what_is_no_table_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match=r"edges is of type builtins\.list; pass the name of"):
        read_tables([(1, 2)])
    with pytest.raises(InputError, match=r"nodes is of type builtins\.int"):
        read_tables(EDGES, 3)
    with pytest.raises(InputError, match="edges has no rows; export the table again"):
        read_tables(EDGES[:0])
    with pytest.raises(InputError, match="nodes, row 2, column 'id': node id 'a' was already on"):
        read_tables(EDGES, NODES.set_column(0, "id", pa.array(["a", "a", "c", "d"])))
    twice = pytest.importorskip("pandas").DataFrame(np.eye(2), columns=["a", "a"])
    with pytest.raises(InputError, match="edges: two columns are called 'a'; rename one"):
        read_tables(twice)


def test_a_lazy_frame_is_collected() -> None:
    polars = pytest.importorskip("polars")
    graph = read_tables(polars.from_arrow(EDGES).lazy())
    assert graph.content_hash == read_tables(EDGES).content_hash


ROWS = 40
RING = pa.table({"source": range(ROWS), "target": [*range(1, ROWS), 0]})


def kinds_of(nodes: Any, **options: Any) -> dict[str, str]:
    graph = read_tables(RING, nodes, **options)
    assert graph.class_names == ("x", "y")
    assert graph.encoder is not None
    return dict(graph.encoder.kinds)


@pytest.mark.filterwarnings("error")
def test_types_that_pandas_alone_has_are_columns_like_others() -> None:
    pandas = pytest.importorskip("pandas")
    mixed = [k * 7 % ROWS for k in range(ROWS)]
    nodes = pandas.DataFrame({"id": range(ROWS), "y": pandas.Categorical(list("xy") * 20)}).assign(
        count=pandas.array([None, *mixed[1:]], "Int64"),
        flag=pandas.array([None, True, False, True] * 10, "boolean"),
        word=pandas.array(["a", "b", None, "b"] * 10, "string"),
        size=pandas.Categorical(["S", "M"] * 20, ["S", "M"], ordered=True),
        band=pandas.cut(mixed, 3),
        month=pandas.period_range("2020-01", periods=ROWS, freq="M"),
        took=pandas.to_timedelta([k * k % 37 + 0.5 for k in range(ROWS)], "h"),
        tag=pandas.arrays.SparseArray([0, 0, 1, 0] * 10),
        seen=pandas.date_range("2023-03-20", periods=ROWS, freq="D", tz="Europe/Berlin"),
    )
    assert kinds_of(nodes) == {
        "count": "number", "flag": "boolean", "word": "category", "size": "category",
        "band": "category", "month": "date", "took": "number", "tag": "boolean", "seen": "date",
    }  # fmt: skip


def test_columns_that_pandas_numbered_are_asked_for_by_their_number() -> None:
    pandas = pytest.importorskip("pandas")
    nodes = pandas.DataFrame({0: range(ROWS), 1: [k * k % 37 + 0.5 for k in range(ROWS)], 2: "x"})
    nodes.loc[::2, 2] = "y"
    for label in (2, "2"):
        assert kinds_of(nodes, label=label) == {"1": "number"}
    with pytest.raises(InputError, match="no column '5' for the label"):
        read_tables(RING, nodes, label=5)


def test_types_of_polars_are_columns_like_others() -> None:
    polars = pytest.importorskip("polars")
    nodes = polars.DataFrame(
        {
            "id": range(ROWS),
            "y": polars.Series(list("xy") * 20, dtype=polars.Enum(["y", "x"])),
            "cat": polars.Series(["a", "b"] * 20, dtype=polars.Categorical),
            "seen": polars.Series([date(2023, 3, 1 + k % 31) for k in range(ROWS)])
            .cast(polars.Datetime)
            .dt.replace_time_zone("Europe/Berlin"),
        }
    )
    assert kinds_of(nodes) == {"cat": "category", "seen": "date"}
