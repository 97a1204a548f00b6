from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from heterophily.data.encode import Encoder
from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.layers.feature_scaling import ColumnScale, feature_kind, has_unequal_rows
from heterophily.layers.inputs import GraphInputs, InputOptions


def graph_of(features, **parts):
    return Graph(sp.csr_array((4, 4)), features=features, **parts)


BAG = np.eye(4, 10)
NUMBERS = np.array([[31.0, 2400.0], [40.0, 3100.0], [28.0, 1900.0], [35.0, 2000.0]])


@pytest.mark.parametrize(
    ("features", "kind"),
    [
        (None, "counts"),
        (BAG, "counts"),
        (sp.csr_array(0.3 * BAG), "counts"),  # TF-IDF, as in Pubmed
        (-BAG, "numbers"),
        (sp.csr_array(-BAG), "numbers"),
        (NUMBERS, "numbers"),
        (np.ones((4, 3)), "numbers"),
    ],
)
def test_sparse_features_that_are_never_negative_are_counts(features, kind):
    assert feature_kind(graph_of(features)) == kind


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (["DE", "FR", "DE", "FR"], "as-given"),
        ([31, 40, 28, 35], "as-given"),
        ([True, False, True, True], "numbers"),  # the encoder leaves it as it is
    ],
)
def test_what_an_encoder_scaled_is_left_as_it_is(column, kind):
    encoder, encoded = Encoder.fit({"column": pa.array(column)})
    assert feature_kind(graph_of(encoded.features, encoder=encoder)) == kind


@pytest.mark.parametrize("dataset", ["texas", "film", "chameleon", "cora", "pubmed"])
def test_the_datasets_of_the_paper_are_counts(dataset):
    from heterophily.data.catalog import load
    from heterophily.errors import DataNotFoundError

    try:
        graph = load(dataset, offline=True)
    except DataNotFoundError as error:
        pytest.skip(str(error))
    assert feature_kind(graph) == "counts"


def test_columns_of_numbers_get_mean_0_and_deviation_1_and_a_constant_becomes_ones():
    wide = np.column_stack([NUMBERS, np.full(4, 1e9 / 3), np.zeros(4)])
    found = ColumnScale.fit(wide).apply(wide)
    np.testing.assert_allclose(found.mean(0), [0, 0, 1, 0], atol=1e-9)
    np.testing.assert_allclose(found.std(0), [1, 1, 0, 0], atol=1e-9)


def test_columns_of_a_sparse_matrix_are_divided_and_stay_sparse():
    matrix = sp.csr_array(np.diag([-2.0, 6.0, 1.0, 0.5]))
    found = ColumnScale.fit(matrix).apply(matrix)
    assert sp.issparse(found)
    np.testing.assert_allclose(np.square(found.toarray()).mean(0), 1)


def test_a_matrix_with_few_zeros_is_scaled_alike_however_it_is_stored():
    stored = sp.csr_array(NUMBERS)
    found = ColumnScale.fit(stored).apply(stored)
    np.testing.assert_array_equal(found, ColumnScale.fit(NUMBERS).apply(NUMBERS))


def test_another_graph_is_scaled_by_the_columns_of_the_first_also_after_json():
    first, second = graph_of(NUMBERS), graph_of(NUMBERS + 10)
    scale = GraphInputs.from_graph(first).columns
    stored = ColumnScale.from_dict(json.loads(json.dumps(scale.to_dict())))
    found = GraphInputs.from_graph(second, columns=stored).features
    expected = (NUMBERS + 10 - NUMBERS.mean(0)) / NUMBERS.std(0)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "data",
    [{}, {"center": [0.0]}, {"center": [0.0], "spread": [0.0]}, {"center": ["a"], "spread": [1.0]}],
)
def test_a_damaged_scale_is_refused(data):
    with pytest.raises(InputError, match="damaged"):
        ColumnScale.from_dict(data)


def test_an_unknown_kind_of_features_is_refused():
    with pytest.raises(InputError, match="choose one of auto, counts, numbers, as-given"):
        InputOptions(features="words")


def test_rows_of_unequal_size_are_seen_and_rows_of_zeros_do_not_count() -> None:
    abstracts = np.zeros((40, 30))
    abstracts[:, :10] = np.eye(40, 10) + 1
    pages = abstracts.copy()
    pages[::8] *= 12
    assert not has_unequal_rows(np.vstack([abstracts, np.zeros((60, 30))]))
    assert has_unequal_rows(pages)
    assert has_unequal_rows(sp.csr_array(pages))
    assert not has_unequal_rows(np.zeros((3, 4)))
