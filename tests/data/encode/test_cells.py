"""Numbers, truth values, dates and words as people write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from heterophily.data.encode.cells import words_of
from heterophily.data.encode.dates import FORMATS, formats_of, seconds_of
from heterophily.data.encode.hashing import bag_of_words, buckets, hash_cells, hash_words
from heterophily.data.encode.numerals import booleans_of, decimal_of, numbers_of


def column(*cells: Any) -> Any:
    return pa.chunked_array([pa.array(list(cells))])


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("12", ".", 12),
        ("-1.5e3", ".", -1500),
        ("1,234,567.5", ".", 1234567.5),
        ("1.234.567,5", ",", 1234567.5),
        ("3,5", ",", 3.5),
        ("1 234 567", ".", 1234567),
        ("1\u202f234,5", ",", 1234.5),
        ("1'234.5", ".", 1234.5),
        ("$1,200", ".", 1200),
        ("12 %", ".", 12),
        ("€ 3,50", ",", 3.5),
        (" 7 ", ".", 7),
    ],
)
def test_numbers_are_read_as_they_are_written(text: str, decimal: Any, value: float) -> None:
    values, strange = numbers_of(column(text, "0"), decimal)
    assert values.tolist() == [value, 0]
    assert strange.count == 0


@pytest.mark.parametrize("text", ["", "NA", "n/a", "NaN", "null", "None", "?", "-", "inf", "-inf"])
def test_missing_and_infinite_numbers_are_nan(text: str) -> None:
    values, strange = numbers_of(column("1", text))
    assert np.isnan(values).tolist() == [False, True]
    assert strange.count == 0


@pytest.mark.parametrize("text", ["1,23,4", "1.2.3", "12a", "0x10", "1_0", "١٢", "--5", "1e"])
def test_what_is_no_number_is_strange(text: str) -> None:
    values, strange = numbers_of(column("1", text))
    assert np.isnan(values[1])
    assert (strange.count, strange.rows, strange.texts) == (1, (1,), (text,))


def test_strange_cells_are_counted_and_the_first_are_kept() -> None:
    _, strange = numbers_of(column(*(["1", "x"] * 50)))
    assert strange.count == 50
    assert strange.rows == tuple(range(1, 41, 2))


def test_decimal_mark_is_the_one_under_which_more_cells_are_numbers() -> None:
    assert decimal_of(column("1,234", "5,678")) == (".", 1.0)
    assert decimal_of(column("1,234", "5,67")) == (",", 1.0)
    assert decimal_of(column("1.5", "2.5", "3,5")) == (".", pytest.approx(2 / 3))
    assert decimal_of(column(None, None).cast(pa.string())) == (".", 0.0)


def test_truth_has_many_names() -> None:
    values, strange = booleans_of(column("TRUE", "f", "Yes", "0", "on", None, "maybe"))
    assert values[:5].tolist() == [1, 0, 1, 0, 1]
    assert np.isnan(values[5:]).all()
    assert strange.texts == ("maybe",)
    assert booleans_of(column(1.0, 0.0))[0].tolist() == [1, 0]
    assert booleans_of(column(True, False))[0].tolist() == [1, 0]


DAY = datetime(2021, 3, 14, tzinfo=UTC)


@pytest.mark.parametrize("name", [name for name in FORMATS if "%d" in name])
def test_every_format_reads_what_it_writes(name: str) -> None:
    values, strange = seconds_of(column(DAY.strftime(name), "?"), [name])
    assert values[0] == DAY.timestamp()
    assert np.isnan(values[1])
    assert strange.count == 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (" 10:30", 37800),
        ("T10:30:05", 37805),
        ("T10:30:05.25Z", 37805),
        ("T10:30:05+02:00", 30605),
        (" 12:30 am", 1800),
        (" 1:30 PM", 48600),
    ],
)
def test_times_of_day_are_added(text: str, seconds: int) -> None:
    assert seconds_of(column("2021-03-14" + text), ["%Y-%m-%d"])[0] == DAY.timestamp() + seconds


def test_day_and_month_are_told_apart_by_the_cells_that_allow_one_order() -> None:
    assert formats_of(pa.array(["3/4/2021", "13/4/2021"]))[0] == ("%d/%m/%Y",)
    assert formats_of(pa.array(["3/4/2021", "3/14/2021"]))[0] == ("%m/%d/%Y",)
    assert formats_of(pa.array(["3/4/2021"]))[0] == ("%m/%d/%Y",)


def test_three_formats_in_one_column() -> None:
    cells = ["2021-03-14", "14.3.2021", "Mar 14, 2021"] * 3
    formats, share = formats_of(pa.array(cells))
    assert share == 1
    assert set(seconds_of(column(*cells), formats)[0]) == {DAY.timestamp()}


def test_two_digit_years_are_not_the_first_century() -> None:
    assert formats_of(pa.array(["31/12/21", "30/11/20"]))[0] == ("%d/%m/%y",)
    assert np.isnan(seconds_of(column("14.3.21"), ["%d.%m.%Y"])[0]).all()


def test_typed_dates_and_numbers_are_points_in_time() -> None:
    stamp = DAY.timestamp()
    for cells in (
        pa.array([DAY]),
        pa.array([DAY.date()]),
        pa.array([int(stamp)]),
        pa.array([int(stamp) * 1000]),
        pa.array([int(stamp) * 10**9]),
    ):
        assert seconds_of(cells, ())[0].tolist() == [stamp]
    new_year = datetime(2021, 1, 1, tzinfo=UTC).timestamp()
    assert seconds_of(pa.array([2021, None]), ())[0][0] == new_year


def test_words_are_the_same_from_every_type() -> None:
    for cells in (["2", None, "3"], [2, None, 3], [2.0, None, 3.0], ["2 ", "", " 3"]):
        words, codes = words_of(column(*cells))
        assert (words, codes.tolist()) == (["2", "3"], [0, -1, 1])
    words, codes = words_of(column(float("nan"), 1.5, float("inf")))
    assert (words, codes.tolist()) == (["1.5"], [-1, 0, -1])
    assert words_of(column(True, False))[0] == ["true", "false"]


def reference(text: str) -> int:
    """The hash, one byte after the other."""
    total, factor = 0, 1
    for byte in text.encode():
        total, factor = (total + (byte + 1) * factor) % 2**32, factor * 0x9E3779B1 % 2**32
    total = (total ^ total >> 16) * 0x85EBCA6B % 2**32
    total = (total ^ total >> 13) * 0xC2B2AE35 % 2**32
    return total ^ total >> 16


def test_hashes_are_those_of_every_machine() -> None:
    words = ["a", "heterophily", "🦉", "", "x" * 5000]
    assert hash_cells(words).tolist() == [reference(word) if word else 0 for word in words]
    assert hash_words(pa.array(["A heterophily 🦉"]))[0].tolist() == list(map(reference, words[:3]))
    assert buckets(hash_cells(["a", "b", "heterophily"]), 1024).tolist() == [966, 474, 138]


def test_words_are_split_within_cells_and_case_does_not_matter() -> None:
    hashes, counts = hash_words(pa.array(["The owl!", "", None, "owl-the", "...", "théOWL"]))
    assert counts.tolist() == [2, 0, 0, 2, 0, 1]
    assert hashes[:2].tolist() == hashes[2:4].tolist()[::-1]
    sliced, _ = hash_words(pa.array(["x y", "The owl!"])[1:])
    assert sliced.tolist() == hashes[:2].tolist()


def test_bag_of_words_counts_words_and_pairs() -> None:
    text = column("a b a b", "", "a")
    matrix, words = bag_of_words(text, 1 << 20)
    assert words.tolist() == [4, 0, 1]
    counts = matrix[[0]].data * np.sqrt(4 + 4 + 4 + 1)  # a, b and "a b" twice, "b a" once
    np.testing.assert_allclose(np.sort(counts), [1, 2, 2, 2], rtol=1e-6)
    assert matrix.shape == (3, 1 << 20)
    assert np.diff(matrix.indptr).tolist() == [4, 0, 1]
    assert bag_of_words(pa.chunked_array([], pa.string()), 8)[0].shape == (0, 8)


def test_chunks_do_not_change_a_bag() -> None:
    rng = np.random.default_rng(0)
    cells = [" ".join(rng.choice(list("abcdefgh"), rng.integers(0, 9))) for _ in range(5000)]
    whole = bag_of_words(pa.chunked_array([pa.array(cells)]), 64)[0]
    cut = bag_of_words(pa.chunked_array([pa.array(cells[:7]), pa.array(cells[7:])]), 64)[0]
    assert (whole != cut).nnz == 0
    assert whole.has_sorted_indices


def test_minus_zero_is_the_same_word_as_zero() -> None:
    words, codes = words_of(pa.chunked_array([pa.array([-0.0, None, 0.0])]))
    assert (words, codes.tolist()) == (["0"], [0, -1, 0])


def test_words_that_differ_in_blanks_alone_are_one_word() -> None:
    words, codes = words_of(pa.chunked_array([pa.array(["a ", "  ", None, "b", "a"])]))
    assert (words, codes.tolist()) == (["a", "b"], [0, -1, -1, 1, 0])
