"""Tables as people write them: what is understood, and what is refused with which sentence."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.data.tables import read_tables, write_tables
from heterophily.data.tables.spelling import is_unusual
from heterophily.errors import InputError

EDGES = "source,target\na,b\nb,c\n"
NODES = "id,label,size\na,x,1\nb,y,2\nc,x,3\n"
Read = Callable[..., Graph]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write the given texts to edges.csv and nodes.csv (or other names) and read them."""

    def _read(
        edges: str | bytes = EDGES,
        nodes: str | bytes | None = None,
        *,
        edges_name: str = "edges.csv",
        nodes_name: str = "nodes.csv",
        **options: Any,
    ) -> Graph:
        paths = []
        for name, text in ((edges_name, edges), (nodes_name, nodes)):
            if text is not None:
                data = text.encode() if isinstance(text, str) else text
                (tmp_path / name).write_bytes(data)
                paths.append(tmp_path / name)
        return read_tables(*paths, **options)

    return _read


def edge_set(graph: Graph) -> set[tuple[str, str]]:
    coo = graph.adjacency.tocoo()
    ids = graph.node_ids.astype(str)
    return {(ids[u], ids[v]) for u, v in zip(coo.row, coo.col, strict=True) if u < v}


# --- what is understood ---------------------------------------------------------------------------


def test_nodes_keep_their_order_and_labels_are_sorted_names(read: Read) -> None:
    graph = read(EDGES, "id,label,size\nc,x,3\na,y,1\nb,x,2.5\n", encode=False)
    assert graph.node_ids.tolist() == ["c", "a", "b"]
    assert graph.class_names == ("x", "y")
    assert graph.labels.tolist() == [0, 1, 0]
    assert np.asarray(graph.features).tolist() == [[3.0], [1.0], [2.5]]


def test_without_a_node_table_the_nodes_are_the_sorted_ids_of_the_edges(read: Read) -> None:
    graph = read("source,target\n10,9\n9,2\n")
    assert graph.node_ids.tolist() == [2, 9, 10]
    assert graph.num_edges == 2
    assert graph.num_classes == 0


@pytest.mark.parametrize("spelling", ["001", "+1", "1 ", " 1", "-0", "0x1", "1.0", "1e0"])
def test_ids_that_only_a_number_parser_would_merge_stay_apart(read: Read, spelling: str) -> None:
    graph = read(f"source,target\n1,0\n{spelling},0\n")
    assert graph.num_nodes == 3
    assert spelling in graph.node_ids.tolist()


def test_last_cell_without_line_end_is_examined_too(read: Read) -> None:
    assert read("source,target\n0,5\n5,-0").node_ids.tolist() == ["-0", "0", "5"]
    assert read("01,1\n1,2\n", has_header=False).node_ids.tolist() == ["01", "1", "2"]


def test_quoted_integers_are_integers_when_they_are_canonical(read: Read) -> None:
    assert read('source,target\n"1","2"\n2,3\n').node_ids.tolist() == [1, 2, 3]


@pytest.mark.parametrize("piece", [0, 1, 2, 1 << 18])
def test_leading_zero_is_seen_at_every_place(piece: int) -> None:
    text = np.frombuffer(b"1" * ((1 << 18) - 1 - piece) + b",01\n", np.uint8)
    assert is_unusual(text, ",")
    assert not is_unusual(np.frombuffer(b"10,0\n0,100\n-5,0.5\n", np.uint8), ",")


def test_numbers_in_one_file_and_words_in_the_other_are_compared_as_text(read: Read) -> None:
    graph = read("source,target\n1,2\n2,1\n", "id,label\n1,x\n2,y\nthree,x\n")
    assert graph.node_ids.tolist() == ["1", "2", "three"]
    assert graph.num_edges == 1


def test_huge_and_negative_ids_cost_no_memory(read: Read) -> None:
    edges = "source,target\n1000000000000000000,-5\n-5,3\n"
    assert read(edges).node_ids.tolist() == [-5, 3, 10**18]
    graph = read(edges, "id,label\n3,0\n1000000000000000000,1\n-5,0\n")
    assert edge_set(graph) == {("1000000000000000000", "-5"), ("3", "-5")}


def test_ids_beyond_64_bits_are_text(read: Read) -> None:
    assert read("source,target\n18446744073709551616,1\n").node_ids.tolist() == [
        "1",
        "18446744073709551616",
    ]


