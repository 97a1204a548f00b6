"""A table before it is read: names, kinds, first values, roles by well-known names."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heterophily.data.tables.preview import preview_edges, preview_nodes
from heterophily.errors import InputError


def test_nodes_have_kinds_examples_and_roles(tmp_path: Path) -> None:
    path = tmp_path / "n.csv"
    rows = "".join(f"a{i},{i % 3},{'x' * 40},\n" for i in range(30))
    path.write_text("Id,Class,note,empty\n" + rows)
    found = preview_nodes(path)
    assert found.rows == 30
    assert [(column.name, column.kind) for column in found.columns] == [
        ("Id", "id"),
        ("Class", "number"),
        ("note", "constant"),
        ("empty", "almost-empty"),
    ]
    assert found.columns[0].examples == ("a0", "a1", "a2")
    assert found.columns[2].examples == ("x" * 24 + "...",)
    assert found.columns[3].examples == ()
    assert found.roles == {"node_id": "Id", "label": "Class"}


def test_edges_have_ends_by_their_names_or_none(tmp_path: Path) -> None:
    pq.write_table(pa.table({"w": [1.0], "dst": ["b"], "src": ["a"]}), tmp_path / "e.parquet")
    found = preview_edges(tmp_path / "e.parquet")
    assert found.roles == {"source": "src", "target": "dst", "weight": "w"}
    (tmp_path / "keys.csv").write_text("amount,receiver_key,sender_key\n5,b,a\n")
    found = preview_edges(tmp_path / "keys.csv")
    assert found.roles == {"source": "sender_key", "target": "receiver_key"}
    (tmp_path / "e.csv").write_text("a,b\n")
    assert preview_edges(tmp_path / "e.csv", has_header=False).roles == {}


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no\.csv: no such file"):
        preview_nodes(tmp_path / "no.csv")
    with pytest.raises(InputError, match="unknown kind of table"):
        preview_nodes(tmp_path / "a.docx")
