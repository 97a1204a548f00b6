"""Reading Debian's package index."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest

from heterophily.data.readers.debian import WORD_COLUMNS, read_debian
from heterophily.data.source import open_graph
from heterophily.errors import InputError

TEXT = """\
Package: editor
Version: 1
Depends: libtext (>= 2), libdraw:any | libdraw-lite
Recommends: fonts
Description: writes text
 A longer story with other words.
Section: editors

Package: libtext
Section: libs
Description: text library

Package: libdraw
Depends: libtext,
 fonts
Section: libs

Package: fonts
Section: fonts
Enhances: editor

Package: editor
Version: 2
Depends: fonts
Section: editors

Package: viewer
Suggests: viewer, ghost
Section: editors

Package: paint
Section: editors

Package: libmore
Section: libs
"""


def _write(folder: Path, text: str = TEXT, name: str = "Packages") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_packages_are_nodes_and_each_field_is_a_type_of_edges(tmp_path: Path) -> None:
    pieces = read_debian(_write(tmp_path), smallest=2)
    graph = pieces.graph(direction="keep")
    assert graph.node_ids.tolist() == [
        "editor", "libtext", "libdraw", "fonts", "viewer", "paint", "libmore"
    ]  # fmt: skip
    found = {
        kind: sorted(zip(*graph.of_type(kind).adjacency.nonzero(), strict=True))
        for kind in graph.type_names
    }
    assert found == {
        "depends": [(0, 1), (0, 2), (2, 1), (2, 3)],  # the first version of editor; a folded list
        "recommends": [(0, 3)],
        "enhances": [(3, 0)],
    }
    assert graph.is_directed
    assert "2 names" in pieces.remarks[0]  # libdraw-lite and ghost


def test_the_section_is_the_label_and_a_small_one_gives_none(tmp_path: Path) -> None:
    pieces = read_debian(_write(tmp_path), smallest=2)
    assert pieces.class_names == ("editors", "libs")
    assert pieces.labels is not None
    assert pieces.labels.tolist() == [0, 1, 1, -1, 0, 0, 1]


def test_words_of_the_first_line_are_the_features(tmp_path: Path) -> None:
    features = read_debian(_write(tmp_path), smallest=2).features
    assert features is not None
    assert features.shape == (7, WORD_COLUMNS)
    counts = np.asarray(features.sum(axis=1)).reshape(-1)
    assert counts.tolist() == [2, 2, 0, 0, 0, 0, 0]
    shared = (features @ features.T).toarray()
    assert shared[0, 1] == 1  # "text"


def test_a_compressed_file_gives_the_same_graph_and_the_command_writes_it(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from heterophily.cli.app import app

    sections = [f"Package: p{k}\nDepends: p{k // 2}\nSection: {'ab'[k % 2]}\n" for k in range(60)]
    plain = _write(tmp_path, "\n".join(sections))
    packed = tmp_path / "Packages.xz"
    packed.write_bytes(lzma.compress(plain.read_bytes()))
    target = tmp_path / "debian.npz"
    result = CliRunner().invoke(app, ["data", "build", "debian", str(packed), "--out", str(target)])
    assert result.exit_code == 0, result.output
    graph = open_graph(str(target), direction="keep")
    assert graph.content_hash == read_debian(plain).graph(direction="keep").content_hash
    assert graph.splits is not None
    assert len(graph.splits) == 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no package in it"),
        ("Version: 1\nSection: a\n\n", "no field Package"),
        ("hello world\n", "not a field of a Packages file"),
        (TEXT, "0 sections have 20 packages or more"),
    ],
)
def test_what_is_no_packages_file_is_refused_in_one_sentence(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read_debian(_write(tmp_path, text))


def test_a_damaged_archive_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Packages\.xz is damaged"):
        read_debian(_write(tmp_path, "no archive", "Packages.xz"))
    with pytest.raises(InputError, match="cannot read"):
        read_debian(tmp_path / "nothing")