@pytest.mark.parametrize(
    "header", ["src,dst", "from,to", "U,V", "node1,node2", "Source, Target", "a,b"]
)
def test_ends_are_found_by_name_or_position(read: Read, header: str) -> None:
    graph = read(f"{header}\nx,y\n")
    assert edge_set(graph) == {("x", "y")}


def test_named_columns_win_over_position_and_the_remark_says_what_was_ignored(read: Read) -> None:
    graph = read("since,to,weight,from\n1999,b,2.5,a\n")
    assert graph.adjacency.max() == 2.5
    assert graph.remarks == (
        "edges.csv: source and target from columns 'from', 'to'; weight from 'weight'; "
        "not used: 'since' (numbers)",
    )
    chosen = read("since,to,weight,from\n1999,b,2.5,a\n", source="since", target="to")
    assert chosen.node_ids.tolist() == ["1999", "b"]


def test_empty_labels_are_unlabelled_and_whole_floats_are_classes(read: Read) -> None:
    graph = read(EDGES, "id,y\na,10.0\nb,\nc,9\n")
    assert graph.class_names == ("9", "10")
    assert graph.labels.tolist() == [1, -1, 0]


def test_labels_with_leading_zeros_are_names(read: Read) -> None:
    assert read(EDGES, "id,y\na,01\nb,1\nc,2\n").class_names == ("01", "1", "2")


def test_split_columns_make_fixed_splits(read: Read) -> None:
    nodes = "id,label,split_0,split_1\na,x,train,test\nb,y,valid,train\nc,x,Test,val\nd,y,,\n"
    graph = read(EDGES, nodes)
    assert graph.splits is not None
    assert graph.splits.train.tolist() == [[True, False, False, False], [False, True, False, False]]
    assert graph.splits.validation.tolist()[1] == [False, False, True, False]
    assert graph.num_features == 0


def test_features_are_all_other_columns_or_those_asked_for(read: Read) -> None:
    nodes = "id,label,p,city,q\na,x,1,Rome,4\nb,y,2,Oslo,5\nc,x,3,Bern,6\n"
    assert read(EDGES, nodes, ignore=["city"]).num_features == 2
    graph = read(EDGES, nodes, features=["q"], encode=False)
    assert graph.feature_names == ("q",)
    assert np.asarray(graph.features).ravel().tolist() == [4.0, 5.0, 6.0]
    assert graph.remarks[1].endswith("columns for features: 'q'; ignored: 'p', 'city'")


def test_wide_mostly_zero_tables_become_sparse(read: Read) -> None:
    header = "id," + ",".join(f"w{k}" for k in range(20))
    rows = [f"{name}," + ",".join("1" if k == i else "0" for k in range(20)) for i, name in
            enumerate("abc")]  # fmt: skip
    features = read(EDGES, "\n".join([header, *rows]) + "\n", encode=False).features
    assert sp.issparse(features)
    assert features.nnz == 3
    assert features.dtype == np.float32


def test_single_precision_only_where_it_is_exact(read: Read) -> None:
    graph = read(EDGES, "id,p\na,0.1\nb,0.5\nc,1e300\n", encode=False)
    assert np.asarray(graph.features).ravel().tolist() == [0.1, 0.5, 1e300]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark_do_not_matter(read: Read, line_end: str, mark: str) -> None:
    graph = read((mark + EDGES).replace("\n", line_end), NODES.replace("\n", line_end))
    assert graph.num_edges == 2
    assert graph.class_names == ("x", "y")


def test_text_files_show_their_delimiter_and_comments_are_skipped_with_a_remark(read: Read) -> None:
    text = "# Directed graph\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n"
    graph = read(text, edges_name="edges.txt", has_header=False)
    assert graph.num_nodes == 3
    assert graph.remarks[:2] == (
        "edges.txt: 2 lines starting with '#' skipped",
        r"edges.txt: columns separated by '\t'",
    )


def test_gzip_and_explicit_delimiter(read: Read) -> None:
    packed = gzip.compress(EDGES.replace(",", "|").encode())
    assert read(packed, edges_name="edges.csv.gz", delimiter="|").num_edges == 2


