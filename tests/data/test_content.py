"""Columns are found by what they hold: ends of edges, ids of nodes, types, labels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heterophily import Graph, read_tables, write_tables
from heterophily.data.graph import same_content
from heterophily.errors import InputError

Read = Callable[..., Graph]
NODES = "id,label,age\na,x,20\nb,y,30\nc,x,40\nd,y,50\n"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write and read an edge table and a node table."""

    def _read(edges: str, nodes: str | None = NODES, suffix: str = ".csv", **options: Any) -> Graph:
        (tmp_path / f"e{suffix}").write_text(edges)
        if nodes is not None:
            (tmp_path / f"n{suffix}").write_text(nodes)
        paths = [tmp_path / f"e{suffix}", *([] if nodes is None else [tmp_path / f"n{suffix}"])]
        return read_tables(*paths, **options)

    return _read


def pairs(graph: Graph) -> list[tuple[str, str]]:
    """Return the edges, by ids, each once."""
    rows, columns = graph.adjacency.nonzero()
    ids = graph.node_ids
    return sorted((str(ids[u]), str(ids[v])) for u, v in zip(rows, columns, strict=True) if u < v)


PAIRS = [("a", "b"), ("b", "c"), ("c", "d")]


@pytest.mark.parametrize(
    "edges",
    [
        "sender,receiver\na,b\nb,c\nc,d\n",
        "when,payer,payee\n2020-01-01,a,b\n2020-01-02,b,c\n2020-01-03,c,d\n",
        "amount,x1,x2\n1.5,a,b\n2.5,b,c\n3.5,c,d\n",
        "source,target,from_account,to_account\n7,8,a,b\n8,9,b,c\n9,7,c,d\n",
    ],
)
def test_ends_are_found_by_their_content(read: Read, edges: str) -> None:
    assert pairs(read(edges)) == PAIRS


def test_a_remark_says_how_the_ends_were_found(read: Read) -> None:
    graph = read("amount,x1,x2\n1.5,a,b\n2.5,b,c\n3.5,c,d\n")
    assert graph.remarks[0] == (
        "e.csv: source and target from columns 'x1', 'x2' (they hold ids of n.csv); not used: "
        "'amount' (numbers; weight='amount' (--weight) uses them as weights)"
    )
    graph = read("source,target,p,q\n7,8,a,b\n8,9,b,c\n9,7,c,d\n")
    assert "they hold ids of n.csv, which 'source' and 'target' do not" in graph.remarks[0]


def test_three_columns_of_ids_are_ambiguous(read: Read) -> None:
    edges = "p,q,via\na,b,c\nb,c,d\nc,d,a\n"
    with pytest.raises(InputError, match=r"columns 'p', 'q', 'via' all hold ids of n\.csv; say"):
        read(edges)
    assert pairs(read(edges, source="p", target="q")) == PAIRS


def test_one_column_of_ids_is_no_edge(read: Read) -> None:
    with pytest.raises(InputError, match=r"only column 'p' holds ids of n\.csv"):
        read("p,item\na,u\nb,v\nc,w\n")


def test_small_numbers_are_ids_by_chance_and_the_place_decides(read: Read) -> None:
    nodes = "id,label,age\n" + "".join(f"{k},{'xy'[k % 2]},{k}\n" for k in range(10))
    ring = "".join(f"{3 * k % 10},{(3 * k + 1) % 10},{k % 4}\n" for k in range(10))
    assert read("p,q,count\n" + ring, nodes).num_edges == 10
    numbered = "".join(f"{k},{3 * k % 10},{(3 * k + 1) % 10}\n" for k in range(10))
    graph = read("row,p,q\n" + numbered, nodes)
    assert "columns 'p', 'q' (they hold ids" in graph.remarks[0]
    assert graph.num_edges == 10


