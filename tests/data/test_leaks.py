"""A feature that is a copy of the label is named; features that are only good are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.leaks import SAMPLE, LeakDetector, leak_remarks, tells_label
from heterophily.data.tables import read_tables

TWO = np.repeat([0, 1], 50)
THREE = np.repeat([0, 1, 2], 40)


def noise(size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (TWO, TWO),
        (1 - TWO, TWO),
        (TWO * 10 + np.arange(100) % 2, TWO),  # two values per class
        (TWO * 9 + noise(100), TWO),  # a threshold
        (noise(100) - TWO * 9, TWO),
        (THREE, THREE),
        ((THREE + 1) % 3, THREE),
        (THREE == 1, THREE),  # the indicator of one class
        (np.arange(120.0), THREE),  # the label is the column in bins
    ],
)
def test_copies_of_the_label_are_found(values: np.ndarray, labels: np.ndarray) -> None:
    assert tells_label(values, labels)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (noise(100), TWO),
        (TWO * 2 + noise(100), TWO),  # a good feature
        (np.arange(100), np.arange(100) % 2),  # an id
        (np.zeros(100), TWO),
        (TWO[:30], TWO[:30]),  # one class
        (np.r_[np.zeros(15), np.ones(50)], np.r_[np.zeros(15, int), np.ones(50, int)]),
    ],
)
def test_good_features_and_small_classes_are_no_leak(
    values: np.ndarray, labels: np.ndarray
) -> None:
    assert not tells_label(values, labels)


def test_one_in_two_hundred_may_be_wrong() -> None:
    labels = np.repeat([0, 1], 1000)
    values = labels.astype(float)
    values[:5] = 1
    assert tells_label(values, labels)
    values[5] = 1
    assert not tells_label(values, labels)


def test_words_of_a_sparse_matrix_leak_when_they_are_a_class() -> None:
    rng = np.random.default_rng(0)
    words = (rng.random((120, 30)) < 0.1).astype(float)
    words[:, 7] = THREE == 2
    words[:, 9] = np.arange(120) == 119  # occurs once
    assert leak_remarks(sp.csr_array(words), THREE) == leak_remarks(words, THREE)
    assert "feature '7' tells" in leak_remarks(sp.csr_array(words), THREE)[0]
    words[:, 7] = 0
    assert leak_remarks(sp.csr_array(words), THREE) == ()


def test_a_filled_column_of_a_sparse_matrix_is_examined() -> None:
    matrix = np.zeros((100, 20))
    matrix[:, 3] = 5 + TWO * 9 + noise(100)
    assert "'3'" in leak_remarks(sp.csr_array(matrix), TWO)[0]


def test_what_leaks_in_the_sample_alone_is_no_leak() -> None:
    labels = np.arange(10 * SAMPLE) % 2
    values = labels.astype(float)
    assert leak_remarks(values[:, None], labels)
    values[1:40:2] = 0  # few of the sample
    values[-4001::2] = 1 - values[-4001::2]
    assert leak_remarks(values[:, None], labels) == ()


def test_unlabelled_nodes_do_not_count_and_names_are_used() -> None:
    labels = np.where(np.arange(100) % 3 == 0, -1, TWO)
    features = np.stack([noise(100), np.where(labels < 0, 7, labels), 1.0 * labels], axis=1)
    (text,) = leak_remarks(features, labels, ["age", "status", "copy"])
    assert text.startswith("each of 2 features ('status', 'copy') tells the class")
    assert leak_remarks(None, labels) == leak_remarks(features, None) == ()


def test_tables_carry_the_warning(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(
        "source,target\n" + "".join(f"{k},{k + 1}\n" for k in range(99))
    )
    rows = [f"{k},{'yx'[k // 50]},{k % 9},{k // 50}" for k in range(100)]
    (tmp_path / "n.csv").write_text("\n".join(["id,label,age,banned", *rows]) + "\n")
    graph = read_tables(tmp_path / "e.csv", tmp_path / "n.csv")
    assert list(graph.report.warnings) == [
        "feature 'banned' tells the class of nearly every node by itself; leave it out if "
        "it was made from the label"
    ]


def test_a_huge_label_costs_no_memory() -> None:
    """Labels were counted up to the largest: 2**40 of them for one node."""
    labels = np.where(np.arange(60) % 2, 2**40, 7)
    assert LeakDetector(labels).columns(labels[:, None] * 1.0) == [0]
    assert LeakDetector(np.array([2**62, 1, 1])).columns(np.eye(3)) == []


def test_many_values_that_repeat_in_one_class_only_tell_the_label() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 600)
    codes = 200 * labels + rng.integers(0, 150, 600)  # f17 and o17: the answer is the first letter
    assert tells_label(codes, labels)
    assert not tells_label(rng.permutation(codes), labels)
    assert not tells_label(np.arange(600) * 7919 % 600, labels)  # no value repeats
    wrong = labels.copy()
    wrong[rng.choice(600, 30, replace=False)] ^= 1
    assert not tells_label(codes, wrong)
