"""A graph source: one value that is checked once, travels, and opens the same graph everywhere."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterophily import GraphSource, open_graph, read_tables, write_npz
from heterophily.data.graph import same_content
from heterophily.data.options import OPTIONS, column_kinds, column_names, delimiter_of
from heterophily.errors import HeterophilyError, InputError

TABLES = {"edges": "e.csv", "nodes": "n.csv"}


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pair of tables in a folder ``data`` below the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "e.csv").write_text("payer;payee\na;b\nb;c\nc;a\nc;d\n")
    (tmp_path / "data" / "n.csv").write_text(
        "key;team;zip;age\na;red;1;20\nb;blue;2;30\nc;red;1;40\nd;;2;50\n"
    )
    return tmp_path / "data"


OPTIONS_OF_TABLES: dict[str, Any] = {
    "edges": "data/e.csv",
    "nodes": "data/n.csv",
    "source": "payer",
    "target": "payee",
    "label": "team",
    "ignore": ["age"],
    "columns": {"zip": "category"},
    "delimiter": ";",
    "direction": "keep",
}


def test_a_recipe_opens_the_same_graph_from_every_folder(
    tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = GraphSource(**OPTIONS_OF_TABLES)
    source.write("data/graph.toml")
    assert tomllib.loads((tables / "graph.toml").read_text())["edges"] == "e.csv"
    wanted = source.open()
    assert wanted.feature_names == ("zip=1", "zip=2")
    assert wanted.is_directed
    assert GraphSource.read("data/graph.toml") == source
    monkeypatch.chdir(tables)
    assert same_content(open_graph("graph.toml"), wanted)
    tables.rename(tables.with_name("moved"))
    monkeypatch.chdir(tables.parent)
    assert same_content(open_graph(Path("moved/graph.toml")), wanted)


def test_options_given_beside_a_recipe_come_before_those_in_it(tables: Path) -> None:
    GraphSource(**OPTIONS_OF_TABLES).write("graph.toml")
    assert not open_graph("graph.toml", direction="drop").is_directed
    source = GraphSource(graph="graph.toml", ignore=("zip",), name="mine")
    assert source.open().feature_names == ("age",)
    assert source.open().name == "mine"
    assert source.arguments() == "graph.toml --ignore zip --name mine"
    source.write("second.toml")  # says all, and names no other recipe
    assert GraphSource.read("second.toml").ignore == ("zip",)
    Path("graph.toml").write_text('graph = "second.toml"')
    with pytest.raises(InputError, match=r"graph\.toml: .*names another recipe"):
        open_graph("graph.toml")


def test_absolute_files_stay_absolute_unless_they_lie_beside_the_recipe(tables: Path) -> None:
    away = tables.parent / "away"
    away.mkdir()
    source = GraphSource(edges=str(tables / "e.csv"), nodes=str(tables / "n.csv"))
    source.write(tables / "g.toml")
    assert tomllib.loads((tables / "g.toml").read_text())["nodes"] == "n.csv"
    source.write(away / "g.toml")
    assert GraphSource.read(away / "g.toml").nodes == str(tables / "n.csv")
    GraphSource(edges="data/e.csv").write(away / "g.toml")
    assert tomllib.loads((away / "g.toml").read_text())["edges"] == "../data/e.csv"


def test_a_source_opens_datasets_and_files(tables: Path) -> None:
    assert GraphSource(graph="karate", name="club").open().name == "club"
    write_npz(open_graph("karate"), "k.npz")
    GraphSource(graph="k.npz").write("data/k.toml")
    assert same_content(open_graph("data/k.toml"), open_graph("karate"))
    GraphSource(graph="karate").write("data/k.toml")
    assert same_content(open_graph("data/k.toml"), open_graph("karate"))


def test_the_same_reading_of_other_files(tables: Path) -> None:
    source = GraphSource(**OPTIONS_OF_TABLES)
    other = source.on(edges="x.csv", nodes="y.csv")
    assert other == source.replace(edges="x.csv", nodes="y.csv")
    assert source.on("x.npz") == GraphSource(graph="x.npz", direction="keep")
    assert source.on("x.gexf").label == "team"


def test_an_encoder_is_for_tables_alone(tables: Path) -> None:
    source = GraphSource(**OPTIONS_OF_TABLES)
    encoder = source.open().encoder
    assert source.open(encoder=encoder).feature_names == ("zip=1", "zip=2")
    with pytest.raises(InputError, match="encoder= is for tables"):
        GraphSource(graph="karate").open(encoder=encoder)


def test_a_table_as_graph_is_the_table_of_edges() -> None:
    assert GraphSource(graph="e.csv", nodes="n.csv") == GraphSource(edges="e.csv", nodes="n.csv")
    assert GraphSource(graph="list.edges").kind == "tables"


def test_a_graph_beyond_its_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "e.csv").open("wb") as stream:
        stream.write(b"source,target\n")
        stream.truncate(40 * 2**20)  # a hole: nothing is written, nothing may be read
    with pytest.raises(InputError, match=r"e\.csv, .* bytes of text, needs .*--memory 80MB"):
        GraphSource(edges=str(tmp_path / "e.csv"), memory="70 MB").open()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "name one graph"),
        ({"graph": "karate", **TABLES}, "name one graph"),
        ({"nodes": "n.csv"}, "the table of nodes n.csv needs a table of edges"),
        ({"graph": "karate", "label": "club"}, "--label is for .graphml and .gexf files, tables"),
        ({"graph": "karate", "has_header": False}, "--no-header is for tables"),
        ({"graph": "x.npz", "columns": {"a": "number"}}, "--column is for tables"),
        ({"graph": "x.gexf", "fill_unlabelled": 0}, "--fill-unlabelled is for catalog names"),
        ({**TABLES, "fill_unlabelled": 0}, "--fill-unlabelled is for catalog names"),
        ({"graph": "e.csv", "edges": "f.csv"}, "name one graph"),
        ({"graph": "texas", "memory": "much"}, "memory is a size such as 8GB, not 'much'"),
        ({**TABLES, "ignore": "a"}, "ignore='a': ignore is a list of column names"),
        ({**TABLES, "features": 5}, "features=5: features has another kind of value"),
        ({**TABLES, "columns": ["a"]}, "columns gives kinds to columns"),
        ({**TABLES, "encode": "no"}, "encode is true or false"),
        ({**TABLES, "direction": "left"}, "direction is 'drop' or 'keep'"),
        ({**TABLES, "label": 3}, "label is a text"),
        ({"graph": 3}, "graph is the name of a file"),
        ({"graph": "karate", "fill_unlabelled": True}, "fill_unlabelled is a whole number"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        GraphSource(**options)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("edges = 5", r"g\.toml: edges=5: edges is the name of a file"),
        ('edges = "e.csv"\nlable = "x"', r"g\.toml: unknown .*did you mean 'label'"),
        ("edges = ", r"g\.toml is not TOML"),
        ("", r"g\.toml: name one graph"),
        ('graph = "karate"\nlabel = "x"', r"g\.toml: --label is for"),
        ('edges = "none.csv"', r"none\.csv: no such file"),
    ],
)
def test_a_bad_recipe_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "g.toml").write_text(text)
    with pytest.raises(HeterophilyError, match=sentence):
        open_graph(tmp_path / "g.toml")


def test_a_recipe_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    source = GraphSource(graph="karate")
    with pytest.raises(InputError, match=r"ends in \.toml"):
        source.write(tmp_path / "recipe")
    with pytest.raises(InputError, match="there is no folder"):
        source.write(tmp_path / "none" / "g.toml")
    with pytest.raises(InputError, match="no Unicode text"):
        source.replace(name="\udcff").write(tmp_path / "g.toml")
    assert not list(tmp_path.iterdir())


def test_arguments_are_the_words_that_name_the_graph() -> None:
    source = GraphSource(
        edges="my edges.csv",
        label="-x",
        ignore=("a,b", "c"),
        columns={"zip": "category", "a=b": "date"},
        delimiter="tab",
        has_header=False,
        encode=False,
        direction="keep",
        self_loops="remove",
    )
    assert shlex.split(source.arguments()) == [
        *("--edges", "my edges.csv", "--label=-x", "--ignore", '"a,b",c'),
        *("--column", "zip=category", "--column", "a=b=date", "--no-encode"),
        *("--delimiter", "tab", "--no-header", "--directed", "--no-self-loops"),
    ]
    assert column_names('"a,b",c') == source.ignore
    assert column_kinds(["zip=category", "a=b=date"]) == source.columns
    assert delimiter_of("tab") == source.delimiter
    with pytest.raises(InputError, match="write it as NAME=KIND"):
        column_kinds(["zip"])


_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
_OPTIONS = st.fixed_dictionaries(
    {"edges": st.just("e.csv")},
    optional={
        "nodes": st.just("n.csv"),
        "label": _texts,
        "ignore": st.lists(_texts, max_size=3),
        "features": st.lists(_texts, max_size=3),
        "columns": st.dictionaries(_texts, st.sampled_from(["number", "text"]), max_size=3),
        "delimiter": st.sampled_from([";", "\t", " "]),
        "encode": st.booleans(),
        "direction": st.sampled_from(["drop", "keep"]),
    },
)


@settings(max_examples=60, deadline=None)
@given(options=_OPTIONS)
def test_every_source_survives_a_dictionary_and_a_file(
    options: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    source = GraphSource(**options)
    assert GraphSource.from_dict(source.to_dict()) == source
    assert hash(source) == hash(GraphSource.from_dict(source.to_dict()))
    here, folder = Path.cwd(), tmp_path_factory.getbasetemp()
    os.chdir(folder)
    try:
        source.write("g.toml")
        assert GraphSource.read("g.toml") == source
    finally:
        os.chdir(here)


def test_every_option_of_a_source_is_in_the_table_and_one_of_a_reader() -> None:
    import inspect

    assert list(OPTIONS) == list(inspect.signature(GraphSource).parameters)
    readers = {
        name
        for reader in (read_tables, open_graph)
        for name in inspect.signature(reader).parameters
    }
    assert readers - {"spec", "encoder"} <= set(OPTIONS)


def test_importing_it_loads_no_library() -> None:
    code = "import sys, heterophily.data.source; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
