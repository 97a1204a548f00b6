"""Natural exports: mixed columns, missing cells, many ways of writing; a graph or a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.data.npz import read_npz, write_npz
from heterophily.data.tables import read_tables
from heterophily.errors import InputError

Read = Callable[..., Graph]
ROWS = 60


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write a ring of nodes n0, n1, ... with the given columns, and read it."""

    def _read(
        table: dict[str, list[Any]] | None = None, *, text: str | None = None, **options: Any
    ) -> Graph:
        rows = len(next(iter(table.values()))) if table else ROWS
        ring = "".join(f"n{k},n{(k + 1) % rows}\n" for k in range(rows))
        (tmp_path / "edges.csv").write_text("source,target\n" + ring)
        if table is not None:
            header = ",".join(["id", "label", *(f'"{name}"' for name in table)])
            lines = [
                ",".join([f"n{k}", "xy"[k % 2], *(f'"{c[k]}"' for c in table.values())])
                for k in range(rows)
            ]
            text = "\n".join([header, *lines]) + "\n"
        assert text is not None
        (tmp_path / "nodes.csv").write_text(text, "utf-8")
        return read_tables(tmp_path / "edges.csv", tmp_path / "nodes.csv", **options)

    return _read


def remark(graph: Graph, part: str) -> str:
    (found,) = [text for text in graph.remarks if part in text]
    return found


RNG = np.random.default_rng(0)
AGES = [int(age) for age in RNG.integers(18, 90, ROWS)]


def test_a_natural_table_is_read_and_its_kinds_are_told(read: Read) -> None:
    words = [f"w{k}" for k in range(50)]
    graph = read(
        {
            "age": ["" if k == 3 else age for k, age in enumerate(AGES)],
            "country": [["DE", "FR", "IT"][k % 3] for k in range(ROWS)],
            "member": [["yes", "no"][k * 7 % 11 % 2] for k in range(ROWS)],
            "joined": [f"2021-{k % 12 + 1:02}-{k % 28 + 1:02}" for k in range(ROWS)],
            "bio": [" ".join(RNG.choice(words, 5)) for _ in range(ROWS)],
            "handle": [f"@user{k}" for k in range(ROWS)],
            "version": ["v1"] * ROWS,
            "notes": [""] * ROWS,
        }
    )
    assert remark(graph, "kinds of columns").endswith(
        "number: 'age'; boolean: 'member'; category: 'country'; date: 'joined'; text: 'bio'; "
        "id: 'handle'; constant: 'version'; almost-empty: 'notes'"
    )
    assert sp.issparse(graph.features)
    assert graph.feature_names is not None
    assert len(graph.feature_names) == graph.num_features
    assert graph.feature_names[:5] == (
        "age", "age: missing", "country=DE", "country=FR", "country=IT",
    )  # fmt: skip
    assert graph.encoder is not None
    assert graph.encoder.kinds["joined"] == "date"


def test_kinds_are_switchable(read: Read) -> None:
    columns = {"zip": [k % 4 for k in range(ROWS)], "size": AGES}
    graph = read(columns, columns={"zip": "category", "size": "raw"})
    assert graph.feature_names == ("zip=0", "zip=1", "zip=2", "zip=3", "size")
    assert np.asarray(graph.features)[:, 4].tolist() == AGES
    assert read(columns, columns={"zip": "ignore"}).feature_names == ("size",)
    with pytest.raises(InputError, match=r"nodes\.csv, column 'zap': no such column"):
        read(columns, columns={"zap": "category"})


