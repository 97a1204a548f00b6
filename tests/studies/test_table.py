"""Computed tables: ours beside theirs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from runs.pretend import some_record, some_run

from heterophily.paper.printed import Published
from heterophily.runs.cell import BestByTest, CellResult
from heterophily.studies.table import TableResult


def cell(row: str, dataset: str, test: tuple[float | None, ...], **changes: object) -> CellResult:
    facts: dict[str, object] = {"splits": "random", "wanted": len(test), "test": test, **changes}
    return CellResult(row=row, dataset=dataset, **facts)  # type: ignore[arg-type]


TABLE = TableResult(
    study="mine",
    title="Mine",
    protocol="published",
    rows=("a", "b", "c"),
    datasets=("x", "y"),
    cells=(
        cell("a", "x", (0.9, 0.8), published=Published(0.84, 0.02, "t")),
        cell("b", "x", (0.7, 0.7), published=Published(0.80, 0.05, "t")),
        cell("c", "x", (0.6, 0.5), published=Published(0.50, None, "t")),
        cell("a", "y", (0.5, 0.5)),
        cell("b", "y", (0.9, 0.7), wanted=3),
        cell("c", "y", (0.4, None)),
    ),
)


def test_mean_and_std_are_those_of_the_paper_divided_by_the_number_of_splits() -> None:
    found = TABLE.cells[0]
    assert found.mean == pytest.approx(0.85)
    assert found.std == pytest.approx(0.05)
    assert found.difference == pytest.approx(0.01)
    assert found.is_within is True
    assert TABLE.cells[1].is_within is False
    assert TABLE.cells[2].is_within is None  # the paper prints no spread


def test_partial_and_diverged_cells_are_not_complete() -> None:
    assert [c.is_complete for c in TABLE.cells] == [True, True, True, True, False, False]
    assert TABLE.cells[5].mean is None
    assert TABLE.cells[4].mean == pytest.approx(0.8)


def test_ranks_count_complete_cells_alone() -> None:
    assert TABLE.ranks() == {"a": 1.0, "b": 2.0, "c": 3.0}


def test_ranks_of_ours_and_theirs_are_among_the_cells_that_both_have() -> None:
    """P7: ours among 21 rows beside theirs among 33 say nothing."""
    more = cell("d", "x", (1.0, 1.0))  # the paper has no value there
    table = replace(TABLE, rows=("a", "b", "c", "d"), cells=(*TABLE.cells, more))
    ours, theirs = table.ranks(), table.ranks(published=True)
    assert [ours[row] for row in "abc"] == [theirs[row] for row in "abc"] == [1.0, 2.0, 3.0]
    assert ours["d"] != ours["d"]  # not a number


def test_summary_by_hand() -> None:
    facts = TABLE.summary()
    assert (facts["cells"], facts["complete"], facts["beside_published"]) == (6, 4, 3)
    assert (facts["within_one_std"], facts["of_with_std"]) == (1, 2)
    assert facts["mean_difference"] == pytest.approx((0.01 - 0.10 + 0.05) / 3)
    assert facts["within_two_std"] == 2  # one lies exactly two deviations away
    assert facts["rank_correlation"] == pytest.approx(1.0)
    assert facts["rank_correlations"] == {"x": 1.0, "y": None}
    assert (facts["runs"], facts["median_time_ratio"]) == (12, None)


def test_what_choosing_by_test_would_add_by_hand() -> None:
    best = BestByTest.among(
        [{"lr": 1}, {"lr": 2}, {"lr": 3}], [(0.9, 0.8), (0.9, 0.9), (1.0, None)]
    )
    assert best == BestByTest({"lr": 2}, 3, 0.9, 0.0)
    assert BestByTest.among([{"lr": 1}], [(None, 1.0)]) is None
    cells = (replace(TABLE.cells[0], by_test=best), *TABLE.cells[1:])
    facts = replace(TABLE, cells=cells).summary()
    assert facts["chosen_twice"] == 1
    assert facts["gain_by_test"] == pytest.approx(0.9 - 0.85)
    assert facts["mean_difference_by_test"] == pytest.approx(0.9 - 0.84)
    assert TABLE.summary()["gain_by_test"] is None


def test_paired_tests_are_made_between_complete_cells_of_one_dataset() -> None:
    assert list(TABLE.paired_tests()) == ["x"]
    assert len(TABLE.paired_tests()["x"]) == 3
    assert TABLE.critical_difference() is None  # no row but one is complete everywhere


def test_a_cell_sums_up_its_records_in_the_order_of_the_splits() -> None:
    records = [some_record(number) for number in (2, 0, 1)]
    found = CellResult.of(records, row="a", dataset="ring", splits="random", wanted=3)
    assert found.keys == tuple(some_run(number).key for number in range(3))
    assert found.test == tuple(some_record(number).outcome.test_accuracy for number in range(3))
    seconds = sum(record.outcome.seconds for record in records)
    epochs = sum(record.outcome.epochs for record in records)
    assert found.ms_per_epoch == pytest.approx(1000 * seconds / epochs)
    assert found.engine == "torch"


def test_a_table_is_plain_data() -> None:
    import json

    data = json.loads(json.dumps(replace(TABLE, remarks=("odd",)).to_dict(), allow_nan=False))
    assert data["protocol"] == "published"
    assert data["cells"][0]["published"]["mean"] == 0.84
    assert data["remarks"] == ["odd"]
    assert ["a", "b", 0, 1, 0] in data["wins"]