def test_rows_longer_than_a_parser_block_are_read(read: Read) -> None:
    columns = ",".join(f"f{k}" for k in range(3))
    wide = "9" * 300 + "." + "0" * 3_000_000
    nodes = f"id,{columns}\n" + "".join(f"{n},{wide},0,{wide}\n" for n in "abc")
    assert read(EDGES, nodes, encode=False).num_features == 3


def test_parquet_columns_of_every_kind(tmp_path: Path) -> None:
    pq.write_table(
        pa.table(
            {
                "source": pa.array(["a", "b"]).dictionary_encode(),
                "target": pa.array(["b", "c"], pa.large_string()),
                "weight": pa.array([1, 2], pa.int8()),
            }
        ),
        tmp_path / "e.parquet",
    )
    pq.write_table(
        pa.table(
            {
                "id": ["a", "b", "c"],
                "label": pa.array([1.0, None, 0.0]),
                "flag": [True, False, True],
                "size": pa.array([1.5, 2.5, 3.5], pa.float32()),
            }
        ),
        tmp_path / "n.parquet",
    )
    graph = read_tables(tmp_path / "e.parquet", tmp_path / "n.parquet", encode=False)
    assert graph.labels.tolist() == [1, -1, 0]
    assert np.asarray(graph.features).tolist() == [[1.0, 1.5], [0.0, 2.5], [1.0, 3.5]]
    assert graph.is_weighted


def test_unsigned_ids_beyond_the_signed_range_in_parquet(tmp_path: Path) -> None:
    ids = pa.array([2**64 - 1, 1], pa.uint64())
    pq.write_table(pa.table({"u": ids, "v": ids.take(pa.array([1, 0]))}), tmp_path / "e.parquet")
    assert read_tables(tmp_path / "e.parquet").node_ids.tolist() == ["1", str(2**64 - 1)]


# --- what is refused ------------------------------------------------------------------------------

BAD_EDGES = {
    "": r"edges\.csv is empty",
    "\n\n": r"edges\.csv has nothing but empty lines; export the table again",
    "source,target\n": r"has a header but no rows; export the table again, with at least one row",
    "source\na\n": r"one column 'source'; an edge table needs two id columns",
    "source,target\na,b\nb,c,d\n": r"line 3 \(data row 2\): 3 cells, expected 2",
    "source,target\na,b\n\nb\n": r"line 4 \(data row 2\): 1 cells, expected 2",
    "source,target\na,b\nb,\n": r"line 3 \(data row 2\), column 'target': empty id",
    'source,target\na,""\n': r"line 2 \(data row 1\), column 'target': empty id",
    "source,source\na,b\n": r"two columns are called 'source'",
    "0,1\n1,2\n": r"line 1: '0' is not a column name; pass has_header=False \(--no-header\)",
    "ann,bob\nbob,cyd\n": r"line 1: the column name 'bob' is also a node id; pass has_header=False",
    "source,target,weight\na,b,heavy\n": r"line 2 \(data row 1\), column 'weight': 'heavy' is not",
    "source,target,weight\na,b,1\nb,c,-2\n": r"line 3 \(data row 2\), column 'weight': weight -2",
    "source,target,weight\na,b,nan\n": r"line 2 \(data row 1\), column 'weight': weight nan",
    "source,target,weight\na,b,\n": r"line 2 \(data row 1\), column 'weight': empty cell",
    "source,target\na,a\nb,b\n": r"no edge is left; all 2 rows are self loops",
    'source,target\na,b\nb,"c\n': r"line 3: a quote \(\"\) is opened and never closed",
    b"source,target\na,b\nb,\x81\n": r"line 3: not UTF-8 text",
    b"so\x81urce,target\na,b\n": r"line 1: not UTF-8 text \(byte 0x81\)",
    "source,target\na," + "b" * 2000 + "\n": r"line 2 \(data row 1\).*2,000 characters",
}