def test_names_and_encoder_survive_an_npz(read: Read, tmp_path: Path) -> None:
    graph = read({"age": AGES, "city": ["Rome", "Oslo"] * (ROWS // 2)})
    write_npz(graph, tmp_path / "graph.npz")
    again = read_npz(tmp_path / "graph.npz")
    assert again.feature_names == graph.feature_names
    assert again.encoder == graph.encoder
    assert again.content_hash == graph.content_hash
    changed = graph.replace(features=np.zeros((ROWS, 1)))
    assert changed.feature_names is None
    assert changed.encoder is None
    with pytest.raises(InputError, match="2 feature names for 1 features"):
        changed.replace(feature_names=("a", "b"))


def test_damaged_encoder_in_an_npz_is_one_sentence(tmp_path: Path) -> None:
    for data in (b"{", b"[]", b'{"format": 1, "columns": [3], "left_out": []}'):
        np.savez(
            tmp_path / "a.npz",
            edge_index=np.array([[0], [1]]),
            y=np.array([0, 1]),
            encoder=np.frombuffer(data, np.uint8),
        )
        with pytest.raises(InputError, match=r"a\.npz: field 'encoder': ") as caught:
            read_npz(tmp_path / "a.npz")
        assert "\n" not in str(caught.value)


def test_another_table_is_encoded_as_the_first_one_was(read: Read) -> None:
    first = read({"age": AGES, "city": ["Rome", "Oslo"] * (ROWS // 2)})
    second = read(
        {"city": ["Oslo", "Bern"] * 20, "age": [age + 50 for age in AGES[:40]], "new": [1] * 40},
        encoder=first.encoder,
    )
    assert second.feature_names == first.feature_names == ("age", "city=Oslo", "city=Rome")
    matrix = np.asarray(second.features)
    assert matrix[:, 1].tolist() == [1, 0] * 20
    assert matrix[:, 2].tolist() == [0] * 40
    assert matrix[:, 0].mean() > 1
    assert "50% of the nodes have a value" in remark(second, "'city': 50%")
    assert "the median is" in remark(second, "column 'age': the median")
    third = read({"city": ["Rome", "Oslo"] * 20}, encoder=first.encoder)
    assert np.asarray(third.features)[:, 0].tolist() == [0] * 40
    assert "counts as missing for every node" in remark(third, "'age' is not in the table")


# --- bad input: a right graph with a remark, or one sentence --------------------------------------


def test_a_few_words_among_numbers_count_as_missing_with_their_places(read: Read) -> None:
    ages: list[Any] = list(AGES)
    ages[4], ages[9] = "old", "unknown"
    graph = read({"age": ages})
    assert remark(graph, "no number") == (
        "nodes.csv, column 'age': 2 cells are no number and count as missing: 'old' on line 6 "
        "(data row 5), 'unknown' on line 11 (data row 10)"
    )
    assert graph.feature_names == ("age", "age: missing")


def test_two_header_lines_are_named(read: Read) -> None:
    with pytest.raises(InputError, match=r"line 2 .*second header line \('years', 'EUR'"):
        read({"age": ["years", *AGES[1:]], "pay": ["EUR", *RNG.integers(100, 999, ROWS - 1)]})


@pytest.mark.parametrize(
    "write",
    [
        lambda x: f"{x:.2f}",
        lambda x: f"{x:,.2f}",
        lambda x: f"{x:,.2f}".replace(",", "_").replace(".", ",").replace("_", "."),
        lambda x: f"{x:,.2f}".replace(",", " "),
        lambda x: f"$ {x:,.2f}",
    ],
)
def test_numbers_written_in_other_ways_are_the_same_numbers(
    read: Read, write: Callable[[float], str]
) -> None:
    values = [float(x) for x in np.random.default_rng(1).lognormal(8, 2, ROWS).round(2)]
    plain = read({"pay": values})
    other = read({"pay": [write(value) for value in values]})
    np.testing.assert_allclose(np.asarray(other.features), np.asarray(plain.features), atol=1e-6)


def test_dates_in_three_formats(read: Read) -> None:
    forms = ["2021-{m:02}-{d:02}", "{d}.{m}.2021", "{m}/{d}/2021"]
    days = [(k % 12 + 1, k % 16 + 13) for k in range(ROWS)]
    mixed = read({"day": [forms[k % 3].format(m=m, d=d) for k, (m, d) in enumerate(days)]})
    plain = read({"day": [forms[0].format(m=m, d=d) for m, d in days]})
    np.testing.assert_array_equal(np.asarray(mixed.features), np.asarray(plain.features))


def test_emoji_quotes_and_blanks_in_cells(read: Read) -> None:
    graph = read({"mood": ["🦉 night", "sun, 'day'", "a;b"] * 20})
    assert graph.feature_names == ("mood=a;b", "mood=sun, 'day'", "mood=🦉 night")


def test_row_numbers_without_a_name_are_left_out(read: Read) -> None:
    rows = "".join(f"{k},n{k},{'xy'[k % 2]},{AGES[k]}\n" for k in range(ROWS))
    graph = read(text=",id,label,age\n" + rows)
    assert graph.feature_names == ("age",)
    assert "ignored: ''" in remark(graph, "node id from")


def test_whole_ids_with_a_point_are_integers(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target\n1.0,2.0\n2.0,3.0\n")
    (tmp_path / "n.csv").write_text("id,label\n1,x\n2,y\n3,x\n")
    graph = read_tables(tmp_path / "e.csv", tmp_path / "n.csv")
    assert graph.node_ids.tolist() == [1, 2, 3]
    assert graph.num_edges == 2
    assert "'source': whole numbers with a point ('1.0') read" in remark(graph, "'source': whole")


def test_every_repeated_id_is_named(read: Read) -> None:
    with pytest.raises(
        InputError, match=r"line 4 .*node id 'n0' was already on line 2.*; also line 5"
    ):
        read(text="id,label\nn0,x\nn1,y\nn0,x\nn1,y\n")


def test_every_unknown_end_is_named_up_to_twenty(tmp_path: Path) -> None:
    edges = "".join(f"a,x{k}\n" for k in range(50))
    (tmp_path / "e.csv").write_text("source,target\na,b\n" + edges)
    (tmp_path / "n.csv").write_text("id,label,age\na,x,1\nb,y,2\n")
    with pytest.raises(InputError, match=r"node 'x0' is not in n\.csv") as caught:
        read_tables(tmp_path / "e.csv", tmp_path / "n.csv")
    assert str(caught.value).count("data row") == 20
    assert str(caught.value).endswith("(50 in all)")


def test_a_label_column_that_is_nearly_empty(read: Read) -> None:
    rows = "".join(f"n{k},{'xy'[k] if k < 2 else ''},{k % 7}\n" for k in range(3000))
    graph = read(text="id,label,age\n" + rows)
    assert graph.report.unlabelled_nodes == 2998
    assert graph.class_names == ("x", "y")


def test_a_column_of_lists_in_parquet_is_one_sentence(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    pq.write_table(
        pa.table({"id": ["a", "b"], "tags": [["x"], ["y", "z"]]}), tmp_path / "n.parquet"
    )
    with pytest.raises(InputError, match=r"n\.parquet, column 'tags' holds list"):
        read_tables(tmp_path / "e.csv", tmp_path / "n.parquet")
    assert read_tables(tmp_path / "e.csv", tmp_path / "n.parquet", ignore=["tags"]).num_nodes == 2


def _files(folder: Path, edges: str, nodes: str) -> tuple[Path, Path]:
    paths = (folder / "e.csv", folder / "n.csv")
    for path, text in zip(paths, (edges, nodes), strict=True):
        path.write_text(text, "utf-8")
    return paths


def test_ends_that_the_node_table_lacks_are_added_or_dropped(tmp_path: Path) -> None:
    tables = _files(
        tmp_path,
        "source,target,weight\na,b,1\nb,x,2\nc,a,3\ny,x,4\n",
        "id,label,age\na,u,1\nb,v,2\nc,u,9\n",
    )
    with pytest.raises(InputError, match=r"node 'x' is not in n\.csv; .*--unknown-ends"):
        read_tables(*tables)
    more = read_tables(*tables, unknown_ends="add")
    assert more.node_ids.tolist() == ["a", "b", "c", "x", "y"]
    assert more.labels.tolist() == [0, 1, 0, -1, -1]
    assert np.asarray(more.features)[3:].tolist() == [[0.0], [0.0]]
    fewer = read_tables(*tables, unknown_ends="drop")
    assert (fewer.num_nodes, fewer.num_edges) == (3, 2)
    assert fewer.adjacency.sum() == 2 * (1 + 3)
    assert "e.csv: 2 edges dropped, an end is not in n.csv" in fewer.remarks


def test_one_side_of_a_bipartite_graph_may_have_no_table(tmp_path: Path) -> None:
    sales = "".join(f"u{k % 20},item {k % 7}\n" for k in range(60))
    users = "".join(f"u{k},{'xy'[k % 2]},{k % 5}\n" for k in range(20))
    tables = _files(tmp_path, "buyer,item\n" + sales, "user,label,age\n" + users)
    with pytest.raises(InputError, match=r"only column 'buyer' holds ids .*--unknown-ends add"):
        read_tables(*tables)
    graph = read_tables(*tables, unknown_ends="add")
    assert graph.num_nodes == 27
    assert graph.is_labelled.sum() == 20


def test_columns_of_edges_can_be_ignored(tmp_path: Path) -> None:
    tables = _files(tmp_path, "source,target,weight\na,b,-1\nb,c,2\n", "id,label\na,u\nb,v\nc,u\n")
    with pytest.raises(InputError, match=r"weight -1.0; .* ignore=\['weight'\] \(--ignore\)"):
        read_tables(*tables)
    assert not read_tables(*tables, ignore=["weight"]).is_weighted


def test_json_lines_are_tables(tmp_path: Path) -> None:
    rows = [f'{{"id": "n{k}", "label": "{"xy"[k % 2]}", "age": {k % 9}}}' for k in range(ROWS)]
    rows[5] = '{"id": "n5", "label": "y"}'
    (tmp_path / "n.jsonl").write_text("\n".join(rows))
    ring = [f'{{"from": "n{k}", "to": "n{(k + 1) % ROWS}"}}' for k in range(ROWS)]
    (tmp_path / "e.ndjson").write_text("\n".join(ring) + "\n")
    graph = read_tables(tmp_path / "e.ndjson", tmp_path / "n.jsonl")
    assert (graph.num_nodes, graph.num_edges) == (ROWS, ROWS)
    assert graph.feature_names == ("age", "age: missing")
    (tmp_path / "bad.jsonl").write_text('{"id": 1}\n{"id": ')
    with pytest.raises(InputError, match=r"bad\.jsonl: not JSON lines .*one object"):
        read_tables(tmp_path / "e.ndjson", tmp_path / "bad.jsonl")


def test_labels_of_ends_are_offered(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("payer,payer_fraud,payee,payee_fraud\na,0,b,1\nb,1,c,0\n")
    (remark,) = read_tables(tmp_path / "e.csv").remarks
    assert "label='fraud' (--label) takes 'payer_fraud' and 'payee_fraud'" in remark
