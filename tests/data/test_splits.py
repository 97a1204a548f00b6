"""Splits: stratified shares, the paper's rule, and refusals that name the node."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterophily.data.splits import (
    PARTS,
    Split,
    SplitBatch,
    paper_random_split,
    random_splits,
    split_generator,
    stratified_split,
)
from heterophily.errors import HeterophilyError, InputError

PINNED_SPLITS = "e03ff747c53732d920a2f76053b1b9ae6d79dc88b8ab9896ce398c98d7e30ebc"


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def test_every_class_gives_the_same_number_of_training_nodes() -> None:
    labels = np.repeat([0, 1, 2], [60, 40, 50])
    split = paper_random_split(labels, rng=generator())
    assert np.bincount(labels[split.train]).tolist() == [30, 30, 30]  # round(0.6 * 150 / 3)
    assert split.sizes == (90, 30, 30)


def test_a_class_smaller_than_its_share_is_training_only() -> None:
    labels = np.repeat([0, 1], [95, 5])
    split = paper_random_split(labels, rng=generator())
    assert split.train[labels == 1].all()
    assert split.sizes == (60 - 30 + 5, 20, 45)  # 30 of the large class, 5 of the small one


def test_unlabelled_nodes_belong_to_no_set_and_do_not_count() -> None:
    labels = np.concatenate([np.arange(100) % 2, np.full(50, -1)])
    split = paper_random_split(labels, rng=generator())
    assert split.sizes == (60, 20, 20)
    assert not (split.train | split.validation | split.test)[100:].any()


@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(30, 80))
def test_the_three_sets_cover_the_labelled_nodes_exactly_once(
    seed: int, num_classes: int, num_nodes: int
) -> None:
    labels = np.arange(num_nodes) % num_classes
    split = paper_random_split(labels, rng=generator(seed))
    total = sum(getattr(split, part).astype(int) for part in PARTS)
    assert np.array_equal(total, np.ones(num_nodes, int))


def test_a_seed_gives_the_same_splits_on_every_machine() -> None:
    splits = random_splits(np.arange(200) % 5, repeats=10, seed=42, rule="paper-random")
    bits = b"".join(np.packbits(getattr(splits, part)).tobytes() for part in PARTS)
    assert hashlib.sha256(bits).hexdigest() == PINNED_SPLITS


def test_split_number_i_depends_on_seed_and_i_alone() -> None:
    labels = np.arange(60) % 3
    many, few = random_splits(labels, repeats=5, seed=1), random_splits(labels, repeats=2, seed=1)
    assert np.array_equal(many.train[:2], few.train)
    alone = stratified_split(labels, rng=split_generator(1, 4))
    assert np.array_equal(many[4].test, alone.test)
    other = random_splits(labels, repeats=5, seed=2)
    assert not np.array_equal(many.train, other.train)
    papers = random_splits(labels, repeats=5, seed=1, rule="paper-random")
    alone = paper_random_split(labels, rng=split_generator(1, 4))
    assert np.array_equal(papers[4].test, alone.test)


def test_a_rare_class_is_in_all_parts_of_a_random_split_but_not_of_the_papers() -> None:
    labels = np.repeat([0, 1], [1868, 105])  # 105 of 1,973 nodes are rare
    for split in random_splits(labels, repeats=10, seed=0):
        assert [int(labels[getattr(split, part)].sum()) for part in PARTS] == [63, 21, 21]
    for split in random_splits(labels, repeats=3, seed=0, rule="paper-random"):
        assert labels[split.train].sum() == 105
        assert labels[split.test].sum() == 0


@given(
    st.integers(0, 2**32),
    st.lists(st.integers(1, 12), min_size=1, max_size=8),
    st.sampled_from([(0.6, 0.2, 0.2), (0.1, 0.1, 0.5), (0.9, 0.05, 0.05)]),
)
def test_a_class_of_three_is_in_every_part_and_a_smaller_one_in_training(
    seed: int, sizes: list[int], shares: tuple[float, float, float]
) -> None:
    sizes = [*sizes, 3]
    labels = np.repeat(np.arange(len(sizes)), sizes)
    names = dict(zip(PARTS, shares, strict=True))
    split = stratified_split(labels, rng=generator(seed), **names)
    for k, size in enumerate(sizes):
        counts = [int((labels[getattr(split, part)] == k).sum()) for part in PARTS]
        assert sum(counts) <= size
        if size >= 3:
            assert min(counts) >= 1
        else:
            assert counts == [1, 0, size - 1]


@given(st.integers(0, 2**32), st.lists(st.integers(4, 60), min_size=1, max_size=30))
def test_parts_of_many_small_classes_add_up_to_their_shares(seed: int, sizes: list[int]) -> None:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    split = stratified_split(labels, rng=generator(seed))
    for size, share in zip(split.sizes, (0.6, 0.2, 0.2), strict=True):
        assert abs(size - share * labels.size) <= 2


@given(
    st.integers(0, 2**32), st.sampled_from([(0.6, 0.2, 0.2), (0.48, 0.32, 0.2), (0.1, 0.1, 0.5)])
)
def test_stratified_shares_hold_within_one_node_in_every_class(
    seed: int, shares: tuple[float, float, float]
) -> None:
    labels = np.repeat([0, 1, 2], [50, 21, 10])
    split = stratified_split(
        labels, rng=generator(seed), train=shares[0], validation=shares[1], test=shares[2]
    )
    for part, share in zip(PARTS, shares, strict=True):
        counts = np.bincount(labels[getattr(split, part)], minlength=3)
        assert np.all(np.abs(counts - share * np.array([50, 21, 10])) <= 1)


def test_batch_gives_back_its_splits() -> None:
    first = Split.from_parts([0], [1], [2], num_nodes=4)
    second = Split.from_parts([3], [1], [0, 2], num_nodes=4)
    batch = SplitBatch.stack([first, second])
    assert (len(batch), batch.num_nodes) == (2, 4)
    assert [split.sizes for split in batch] == [(1, 1, 1), (1, 1, 2)]
    assert np.array_equal(batch[-1].test, second.test)
    with pytest.raises(IndexError, match="there is no split 2; there are 2"):
        batch[2]


def test_masks_are_read_only_copies() -> None:
    mask = np.array([True, False, False])
    split = Split(mask, np.array([False, True, False]), np.array([False, False, True]))
    mask[1] = True
    assert split.sizes == (1, 1, 1)
    with pytest.raises(ValueError, match="read-only"):
        split.train[0] = False


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (([0, 1], [1], [2]), "node 1 is in both the train and the validation set of split 0"),
        (([0], [1], [3, 0]), "node 0 is in both the train and the test set"),
        (([0], [], [1]), "the validation set of split 0 is empty"),
        (([0], [1], [4]), "the test set names node 4; the graph has 4 nodes"),
        (([-1], [1], [2]), "the train set names node -1"),
        (([0.5], [1], [2]), "the train set must be a mask or node numbers, got float64"),
        (([True], [1], [2]), "the train mask has 1 entries but the graph has 4 nodes"),
    ],
)
def test_bad_parts_are_refused_with_the_node(parts: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Split.from_parts(*parts, num_nodes=4)


def test_overlap_in_a_batch_names_the_split() -> None:
    train = np.array([[True, False, False], [True, True, False]])
    validation = np.array([[False, True, False], [False, True, False]])
    test = np.array([[False, False, True], [False, False, True]])
    with pytest.raises(InputError, match=r"node 1 is in both .* of split 1"):
        SplitBatch(train, validation, test)
    with pytest.raises(InputError, match=r"must have one shape, got train \(1, 3\)"):
        SplitBatch(train[:1], validation, test)
    with pytest.raises(InputError, match=r"expected \(R, N\)"):
        SplitBatch(train[0], validation[0], test[0])
    with pytest.raises(InputError, match=r"expected \(N,\)"):
        Split(train, validation, test)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: paper_random_split(np.full(5, -1), rng=generator()), "no node has a label"),
        (lambda: paper_random_split(np.arange(2), rng=generator()), "leave no node for validation"),
        (lambda: paper_random_split(np.arange(5), rng=generator()), "leave no node for testing"),
        (lambda: random_splits(np.arange(9) % 2, repeats=0, seed=0), "repeats=0"),
        (lambda: random_splits(np.arange(9) % 2, repeats=1, seed=-1), "seed=-1"),
        (
            lambda: random_splits(np.arange(9) % 2, repeats=1, seed=0, rule="radnom"),
            "unknown rule of random splits 'radnom'",
        ),
        (lambda: stratified_split(np.arange(5), rng=generator()), "leave a part .* empty"),
        (lambda: SplitBatch.stack([]), "at least one split"),
        (
            lambda: SplitBatch.stack(
                [Split.from_parts([0], [1], [2], num_nodes=n) for n in (3, 4)]
            ),
            r"different graphs cannot be stacked: sizes \[3, 4\]",
        ),
        (
            lambda: stratified_split(
                np.arange(9) % 2, rng=generator(), train=0.9, validation=0.2, test=0.1
            ),
            "must be positive and add up to at most 1",
        ),
    ],
)
def test_impossible_requests_are_refused(call: Any, sentence: str) -> None:
    with pytest.raises(HeterophilyError, match=sentence):
        call()