@pytest.mark.parametrize(("text", "sentence"), BAD_EDGES.items(), ids=range(len(BAD_EDGES)))
def test_bad_edge_table_is_refused_with_its_place(
    read: Read, text: str | bytes, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        read(text)
    assert str(caught.value).count("\n") == 0
    assert "edges.csv" in str(caught.value)


BAD_NODES = {
    "id,label,age\na,x,1\nb,y,2\n": r"edges\.csv, line 3 .* 'target': node 'c' is not in "
    r"nodes\.csv",
    "id,label\na,x\nb,y\nc,x\na,y\n": r"nodes\.csv, line 5 \(data row 4\), column 'id': node id "
    r"'a' was already on line 2 \(data row 1\)",
    "id,label\na,x\nb,x\nc,x\n": r"column 'label': all labels are 'x'; at least two classes",
    "id,label\na,\nb,\nc,\n": r"column 'label': no node has a label",
    "id,label\na,0\nb,-1\nc,1\n": r"line 3 .* 'label': label '-1' is negative; "
    "leave the cell empty",
    "id,label\na,0\nb,1.5\nc,1\n": r"line 3 .* 'label': label '1.5' is not a whole",
    "id,label,p\na,x,1\n,y,2\nc,x,3\n": r"line 3 .* 'id': empty id",
    "source,target\na,b\n": r"nodes\.csv looks like an edge table",
    "0,x,1\n1,y,2\n": r"line 1: '0' is not a column name; pass has_header=False",
    "a,x\nb,y\nc,x\na,y\n": r"line 1: the column name 'a' is also a node id",
    "id,label,split\na,x,train\nb,y,tset\nc,x,test\n": r"line 3 .* 'split': 'tset'",
    "id,label,split\na,x,train\nb,y,\nc,x,test\n": r"no node is in the validation set",
    b"id,label\na,x\nb,caf\x81\nc,x\n": r"line 3: not UTF-8 text",
}


@pytest.mark.parametrize(("text", "sentence"), BAD_NODES.items(), ids=range(len(BAD_NODES)))
def test_bad_node_table_is_refused_with_its_place(
    read: Read, text: str | bytes, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        read(EDGES, text)
    assert str(caught.value).count("\n") == 0


BAD_NUMBERS = {
    "id,label,p\na,x,1\nb,y,two\nc,x,3\n": r"line 3 .* 'p': 'two' is not a number; features are",
    "id,label,p\na,x,1\nb,y,nan\nc,x,3\n": r"line 3 .* 'p': nan is not a finite",
    "id,label,p\na,x,1\nb,y,3\nc,x,-inf\n": r"line 4 \(data row 3\), column 'p': -inf is not",
    "id,label,p\na,x,1\nb,y,\nc,x,3\n": r"line 3 .* 'p': empty cell",
    "id,label,p,q\na,x,1,u\nb,y,two,2\nc,x,3,v\n": r"line 2 .* 'q': 'u' is not a number; features "
    r"are .*; also line 3 \(data row 2\), column 'p': 'two' is not a number; line 4 .*'q': 'v'",
}


@pytest.mark.parametrize(("text", "sentence"), BAD_NUMBERS.items(), ids=range(len(BAD_NUMBERS)))
def test_without_encoding_every_cell_must_be_a_number(read: Read, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read(EDGES, text, encode=False)


def test_places_count_blank_lines_comments_and_quoted_line_ends(read: Read) -> None:
    edges = '# two\n# comments\nsource,target\n"a\nb",c\n\nc,x\n'
    with pytest.raises(InputError, match=r"line 7 \(data row 2\), column 'target': node 'x'"):
        read(edges, 'id,label,age\n"a\nb",x,1\nc,y,2\n')


def test_unknown_integer_ids_are_named_in_dense_and_wide_ranges(read: Read) -> None:
    for far in ("7", "-3", "1000000000000000000"):
        with pytest.raises(InputError, match=rf"line 3 .*column 'source': node '{far}' is not in"):
            read(f"source,target\n1,2\n{far},1\n", "id,label,age\n1,x,5\n2,y,6\n")
    with pytest.raises(InputError, match=r"node '5' is not in"):
        read("source,target\n1,5\n", "id,label,age\n1,x,5\n1000000000000000000,y,6\n")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"source": "sorce", "target": "target"}, "no column 'sorce'.*did you mean 'source'"),
        ({"source": "source"}, "pass both source= and target="),
        ({"source": "source", "target": "source"}, "the same column 'source'"),
        ({"weight": "w"}, "no column 'w' for the weight"),
        ({"label": "colour"}, "label='colour' is about the node table"),
        ({"delimiter": "::"}, "it must be one ASCII character"),
        ({"direction": "up"}, "direction='up'"),
    ],
)
def test_bad_options_are_refused(read: Read, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read(EDGES, **options)


def test_one_string_is_no_list_of_features(read: Read) -> None:
    with pytest.raises(InputError, match="features='size'; pass a list"):
        read(EDGES, NODES, features="size")


def test_missing_file_folder_and_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: no such file"):
        read_tables(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_tables(tmp_path)
    (tmp_path / "edges.xlsx").write_text("x")
    with pytest.raises(InputError, match=r"edges\.xlsx: spreadsheets are not read; save"):
        read_tables(tmp_path / "edges.xlsx")


def test_damaged_gzip_and_parquet_files(read: Read, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"edges\.csv\.gz is not a gzip file"):
        read(EDGES, edges_name="edges.csv.gz")
    whole = gzip.compress(np.random.default_rng(0).bytes(5000).hex().encode())
    with pytest.raises(InputError, match=r"is damaged or cut off"):
        read(whole[:-20], edges_name="edges.csv.gz")
    pq.write_table(pa.table({"source": [1, 2], "target": [2, 3]}), tmp_path / "edges.parquet")
    data = (tmp_path / "edges.parquet").read_bytes()
    for damaged in (data[:-30], data[: len(data) // 2], b"PAR1" + b"\0" * 50):
        (tmp_path / "edges.parquet").write_bytes(damaged)
        with pytest.raises(InputError, match=r"edges\.parquet is not a readable Parquet file"):
            read_tables(tmp_path / "edges.parquet")


def test_parquet_refusals_name_rows_and_types(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"source": [1.5], "target": [2.0]}), path)
    with pytest.raises(InputError, match=r"column 'source': holds double values, expected ids"):
        read_tables(path)
    pq.write_table(pa.table({"source": ["a", None], "target": ["b", "c"]}), path)
    with pytest.raises(InputError, match=r"e\.parquet, row 2, column 'source': empty id"):
        read_tables(path)


def test_random_bytes_never_end_in_anything_but_an_input_error(read: Read) -> None:
    rng = np.random.default_rng(0)
    alphabet = np.frombuffer(b'0123456789ab,,,\n\n\n"\r\t;#-+. \xff\xc3\xa9\x00', np.uint8)
    for _ in range(300):
        text = rng.choice(alphabet, rng.integers(1, 60)).tobytes()
        for edges, nodes in ((b"source,target\n" + text, None), (text, None), (EDGES, text)):
            try:
                read(edges, nodes)
            except InputError as error:
                assert "\n" not in str(error)  # noqa: PT017


# --- writing --------------------------------------------------------------------------------------


def test_undirected_edges_are_written_once(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 1, -1])
    write_tables(graph, tmp_path / "e.csv", tmp_path / "n.csv")
    assert (tmp_path / "e.csv").read_text().split() == ["source,target", "0,1", "1,2"]
    assert (tmp_path / "n.csv").read_text().split() == ["id,label", '0,"0"', '1,"1"', "2,"]


def test_nothing_is_written_when_the_second_file_cannot_be(tmp_path: Path) -> None:
    graph = Graph.from_edges([0], [1])
    with pytest.raises(InputError, match="cannot write"):
        write_tables(graph, tmp_path / "e.csv", tmp_path / "missing" / "n.csv")
    assert list(tmp_path.iterdir()) == []


def test_what_a_table_cannot_hold_is_refused(tmp_path: Path) -> None:
    files = tmp_path / "e.csv", tmp_path / "n.csv"
    with pytest.raises(InputError, match="node 1 has an empty id"):
        write_tables(Graph.from_edges([0], [1], node_ids=["a", ""]), *files)
    with pytest.raises(InputError, match="class 0 has an empty name"):
        write_tables(Graph.from_edges([0], [1], labels=[0, 1], class_names=("", "x")), *files)
    with pytest.raises(InputError, match="name two files"):
        write_tables(Graph.from_edges([0], [1]), files[0], files[0])


def test_a_byte_order_mark_after_the_header_is_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_bytes(b"\xef\xbb\xbfsource,target\na,b\n")
    assert read_tables(path).node_ids.tolist() == ["a", "b"]
    path.write_bytes(b"source,target\n\xef\xbb\xbfa,b\n")
    with pytest.raises(InputError, match="line 2: it begins with a byte order mark"):
        read_tables(path)