def test_the_id_column_is_found_by_its_content(read: Read) -> None:
    edges = "source,target\na,b\nb,c\nc,d\n"
    nodes = "team,age,key\nx,20,a\ny,30,b\nx,40,c\ny,50,d\n"
    graph = read(edges, nodes, label="team")
    assert pairs(graph) == PAIRS
    assert any("node id from column 'key' (all different, and" in text for text in graph.remarks)
    # a column that is called id, but numbers something else
    nodes = "id,label,key\n1,x,a\n2,y,b\n3,x,c\n4,y,d\n"
    assert pairs(read(edges, nodes)) == PAIRS
    two = "team,age,key,name\nx,20,a,d\ny,20,b,c\nx,30,c,b\ny,30,d,a\n"
    with pytest.raises(InputError, match=r"columns 'key', 'name' could all be the id of the nodes"):
        read(edges, two, label="team")
    assert read(edges, two, label="team", node_id="key").num_edges == 3


def test_an_edge_table_alone_asks_when_its_first_columns_are_no_ids(read: Read) -> None:
    with pytest.raises(InputError, match="column 'day' holds points in time, not ids; say which"):
        read("day,a,b\n2020-01-01,1,2\n2020-01-02,2,3\n", None)
    with pytest.raises(InputError, match="column 'amount' holds fractions, not ids"):
        read("amount,a,b\n0.5,1,2\n1.5,2,3\n", None)
    assert read("amount,sender,receiver\n0.5,1,2\n1.5,2,3\n", None).num_edges == 2


def test_unused_columns_are_described(read: Read) -> None:
    rows = "".join(f"{a},{b},{k % 3},{'buys' if k % 2 else 'owns'},2020-01-{k + 1:02},{k}e9\n"
                   for k, (a, b) in enumerate(PAIRS * 4))  # fmt: skip
    graph = read("sender,receiver,n,kind,day,ts\n" + rows)
    assert "'row' (row numbers)" in read("row,sender,receiver\n1,a,b\n2,b,c\n3,c,d\n").remarks[0]
    assert graph.remarks[0].endswith(
        "not used: 'n' (numbers; weight='n' (--weight) uses them as weights), 'kind' (types of "
        "edges, here taken together: 'buys', 'owns'; edge_type='kind' (--edge-type) keeps them "
        "apart), 'day' (points in time), 'ts' (points in time)"
    )


# --- types ----------------------------------------------------------------------------------------

TYPED = "source,target,kind\na,b,owns\nb,a,likes\nb,c,owns \nc,d,\n"


def test_types_of_edges_are_kept_apart(read: Read, tmp_path: Path) -> None:
    graph = read(TYPED, edge_type="kind")
    assert graph.type_names == ("(empty)", "likes", "owns")
    assert pairs(graph.of_type("owns")) == [("a", "b"), ("b", "c")]
    assert pairs(graph.of_type("likes")) == [("a", "b")]
    assert pairs(graph) == PAIRS
    assert "types of edges from 'kind'" in graph.remarks[0]
    assert read(TYPED).edge_types is None
    for suffix in (".csv", ".parquet"):
        files = tmp_path / f"we{suffix}", tmp_path / f"wn{suffix}"
        write_tables(graph, *files)
        assert same_content(read_tables(*files, edge_type="edge_type"), graph)


def test_weighted_types_survive_tables(read: Read, tmp_path: Path) -> None:
    rows = "a,b,owns,1.5\nb,a,likes,2\nb,a,owns,4\nc,d,likes,0.5\n"
    graph = read("source,target,kind,weight\n" + rows, edge_type="kind", direction="keep")
    files = tmp_path / "we.csv", tmp_path / "wn.csv"
    write_tables(graph, *files)
    again = read_tables(*files, edge_type="edge_type", direction="keep")
    assert same_content(again, graph)
    assert again.adjacency[1, 0] == 6


