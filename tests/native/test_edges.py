"""The native pass over the edges against SciPy: equal counts, sums of weights to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from heterophily.data.graph import Graph
from heterophily.metrics.catalog import METRICS
from heterophily.metrics.class_means import label_dots
from heterophily.metrics.label_counts import scipy_rows, scipy_totals
from heterophily.native.edges import edge_rows, edge_totals, label_means

EXACT = {"rtol": 0, "atol": 0}
ROUNDING = {"rtol": 1e-12, "atol": 0}


def random_case(
    seed: int,
    *,
    nodes: int,
    classes: int,
    degree: float = 3.0,
    is_weighted: bool = False,
    index: Any = np.int32,
    value: Any = np.float64,
) -> tuple[sp.csr_array, np.ndarray, int]:
    """Directed edges, loops and empty rows included; a fifth of the nodes has no label."""
    rng = np.random.default_rng(seed)
    edges = int(degree * nodes)
    ends = rng.integers(0, nodes, (2, edges))
    matrix = sp.csr_array((np.ones(edges), tuple(ends)), shape=(nodes, nodes))
    matrix.sum_duplicates()
    matrix.data[:] = rng.random(matrix.nnz) + 0.1 if is_weighted else 1.0
    parts = (matrix.data.astype(value), matrix.indices.astype(index), matrix.indptr.astype(index))
    labels = np.where(rng.random(nodes) < 0.2, -1, rng.integers(0, max(classes, 1), nodes))
    return sp.csr_array(parts, shape=matrix.shape), labels if classes else labels * 0 - 1, classes


def native_sums(*case: Any, threads: int = 1) -> dict[str, np.ndarray]:
    rows, totals = edge_rows(*case, threads=threads), edge_totals(*case, threads=threads)
    assert rows is not None
    assert totals is not None
    return {**vars(rows), **vars(totals)}


def scipy_sums(*case: Any) -> dict[str, np.ndarray]:
    rows = scipy_rows(*case)
    return {**vars(rows), **vars(scipy_totals(*case, neighbours=rows.neighbours))}


def assert_same(case: tuple[Any, ...], *, is_weighted: bool, threads: int = 1) -> None:
    native = native_sums(*case, threads=threads)
    for name, expected in scipy_sums(*case).items():
        how = ROUNDING if is_weighted or name == "shares" else EXACT
        np.testing.assert_allclose(native[name], expected, err_msg=name, **how)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    nodes=st.integers(1, 200),
    classes=st.sampled_from([0, 1, 2, 5, 8, 9, 16, 17, 40, 255, 256, 300]),
    degree=st.floats(0, 12),
    is_weighted=st.booleans(),
    index=st.sampled_from([np.int32, np.int64]),
    value=st.sampled_from([np.float32, np.float64]),
    threads=st.integers(1, 3),
)
def test_random_graphs_are_counted_as_scipy_counts_them(
    is_weighted: bool, threads: int, **how: Any
) -> None:
    case = random_case(is_weighted=is_weighted, **how)
    assert_same(case, is_weighted=is_weighted, threads=threads)


def test_weighted_neighbours_are_bit_for_bit_those_of_the_sparse_product() -> None:
    case = random_case(1, nodes=500, classes=4, is_weighted=True, value=np.float32)
    for name in ("neighbours", "degrees"):
        np.testing.assert_array_equal(native_sums(*case)[name], scipy_sums(*case)[name])


@pytest.mark.parametrize("degree", [254, 255, 256, 511])
@pytest.mark.parametrize("classes", [2, 12])
def test_a_byte_that_is_full_does_not_spill_into_the_next_class(degree: int, classes: int) -> None:
    nodes = 600
    row = sp.csr_array(np.concatenate([np.zeros(600 - degree), np.ones(degree)])[None, :])
    matrix = sp.csr_array(sp.vstack([row, sp.csr_array((nodes - 1, nodes))]))
    assert_same((matrix, np.zeros(nodes, np.int64), classes), is_weighted=False)


def test_one_weight_in_a_large_graph_is_noticed() -> None:
    matrix, labels, classes = random_case(2, nodes=3000, classes=3)
    matrix.data[-1] = 2.5
    assert_same((matrix, labels, classes), is_weighted=True)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_number_of_threads_does_not_change_a_bit(is_weighted: bool) -> None:
    case = random_case(3, nodes=4000, classes=5, is_weighted=is_weighted)
    alone = native_sums(*case)
    for threads in (2, 3, 7, 100):
        for name, values in native_sums(*case, threads=threads).items():
            assert values.tobytes() == alone[name].tobytes()


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512", "none"])
def test_every_label_metric_has_the_same_value_with_every_instruction_set_and_without(
    isa: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    parts: dict[str, Any] = {"labels": rng.integers(0, 5, 400), "weight": rng.random(1500) + 0.1}
    ends = rng.integers(0, 400, (2, 1500))
    chosen = {name: metric for name, metric in METRICS.items() if metric.needs == "labels"}
    best = {name: metric(Graph.from_edges(*ends, **parts)) for name, metric in chosen.items()}
    monkeypatch.setenv("HETEROPHILY_ENGINE_ISA", isa)
    other = Graph.from_edges(*ends, **parts)
    for name, metric in chosen.items():
        assert metric(other) == pytest.approx(best[name], rel=1e-12), name


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), nodes=st.integers(1, 60), classes=st.integers(1, 40))
def test_class_means_of_labelled_nodes_equal_those_of_numpy(
    seed: int, nodes: int, classes: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, classes, nodes)
    given = (
        *(rng.random((nodes, classes)), rng.random(nodes), rng.random(nodes), labels),
        *(rng.random((classes, classes)), rng.random((classes, classes))),
    )
    native = label_means(*given, threads=2)
    assert native is not None
    for ours, reference in zip(native, label_dots(*given), strict=True):
        np.testing.assert_allclose(ours[labels >= 0], reference[labels >= 0], rtol=1e-12)
        assert not ours[labels < 0].any()


def test_totals_do_not_depend_on_whether_rows_are_wanted() -> None:
    case = random_case(6, nodes=700, classes=20, is_weighted=True)
    matrix, labels, classes = case
    rows, totals = edge_rows(*case), edge_totals(*case)
    assert rows is not None
    assert totals is not None
    pairs = np.zeros((classes, classes))
    np.add.at(pairs, labels[labels >= 0], rows.neighbours[labels >= 0])
    np.testing.assert_allclose(totals.class_pairs, pairs, rtol=1e-12)
    assert totals.class_pairs.sum() < matrix.sum()  # unlabelled ends are left out


def test_without_the_library_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETEROPHILY_ENGINE_ISA", "none")
    case = random_case(5, nodes=4, classes=2)
    assert edge_rows(*case) is None
    assert edge_totals(*case) is None
