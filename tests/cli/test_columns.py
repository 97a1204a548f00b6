"""What was recognised in the columns is shown before anything is trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterophily import load, read_tables
from heterophily.cli.columns import SHOWN, column_lines, columns_of


@pytest.fixture
def wide(tmp_path: Path) -> tuple[Path, Path]:
    """A node table with a category, a constant and forty numbers."""
    names = [f"x{i}" for i in range(40)]
    rows = [
        f"n{k},{'ab'[k % 2]},{['north', 'south', 'east'][k % 3]},same,"
        + ",".join(str((k * 7 + i) % 13 + 0.5) for i in range(40))
        for k in range(30)
    ]
    (tmp_path / "n.csv").write_text("\n".join([f"id,label,place,v,{','.join(names)}", *rows]))
    (tmp_path / "e.csv").write_text(
        "source,target\n" + "".join(f"n{k},n{k + 1}\n" for k in range(29))
    )
    return tmp_path / "e.csv", tmp_path / "n.csv"


def test_kinds_and_reasons_are_shown_and_a_long_table_is_cut(wide: tuple[Path, Path]) -> None:
    graph = read_tables(*wide)
    lines = column_lines(graph)
    assert lines[0].split() == ["column", "kind", "becomes"]
    assert "  place   category  3 features" in lines
    assert f"  ... and {42 - SHOWN} more (--all-columns shows them)" in lines
    assert "--column NAME=KIND" in lines[-1]
    whole = column_lines(graph, all_columns=True)
    assert any("constant  left out: all nodes have the same value" in line for line in whole)
    assert len(whole) == 1 + 42 + 1


def test_data_has_every_column(wide: tuple[Path, Path]) -> None:
    found = columns_of(read_tables(*wide))
    assert len(found) == 42
    assert found[0]["name"] == "place"
    assert found[-1] == {
        "name": "v",
        "kind": "constant",
        "features": 0,
        "treatment": "left out: all nodes have the same value",
    }


def test_control_characters_and_long_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    (tmp_path / "n.csv").write_text(f"id,\x1b[31m{'x' * 90}\na,2\nb,5\n")
    line = column_lines(read_tables(tmp_path / "e.csv", tmp_path / "n.csv"))[1]
    assert line.isprintable()
    assert "..." in line
    assert len(line) < 80


def test_a_graph_without_a_table_has_no_columns() -> None:
    assert columns_of(load("karate")) == []
    assert column_lines(load("karate")) == []


def test_predict_takes_no_other_column_for_the_label() -> None:
    from types import SimpleNamespace
    from typing import Any

    from heterophily.cli.trained import _without_strange_columns
    from heterophily.data.source import GraphSource

    model: Any = SimpleNamespace(trained_on=SimpleNamespace(encoder={}, feature_names=None))
    source = GraphSource(edges="e.csv", nodes="n.csv", label="modularity_class")
    found = ("Id", "Label", "modularity_class", "Degree")  # as Gephi writes them
    read = _without_strange_columns(model, source, found, with_labels=False)
    assert read.label is None
    assert set(read.ignore) == {"Label", "modularity_class"}
