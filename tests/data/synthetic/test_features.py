"""Where the features of generated nodes come from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.synthetic.features import gaussian_base, open_base, with_classes
from heterophily.errors import InputError, UnknownNameError


def test_digits_are_a_base_without_any_file() -> None:
    features, labels = open_base("digits", offline=True)
    assert features.shape == (labels.size, 64)
    assert np.unique(labels).size == 10
    assert np.bincount(labels)[:5].min() >= 170  # what the quick figures draw, no image twice


@pytest.mark.parametrize("name", ["cora", "film", "pubmed"])
def test_bases_of_the_paper_give_five_classes(name: str, data_folder: Path) -> None:
    features, labels = open_base(name, data_folder=data_folder, offline=True)
    sampled, numbers = with_classes((features, labels), 5)
    assert np.unique(numbers).tolist() == [0, 1, 2, 3, 4]
    assert sampled.shape == (numbers.size, features.shape[1])


def test_a_base_with_fewer_classes_starts_again_from_the_first() -> None:
    base = sp.csr_array(np.array([[1.0], [2.0], [3.0], [9.0]])), np.array([0, 1, 2, -1])
    features, labels = with_classes(base, 5)
    assert labels.tolist() == [0, 1, 2, 3, 4]
    assert features.toarray().ravel().tolist() == [1, 2, 3, 1, 2]


def test_gaussian_classes_lie_at_the_asked_distance_in_orthogonal_directions() -> None:
    features, labels = gaussian_base(
        [4000] * 3, rng=np.random.default_rng(0), num_features=6, separation=3.0
    )
    means = np.array([features[labels == k].mean(0) for k in range(3)])
    assert np.abs(means @ means.T - 9 * np.eye(3)).max() < 0.3
    assert np.abs(features[labels == 1].std(0) - 1).max() < 0.06


def test_more_gaussian_classes_than_features_are_possible() -> None:
    features, labels = gaussian_base([5] * 8, rng=np.random.default_rng(0), num_features=2)
    assert features.shape == (40, 2)
    assert np.isfinite(features).all()
    assert labels.max() == 7


def test_bad_bases_are_refused(data_folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'cora'"):
        open_base("coar", offline=True)
    with pytest.raises(InputError, match="karate cannot be a base"):
        open_base("karate", offline=True)
    with pytest.raises(InputError, match="classes=0"):
        with_classes((None, np.array([0])), 0)
    with pytest.raises(InputError, match="separation=-1"):
        gaussian_base([2], rng=np.random.default_rng(0), separation=-1)
