from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from heterophily.data.readers.deezer import read_deezer
from heterophily.errors import InputError

EDGES, FEATURES, TARGET = (
    f"deezer_europe/deezer_europe_{part}" for part in ("edges.csv", "features.json", "target.csv")
)
MEMBERS = {
    EDGES: "node_1,node_2\n0,1\n2,1\n",
    FEATURES: '{"0": [3, 1], "2": [0], "3": [1, 1]}',
    TARGET: "id,target\n1,1\n0,0\n2,0\n3,1\n",
    "deezer_europe/README.txt": "about",
}
SPLIT = {"train": np.array([0]), "valid": np.array([1, 2]), "test": np.array([3])}


def test_the_archive_and_the_splits_are_read(
    tmp_path: Path, upstream_files: SimpleNamespace
) -> None:
    upstream_files.deezer(tmp_path, members=MEMBERS, splits=[SPLIT, SPLIT])
    pieces = read_deezer(tmp_path)
    assert pieces.edge_index.T.tolist() == [[0, 1], [2, 1]]
    assert pieces.labels is not None
    assert pieces.labels.tolist() == [0, 1, 0, 1]
    assert pieces.features is not None
    assert pieces.features.toarray().tolist() == [
        [0, 1, 0, 1],
        [0, 0, 0, 0],
        [1, 0, 0, 0],
        [0, 1, 0, 0],
    ]
    assert [split.sizes for split in pieces.split_sets["fixed"]] == [(1, 2, 1)] * 2
    assert pieces.graph().report.done == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({EDGES: None}, "has no member 'deezer_europe_edges.csv'"),
        ({EDGES: "a,b\n0,1\n"}, "the first line must be 'node_1,node_2'"),
        ({EDGES: "node_1,node_2\n0,1\n0,4\n"}, r"edges.csv, line 3 names a user outside 0 .. 3"),
        ({EDGES: "node_1,node_2\n0;1\n"}, r"edges.csv, line 2: expected two whole numbers"),
        ({TARGET: "id,target\n0,1\n0,1\n"}, r"must list every user 0 .. 1 once"),
        ({FEATURES: '{"0": [1'}, "features.json is not JSON"),
        ({FEATURES: "[1]"}, "must map each user"),
        ({FEATURES: '{"9": [1]}'}, "entry '9' is not a user"),
        ({FEATURES: '{"0": [1.5]}'}, "entry '0' is not a user"),
        ({FEATURES: '{"0": [1000000000000]}'}, "entry '0' is not a user"),
        ({"../evil.txt": "x"}, r"member '../evil.txt' lies outside"),
        ({"/etc/evil": "x"}, "member '/etc/evil' lies outside"),
        ({"a\\..\\..\\evil": "x"}, "lies outside"),
    ],
)
def test_a_wrong_member_is_named_and_nothing_is_unpacked(
    tmp_path: Path, upstream_files: SimpleNamespace, changes: dict[str, Any], words: str
) -> None:
    members = {key: text for key, text in {**MEMBERS, **changes}.items() if text is not None}
    upstream_files.deezer(tmp_path, members=members)
    with pytest.raises(InputError, match=words) as caught:
        read_deezer(tmp_path)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["deezer_europe.zip"]


@pytest.mark.parametrize(
    ("split", "words"),
    [
        ({"train": np.array([0])}, "split 1 has no parts train, valid, test"),
        ({**SPLIT, "test": np.array([4])}, "split 1: the test set names node 4"),
        ({**SPLIT, "test": np.array([0])}, "split 1: node 0 is in both"),
    ],
)
def test_a_wrong_split_is_named(
    tmp_path: Path, upstream_files: SimpleNamespace, split: Any, words: str
) -> None:
    upstream_files.deezer(tmp_path, members=MEMBERS, splits=[SPLIT, split])
    with pytest.raises(InputError, match=words):
        read_deezer(tmp_path)


def test_a_file_that_is_no_zip_is_named(tmp_path: Path) -> None:
    (tmp_path / "deezer_europe.zip").write_bytes(b"<html>")
    with pytest.raises(InputError, match="damaged or not a zip archive"):
        read_deezer(tmp_path)
