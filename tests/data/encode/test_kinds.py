"""The kind of a column is guessed from its cells, whatever type they came in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from heterophily.data.encode.kinds import COUNTS_FROM, KINDS, guess, kinds_of
from heterophily.errors import InputError

RNG = np.random.default_rng(0)
WORDS = np.array([f"w{k}" for k in range(300)])
COLUMNS: dict[str, tuple[str, Any]] = {
    "whole numbers": ("number", RNG.integers(18, 90, 200)),
    "fractions": ("number", RNG.normal(size=200)),
    "numbers with gaps": ("number", [None, *RNG.normal(size=199)]),
    "numbers as text": ("number", [f"{x:.2f}" for x in RNG.normal(size=200)]),
    "thousands": ("number", [f"{x:,}" for x in RNG.integers(1000, 10**7, 200)]),
    "decimal commas": ("number", [f"{x:.2f}".replace(".", ",") for x in RNG.normal(size=200)]),
    "a few words among numbers": ("number", ["many", "?", *map(str, RNG.integers(0, 90, 198))]),
    "prices": ("number", [f"$ {x:.2f}" for x in RNG.lognormal(3, 1, 200)]),
    "zeros and ones": ("boolean", RNG.integers(0, 2, 200)),
    "zeros and ones with gaps": ("boolean", [None, 1.0, 0.0] * 60),
    "yes and no": ("boolean", ["Yes", "no", ""] * 60),
    "truth": ("boolean", [True, False, None] * 60),
    "filled or not": ("category", ["x", None, None] * 60),
    "colours": ("category", ["red", "blue", "green"] * 60),
    "many cities": ("category", WORDS[RNG.integers(0, 60, 300)]),
    "sizes": ("category", ["1", "2", "3", "XL"] * 50),
    "few rows of words": ("category", ["Rome", "Oslo", "Bern"]),
    "iso dates": ("date", [f"2021-03-{k % 28 + 1:02}" for k in range(200)]),
    "days first": ("date", [f"{k % 28 + 1}.03.2021" for k in range(200)]),
    "times": ("date", [f"2021-03-{k % 28 + 1:02}T10:{k % 60:02}:00Z" for k in range(200)]),
    "month names": ("date", [f"{k % 28 + 1} Mar 2021" for k in range(200)]),
    "typed dates": ("date", np.datetime64("2020-01-01") + np.arange(200) % 90),
    "sentences": ("text", [" ".join(RNG.choice(WORDS, 6)) for _ in range(200)]),
    "row numbers": ("id", np.arange(200)),
    "ascending keys": ("id", np.cumsum(RNG.integers(1, 9, 200))),
    "user_id": ("id", RNG.permutation(10**6)[:200]),
    "handles": ("id", [f"user{k}" for k in range(200)]),
    "one value": ("constant", [7] * 200),
    "one word": ("constant", ["same"] * 200),
    "nothing": ("almost-empty", [None] * 200),
    "blanks": ("almost-empty", ["  ", "", None, "N/A"] * 50),
    "hardly anything": ("almost-empty", ["x", "y", *[None] * 998]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_kind_is_guessed(name: str) -> None:
    kind, cells = COLUMNS[name]
    assert guess(name, pa.array(cells)).kind == kind
    column = pa.chunked_array([pa.array(cells)])
    if column.type == pa.string():
        assert guess(name, column.cast(pa.large_string())).kind == kind
        assert guess(name, column.dictionary_encode()).kind == kind


def test_numbers_of_few_rows_are_no_ids() -> None:
    assert guess("rank", pa.array([1, 2, 3])).kind == "number"


def test_many_mostly_zero_columns_are_counts_and_few_are_numbers() -> None:
    column = pa.array(np.r_[RNG.integers(1, 9, 20), np.zeros(80, int)])
    kinds = kinds_of({f"w{k}": column for k in range(COUNTS_FROM)})
    assert set(kinds.values()) == {"count"}
    assert kinds_of({"chargebacks": column}) == {"chargebacks": "number"}


def test_a_matrix_that_this_package_wrote_is_left_as_it_is() -> None:
    column = pa.array(RNG.normal(size=30))
    assert set(kinds_of({"feature_0": column, "feature_1": column}).values()) == {"raw"}
    assert set(kinds_of({"feature_0": column, "feature_2": column}).values()) == {"number"}


def test_kinds_can_be_asked_for() -> None:
    table = {"zip": pa.array([1, 2, 3, 4])}
    assert kinds_of(table, {"zip": "category"}) == {"zip": "category"}
    with pytest.raises(InputError, match="unknown kind 'word'; kinds: number, count"):
        kinds_of(table, {"zip": "word"})
    with pytest.raises(InputError, match="column 'zap': no such column; columns: zip"):
        kinds_of(table, {"zap": "number"})
    assert all(KINDS.values())


def test_cells_that_hold_lists_are_refused() -> None:
    with pytest.raises(InputError, match=r"column 'tags' holds list<.*> values; a cell must be"):
        guess("tags", pa.array([["a", "b"], ["c"]]))


def test_large_tables_are_judged_by_a_sample_and_all_cells_where_it_says_nothing() -> None:
    late = np.zeros(50_000)
    late[-3] = 1.5
    assert guess("late", pa.array(late)).kind == "number"
    rare = [None] * 49_000 + ["a", "b"] * 500
    assert guess("rare", pa.array(rare)).kind == "category"
