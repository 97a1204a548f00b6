"""An encoder learns once, is plain data, and gives the same features for the same cells."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from heterophily.data.encode.category_column import HASHED_CATEGORIES
from heterophily.data.encode.encoder import Encoder
from heterophily.data.encode.kinds import LEFT_OUT
from heterophily.data.encode.scaling import LIMIT, Scale
from heterophily.errors import InputError


def dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def by_name(encoder: Encoder, features: Any) -> dict[str, list[float]]:
    matrix = dense(features)
    return {name: matrix[:, k].tolist() for k, name in enumerate(encoder.feature_names)}


# --- what each kind becomes -----------------------------------------------------------------------


def test_numbers_are_centred_at_the_median_and_bounded() -> None:
    cells = [1.0, 2.0, 3.0, None, 1e9]
    encoder, encoded = Encoder.fit({"x": pa.array(cells)})
    found = by_name(encoder, encoded.features)
    assert found["x: missing"] == [0, 0, 0, 1, 0]
    assert found["x"][3] == 0
    assert abs(found["x"][4]) < LIMIT + 1e-6
    scale = Scale.fit(np.array([1.0, 2.0, 3.0, 1e9]))
    assert scale.center == 2.5
    z = (1 - 2.5) / scale.spread
    assert found["x"][0] == pytest.approx(z / math.sqrt(1 + (z / 3) ** 2), rel=1e-5)


def test_equal_quartiles_fall_back_to_the_standard_deviation() -> None:
    scale = Scale.fit(np.array([0.0] * 9 + [10.0]))
    assert (scale.center, scale.spread) == (0.0, pytest.approx(3.0))
    assert Scale.fit(np.array([5.0, 5.0])).spread == 1
    assert Scale.fit(np.array([np.nan])) == Scale(0.0, 1.0)


def test_huge_numbers_stay_finite() -> None:
    values = np.array([-1.7e308, 1.7e308, 0.0, np.nan])
    assert np.isfinite(Scale.fit(values).apply(values)).all()


def test_rare_levels_are_together_and_unknown_ones_join_them() -> None:
    cells = ["a"] * 100 + ["b"] * 50 + ["c", "d", "e", None]
    encoder, encoded = Encoder.fit({"x": pa.array(cells)})
    assert encoder.feature_names == ("x=a", "x=b", "x: other", "x: missing")
    assert dense(encoded.features).sum(axis=0).tolist() == [100, 50, 3, 1]
    again = encoder.transform({"x": pa.array(["b", "new", None])})
    assert dense(again.features).tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_unknown_levels_without_others_have_no_feature() -> None:
    encoder, _ = Encoder.fit({"x": pa.array(["a", "b"] * 20)})
    assert dense(encoder.transform({"x": pa.array(["new", "a"])}).features).tolist() == [
        [0, 0],
        [1, 0],
    ]


def test_many_levels_are_hashed_to_one_feature_each() -> None:
    rng = np.random.default_rng(0)
    cells = [f"city {k}" for k in rng.integers(0, 200, 5000)]
    encoder, encoded = Encoder.fit({"x": pa.array(cells)})
    assert len(encoder.feature_names) == HASHED_CATEGORIES
    assert sp.issparse(encoded.features)
    assert (np.diff(encoded.features.indptr) == 1).all()


def test_dates_have_elapsed_time_and_circles() -> None:
    cells = ["2020-01-31", "2020-12-31", "2021-06-30", None]
    encoder, encoded = Encoder.fit({"x": pa.array(cells)}, kinds={"x": "date"})
    found = by_name(encoder, encoded.features)
    assert list(found) == [
        "x: elapsed", "x: year", "x: month sine", "x: month cosine", "x: weekday sine",
        "x: weekday cosine", "x: missing",
    ]  # fmt: skip
    assert found["x: month cosine"][:2] == pytest.approx([1, math.cos(2 * math.pi * 11 / 12)])
    friday, thursday = (2 * math.pi * day / 7 for day in (4, 3))
    assert found["x: weekday sine"][:2] == pytest.approx([math.sin(friday), math.sin(thursday)])
    assert found["x: elapsed"][0] < found["x: elapsed"][1] < found["x: elapsed"][2]
    assert [found[name][3] for name in found] == [0, 0, 0, 0, 0, 0, 1]


def test_parts_of_a_date_that_do_not_vary_are_left_out() -> None:
    encoder, _ = Encoder.fit({"x": pa.array([f"2021-03-01 {h}:00" for h in (1, 2, 3)])})
    assert encoder.feature_names == ("x: elapsed", "x: hour sine", "x: hour cosine")


def test_counts_and_truth_are_left_as_they_are() -> None:
    counts, truth = [0, 3, 0, 9], [True, False, None, True]
    table = {"n": pa.array(counts), "t": pa.array(truth)}
    encoder, encoded = Encoder.fit(table, kinds={"n": "count"})
    assert by_name(encoder, encoded.features) == {
        "n": counts, "t": [1, 0, 0, 1], "t: missing": [0, 0, 1, 0],
    }  # fmt: skip


def test_texts_stand_at_the_end_and_rows_have_length_one() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefgh"), 5)) for _ in range(30)]
    encoder, encoded = Encoder.fit({"bio": pa.array(texts), "age": pa.array(rng.normal(size=30))})
    assert encoder.kinds == {"age": "number", "bio": "text"}
    assert encoder.feature_names[:2] == ("age", "bio: words 0")
    np.testing.assert_allclose(np.linalg.norm(dense(encoded.features)[:, 1:], axis=1), 1, 1e-6)


def test_columns_that_say_nothing_are_left_out() -> None:
    table = {"row": pa.array(range(40)), "same": pa.array(["x"] * 40), "none": pa.nulls(40)}
    encoder, encoded = Encoder.fit(table)
    assert encoded.features is None
    assert encoder.left_out == (("row", "id"), ("same", "constant"), ("none", "almost-empty"))
    assert encoder.summary == "id: 'row'; constant: 'same'; almost-empty: 'none'"


def test_columns_that_tell_the_label_are_named() -> None:
    labels = np.repeat([0, 1, 2], 40)
    status = np.array(["new", "open", "shut", "gone"])[labels + (np.arange(120) % 120 > 100)]
    rng = np.random.default_rng(0)
    table = {"status": pa.array(status), "age": pa.array(rng.normal(size=120))}
    assert Encoder.fit(table, labels=labels)[1].leaking == ("status",)
    assert list(table) == ["status", "age"]
    Encoder.fit(table, empty_table=True)
    assert not table


# --- plain data -----------------------------------------------------------------------------------

CELLS = {
    "number": st.none() | st.floats(allow_nan=True, allow_infinity=True),
    "count": st.none() | st.integers(0, 9),
    "raw": st.integers(-(2**40), 2**40),
    "boolean": st.sampled_from([None, "yes", "no", "perhaps"]),
    "category": st.none() | st.sampled_from(["a", "b", " b", "", "é", "🦉", "1", "1.0"]),
    "date": st.none() | st.dates().map(str) | st.sampled_from(["3/4/2021", "14.3.21", "soon"]),
    "text": st.none() | st.text(max_size=12),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, str]]:
    rows = draw(st.integers(1, 30))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    table, asked = {}, {}
    for place, kind in enumerate(kinds):
        cells = draw(st.lists(CELLS[kind], min_size=rows, max_size=rows))
        table[f"{kind} {place}"] = pa.array(cells)
        asked[f"{kind} {place}"] = kind
    return table, asked


@settings(deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_state_is_json_and_gives_the_same_features_row_by_row(
    drawn: tuple[dict[str, Any], dict[str, str]], random: Any
) -> None:
    table, kinds = drawn
    encoder, encoded = Encoder.fit(table, kinds=kinds)
    again = Encoder.from_dict(json.loads(json.dumps(encoder.to_dict(), allow_nan=False)))
    assert again == encoder
    rows = len(next(iter(table.values())))
    whole = dense(again.transform(table).features)
    np.testing.assert_array_equal(whole, dense(encoded.features))
    assert np.isfinite(whole).all()
    assert whole.shape == (rows, len(encoder.feature_names))
    order = list(range(rows))
    random.shuffle(order)
    mixed = {name: column.take(pa.array(order)) for name, column in table.items()}
    np.testing.assert_array_equal(dense(again.transform(mixed).features), whole[order])
    learnt, _ = Encoder.fit(mixed, kinds=kinds)
    assert learnt.feature_names == encoder.feature_names


@settings(deadline=None)
@given(tables())
def test_guessed_kinds_never_fail_and_text_forms_agree(
    drawn: tuple[dict[str, Any], dict[str, str]],
) -> None:
    table, _ = drawn
    encoder, encoded = Encoder.fit(table)
    matrix = encoded.features
    assert (0 if matrix is None else matrix.shape[1]) == len(encoder.feature_names)
    assert set(encoder.kinds) == set(table)


def test_a_missing_column_counts_as_missing() -> None:
    encoder, _ = Encoder.fit({"x": pa.array([1.0, None, 3.0]), "c": pa.array(["a", "b", "a"])})
    found = encoder.transform({"c": pa.array(["b"])})
    assert by_name(encoder, found.features) == {"x": [0], "x: missing": [1], "c=a": [0], "c=b": [1]}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": 9}, "format 9, this version reads 1"),
        ({"columns": 5}, "damaged"),
        ({"columns": [{"kind": "wizard"}]}, "damaged"),
        ({"columns": [{"kind": "text", "name": "x"}]}, "column 'x' has fields"),
        ({"left_out": [["x"]]}, "damaged"),
    ],
)
def test_damaged_state_is_refused(change: dict[str, Any], sentence: str) -> None:
    state = Encoder.fit({"x": pa.array(["a", "b"])})[0].to_dict()
    with pytest.raises(InputError, match=sentence):
        Encoder.from_dict({**state, **change})


@pytest.mark.parametrize(
    ("key", "value"),
    [("center", "0"), ("spread", float("nan")), ("decimal", ";"), ("name", 5), ("low", True)],
)
def test_a_field_of_another_type_is_refused(key: str, value: Any) -> None:
    state = Encoder.fit({"x": pa.array([1.0, 2.0])})[0].to_dict()
    state["columns"][0][key] = value
    with pytest.raises(InputError, match="the encoder is damaged"):
        Encoder.from_dict(state)


# --- other tables ---------------------------------------------------------------------------------


def test_drift_names_what_looks_different() -> None:
    rng = np.random.default_rng(0)
    table = {
        "age": pa.array(rng.normal(30, 5, 500)),
        "city": pa.array(rng.choice(["Rome", "Oslo"], 500)),
        "joined": pa.array(np.datetime64("2020-01-01") + rng.integers(0, 300, 500)),
        "bio": pa.array([" ".join(rng.choice(list("abcdefgh"), 5)) for _ in range(500)]),
        "same": pa.array(rng.normal(size=500)),
    }
    encoder, _ = Encoder.fit(table)
    assert encoder.drift(table) == ()
    other = {
        "age": pa.array(rng.normal(40, 5, 500)),
        "city": pa.array(rng.choice(["Rome", "Bern"], 500)),
        "joined": pa.array(np.datetime64("2024-01-01") + rng.integers(0, 300, 500)),
        "bio": pa.array([None] * 500, pa.string()),
    }
    found = {drift.column: drift for drift in encoder.drift(other)}
    assert {name: drift.kind for name, drift in found.items()} == {
        "age": "shifted", "city": "unseen levels", "joined": "shifted", "bio": "missing",
        "same": "absent",
    }  # fmt: skip
    assert "the median is 4" in found["age"].sentence
    assert found["city"].sentence.startswith("column 'city': 47% of the nodes")
    assert "the median is 2024-05" in found["joined"].sentence
    assert encoder.drift({name: column[:10] for name, column in table.items()}) == ()


def test_drift_of_truth_values_is_their_share() -> None:
    def vips(share: float) -> dict[str, Any]:
        return {"vip": pa.array(np.arange(400) < 400 * share)}

    encoder, _ = Encoder.fit(vips(0.55))
    (found,) = encoder.drift(vips(0.25))
    assert found.sentence == "column 'vip': 25% of the cells are yes, 55% in training"
    assert encoder.drift(vips(0.45)) == ()  # though the median is another


def test_small_tables_of_the_same_kind_do_not_drift() -> None:
    rng = np.random.default_rng(2)

    def draw(rows: int) -> dict[str, Any]:
        gaps = np.where(rng.random(rows) < 0.3, np.nan, rng.normal(size=rows))
        words = rng.choice(["a", "b", "c"], rows)
        return {"x": pa.array(gaps, from_pandas=True), "w": pa.array(words)}

    encoder, _ = Encoder.fit(draw(60))
    told = [encoder.drift(draw(40)) for _ in range(50)]
    assert sum(map(bool, told)) <= 10


def test_left_out_kinds_are_never_encoded() -> None:
    for kind in LEFT_OUT:
        encoder, encoded = Encoder.fit({"x": pa.array([1, 2])}, kinds={"x": kind})
        assert (encoder.columns, encoded.features) == ((), None)


@pytest.mark.parametrize(
    ("column", "key", "value"),
    [
        ("note", "width", 0),
        ("note", "width", 2**40),
        ("age", "spread", 0.0),
        ("age", "missing", 1.5),
        ("age", "center", 10**400),
        ("city", "levels", ["Rome", "Rome"]),
        ("day", "formats", ["%H"]),
        ("day", "parts", ["minute"]),
    ],
)
def test_a_state_that_no_training_writes_is_refused(column: str, key: str, value: Any) -> None:
    table = {
        "age": pa.array([31.0, None, 40.0] * 10),
        "city": pa.array(["Rome", "Oslo", "Rome"] * 10),
        "day": pa.array([f"2021-03-{day:02}" for day in range(1, 31)]),
        "note": pa.array([f"some words {n} of {n * 7} all different" for n in range(30)]),
    }
    state = Encoder.fit(table)[0].to_dict()
    entry = next(each for each in state["columns"] if each["name"] == column)
    assert key in entry
    entry[key] = value
    with pytest.raises(InputError, match="the encoder is damaged"):
        Encoder.from_dict(state)
