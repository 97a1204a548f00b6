"""Labels that are no classes are refused with what to do; no real graph is."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from heterophily.data.interchange import from_networkx
from heterophily.data.labels import encode_words, whole_labels
from heterophily.data.npz import read_npz, write_npz
from heterophily.data.tables import read_tables
from heterophily.data.targets import is_scale, joined_by, refuse_unusual
from heterophily.errors import InputError


def table(folder: Path, labels: list[str], features: list[str] | None = None) -> tuple[Path, Path]:
    """Write a ring of nodes with the given labels, and perhaps one feature column."""
    size = len(labels)
    edges, nodes = folder / "edges.csv", folder / "nodes.csv"
    edges.write_text("source,target\n" + "".join(f"{k},{(k + 1) % size}\n" for k in range(size)))
    header = "id,label" + (",size" if features else "")
    rows = [f'{k},"{label}"' for k, label in enumerate(labels)]
    if features:
        rows = [f"{row},{cell}" for row, cell in zip(rows, features, strict=True)]
    nodes.write_text("\n".join([header, *rows]) + "\n")
    return edges, nodes


PRICES = [f"{k * 1.37:.2f}" for k in range(60)]
NOT_CLASSES = {
    "prices": (PRICES, r"column 'label': 60 different values.* numbers on a scale"),
    "decimal commas": ([p.replace(".", ",") for p in PRICES], "numbers on a scale"),
    "whole amounts": ([str(100 + 7 * (k % 40)) for k in range(120)], "numbers on a scale"),
    "bars": (["ai", "bio", "ai|bio", "bio|chem", "chem"] * 5, r"'ai\|bio' holds several labels"),
    "semicolons": (["a;b", "b;c", "a", "c"] * 5, "joined by ';'"),
    "commas": (["a, b", "b, c", "a", "c"] * 5, "joined by ','"),
    "ids": ([f"user{k}" for k in range(30)], "nearly every node has a label of its own"),
    "numbered ids": ([str(k) for k in range(40)], "nearly every node has a label of its own"),
}


@pytest.mark.parametrize("kind", NOT_CLASSES)
def test_labels_that_are_no_classes_are_refused_and_may_be_insisted_on(
    tmp_path: Path, kind: str
) -> None:
    labels, sentence = NOT_CLASSES[kind]
    files = table(tmp_path, labels)
    with pytest.raises(InputError, match=sentence) as caught:
        read_tables(*files)
    assert "\n" not in str(caught.value)
    assert "labels_are_classes=True" in str(caught.value)
    graph = read_tables(*files, labels_are_classes=True)
    assert graph.num_classes == len(set(labels))


CLASSES = {
    "years": [str(1950 + k % 60) for k in range(600)],
    "places": ["Rome, Italy", "Pisa, Italy", "Nice, France", "Lyon, France"] * 5,
    "shelves": ["Books|Novels", "Books|Maps", "Music|Jazz", "Music"] * 5,
    "sections": [f"section {k % 57}" for k in range(57 * 20)],
    "codes": [str(k % 57) for k in range(57 * 20)],
    "one of a kind": ["a"] * 20 + ["b"] * 20 + ["c"],
    "tiny": ["a", "b", "c"],
}


@pytest.mark.parametrize("kind", CLASSES)
def test_unusual_looking_classes_are_classes(tmp_path: Path, kind: str) -> None:
    labels = CLASSES[kind]
    assert read_tables(*table(tmp_path, labels)).num_classes == len(set(labels))


def test_few_half_points_are_named_as_fractions_and_may_be_classes(tmp_path: Path) -> None:
    files = table(tmp_path, ["0.5", "1.0", "1.5", "2.0"] * 10)
    with pytest.raises(InputError, match=r"'0\.5' is not a whole number"):
        read_tables(*files)
    graph = read_tables(*files, labels_are_classes=True)
    assert graph.class_names == ("0.5", "1.0", "1.5", "2.0")


def test_blanks_at_the_ends_are_taken_off_with_a_remark(tmp_path: Path) -> None:
    graph = read_tables(*table(tmp_path, ["ok", "ok ", " fraud", "  ", "fraud"]))
    assert graph.class_names == ("fraud", "ok")
    assert graph.labels.tolist() == [1, 1, 0, -1, 0]
    assert (
        "nodes.csv, column 'label': blanks at the ends of 3 labels removed; labels that differ in "
        "blanks alone are one class: 'fraud', 'ok'"
    ) in graph.remarks


def test_upper_and_lower_case_stay_apart_with_a_warning(tmp_path: Path) -> None:
    graph = read_tables(*table(tmp_path, ["ok", "OK", "fraud", "ok"]))
    assert graph.num_classes == 3
    assert any("'OK' and 'ok'" in remark for remark in graph.remarks)


def test_networkx_labels_are_examined_too() -> None:
    graph = nx.cycle_graph(40)
    nx.set_node_attributes(graph, {k: k * 1.37 for k in graph}, "price")
    nx.set_node_attributes(graph, {k: ["ai", "bio"] for k in graph}, "topics")
    with pytest.raises(InputError, match=r"node attribute 'price': 40 different values"):
        from_networkx(graph, label="price")
    with pytest.raises(InputError, match="attribute 'topics': a list, expected one value"):
        from_networkx(graph, label="topics")
    assert from_networkx(graph, label="price", labels_are_classes=True).num_classes == 40


def test_npz_of_a_stranger_is_examined_and_our_own_is_not(tmp_path: Path) -> None:
    ends = np.stack([np.arange(39), np.arange(1, 40)])
    np.savez(tmp_path / "a.npz", edge_index=ends, y=np.arange(40) * 3)
    with pytest.raises(InputError, match=r"a\.npz: y: 40 different values"):
        read_npz(tmp_path / "a.npz")
    graph = read_npz(tmp_path / "a.npz", labels_are_classes=True)
    write_npz(graph, tmp_path / "b.npz")
    assert read_npz(tmp_path / "b.npz").num_classes == 40


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int8, np.float32])
def test_npz_labels_of_every_number_type(tmp_path: Path, dtype: type) -> None:
    ends = np.stack([np.arange(3), np.arange(1, 4)])
    labels = np.array([0, 1, 1, 0], dtype)
    np.savez(tmp_path / "a.npz", edge_index=ends, y=labels, unlabelled=np.array([3]))
    assert read_npz(tmp_path / "a.npz").labels.tolist() == [0, 1, 1, -1]


def test_whole_labels_refuse_what_is_no_class() -> None:
    assert whole_labels(np.array([1.0, np.nan, -1.0]), place="y").tolist() == [1, -1, -1]
    for bad, sentence in (
        (np.array([0.5, 1.0]), "y must hold whole numbers"),
        (np.array([np.inf, 1.0]), "y must hold whole numbers"),
        (np.linspace(0, 1, 50), "numbers on a scale"),
        (np.array(["a", "b"]), "y must hold whole numbers"),
    ):
        with pytest.raises(InputError, match=sentence):
            whole_labels(bad, place="y")


def test_thresholds_are_where_the_docstrings_say() -> None:
    assert not is_scale([str(k + 0.5) for k in range(20)], 1000)
    assert is_scale([str(k + 0.5) for k in range(21)], 1000)
    assert is_scale([str(k + 5) for k in range(31)], 309)
    assert not is_scale([str(k + 5) for k in range(31)], 310)
    assert joined_by(["a|b"]) is None
    assert joined_by(["a|b", "a", "b"]) == ("|", "a|b")
    refuse_unusual([str(k) for k in range(19)], np.ones(19, int), place="y")
    with pytest.raises(InputError, match="label of its own"):
        refuse_unusual([f"n{k}" for k in range(20)], np.ones(20, int), place="y")


def test_a_very_long_number_is_a_name() -> None:
    classes = encode_words(["9" * 5000, "1"], np.array([0, 1]), cell=str)
    assert len(classes.names) == 2


def test_no_real_graph_is_refused_or_suspected(data_folder: Path) -> None:
    for path in sorted(data_folder.glob("*.npz")):
        if path.stat().st_size < 5_000_000:
            graph = read_npz(path)
            assert not [text for text in graph.remarks if text.startswith("warning")], path.name
            words = [graph.class_names[label] if label >= 0 else "" for label in graph.labels]
            coded = {word: place for place, word in enumerate(dict.fromkeys(filter(None, words)))}
            codes = np.array([coded.get(word, -1) for word in words])
            assert encode_words(list(coded), codes, cell=str).names == graph.class_names