def test_too_many_types_are_refused(read: Read) -> None:
    rows = "".join(f"a,b,t{k}\n" for k in range(65))
    with pytest.raises(InputError, match="column 'kind': 65 different types of edges; at most 64"):
        read("source,target,kind\n" + rows, edge_type="kind")
    with pytest.raises(InputError, match="no column 'knd' for the type of edges"):
        read(TYPED, edge_type="knd")
    with pytest.raises(InputError, match="cannot be both the type and an end"):
        read(TYPED, edge_type="source")


# --- labels elsewhere -----------------------------------------------------------------------------


def test_labels_may_stand_in_the_edge_table(read: Read) -> None:
    edges = "payer,payee,payer_label,payee_label\na,b,x,y\nb,c,y,x \nc,d,x,\n"
    graph = read(edges, None)
    assert dict(zip(graph.node_ids.tolist(), graph.labels.tolist(), strict=True)) == {
        "a": 0, "b": 1, "c": 0, "d": -1
    }  # fmt: skip
    assert graph.class_names == ("x", "y")
    assert any("labels from 'payer_label', 'payee_label'" in text for text in graph.remarks)
    other = edges.replace("_label", "_fraud")
    assert read(other, None, label="fraud").num_classes == 2
    with_nodes = read(other, "id,age\na,1\nb,2\nc,3\nd,4\n", label="fraud")
    assert with_nodes.num_classes == 2
    assert with_nodes.num_features == 1
    assert read(edges, NODES).labels.tolist() == [0, 1, 0, 1]  # those of the node table


def test_a_node_with_two_labels_is_refused(read: Read) -> None:
    edges = "source,target,source_label,target_label\na,b,x,y\nb,c,x,x\n"
    with pytest.raises(InputError, match="node 'b' has the label 'y' here and 'x' elsewhere"):
        read(edges, None)
    with pytest.raises(InputError, match="label='fraud' is about the node table"):
        read(edges, None, label="fraud")


def test_a_list_of_labels_may_leave_nodes_out(read: Read) -> None:
    edges = "source,target\na,b\nb,c\nc,d\nd,e\n"
    graph = read(edges, "node,team\na,x\nb,y\nc,x\nd,y\n")
    assert graph.node_ids.tolist() == ["a", "b", "c", "d", "e"]
    assert graph.labels.tolist() == [0, 1, 0, 1, -1]
    assert "e.csv: 1 node not in n.csv, taken without a label" in graph.remarks
    with pytest.raises(InputError, match="node 'a' is not in"):
        read(edges, "node,team\np,x\nq,y\nr,x\ns,y\n")
    split = read(edges, "node,label\na,x\nb,y\n")
    assert split.num_nodes == 5


# --- lists ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "# Directed graph: x.txt\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n3\t4\n",
        "% sym unweighted\n% 3 4 4\n1 2\n2 3\n3 4\n",
        "1   2\n 2 3\n3\t 4  \n",
        "1 2\r\n2  3\r\n3 4\r\n",
        "source target\n1 2\n2 3\n3 4\n",
    ],
)
@pytest.mark.parametrize("suffix", [".txt", ".edges", ".edgelist"])
def test_lists_of_edges_need_no_option(read: Read, text: str, suffix: str) -> None:
    graph = read(text, None, suffix)
    assert graph.node_ids.tolist() == [1, 2, 3, 4]
    assert graph.num_edges == 3


def test_a_list_of_edges_and_a_list_of_labels(read: Read) -> None:
    graph = read("1  2\n2  3\n3  4\n", "1 7\n2 8\n3 7\n4 8\n", ".txt")
    assert graph.class_names == ("7", "8")
    assert any("no header line, the first one holds numbers" in text for text in graph.remarks)


def test_places_in_lists_are_lines_of_the_file(read: Read) -> None:
    with pytest.raises(InputError, match=r"line 3 \(data row 2\), column '2': node '9' is not in"):
        read("% x\n1  2\n2  9\n", "1 7 5\n2 8 6\n", ".txt")


def test_quoted_blanks_stay(read: Read) -> None:
    graph = read('source target\n"a  b" c\nc d\n', None, ".txt")
    assert "a  b" in graph.node_ids
