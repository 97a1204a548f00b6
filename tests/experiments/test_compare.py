"""Comparisons on equal splits."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.small import small_graph

from heterophily.errors import InputError, UnknownNameError
from heterophily.experiments.compare import Comparison, compare
from heterophily.experiments.executor import InProcess
from heterophily.experiments.statistics import paired_test
from heterophily.experiments.store import Store

MODELS = ["mlp-1", "sgc-1", "gcn"]


def quick(tmp_path: Path, **changes: object) -> Comparison:
    (tmp_path / "space.toml").write_text("lr = [0.001, 0.1]\nmax_epochs = [10]\n")
    arguments: dict[str, object] = {
        "models": MODELS,
        "is_tuned": True,
        "space": tmp_path / "space.toml",
        "repeats": 4,
        "executor": InProcess(),
        "engine": "torch",
        **changes,
    }
    with Store(tmp_path / "runs.sqlite") as store:
        return compare(small_graph(), store=store, **arguments)  # type: ignore[arg-type]


def test_every_pair_is_tested_on_the_same_splits(tmp_path: Path) -> None:
    result = quick(tmp_path)
    cells = {cell.row: cell for cell in result.models}
    assert len(result.tests) == 3
    for test in result.tests:
        first, second = cells[test.first], cells[test.second]
        expected = paired_test(first.test, second.test, test_to_train=1 / 3)
        assert (test.difference, test.p_value, test.wilcoxon) == pytest.approx(expected)
    with Store(tmp_path / "runs.sqlite") as store:
        splits = {
            name: [store.get(key).run["split"]["digest"] for key in cell.keys]  # type: ignore[union-attr]
            for name, cell in cells.items()
        }
    assert splits["mlp-1"] == splits["sgc-1"] == splits["gcn"]


def test_models_are_sorted_and_rivals_are_those_not_told_apart(tmp_path: Path) -> None:
    result = quick(tmp_path)
    means = [cell.mean or 0.0 for cell in result.models]
    assert means == sorted(means, reverse=True)
    significant = {t.first for t in result.tests if t.is_significant()} | {
        t.second for t in result.tests if t.is_significant()
    }
    for cell in result.models[1:]:
        assert cell.row in result.rivals or cell.row in significant


def test_tuned_models_are_compared_at_the_settings_chosen_on_validation(tmp_path: Path) -> None:
    result = quick(tmp_path)
    assert [search.model for search in result.searches] == MODELS
    for search in result.searches:
        cell = next(cell for cell in result.models if cell.row == search.model)
        assert cell.settings == search.best.settings
        assert cell.keys == search.keys


def test_data_of_a_comparison_is_plain(tmp_path: Path) -> None:
    import json

    data = json.loads(json.dumps(quick(tmp_path).to_dict()))
    assert data["graph"] == "small"
    assert {cell["row"] for cell in data["models"]} == set(MODELS)
    assert all("corrected" in test for test in data["tests"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": ["gcn"]}, "at least two models"),
        ({"models": ["gcn", "gcn"]}, "at least two models"),
        ({"models": ["gcn", "gnc"]}, "did you mean 'gcn'"),
        ({"splits": "odd"}, "unknown split rule"),
        ({"is_tuned": False, "repeats": 1}, "at least two splits"),
    ],
)
def test_bad_arguments_are_one_sentence_before_any_training(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises((InputError, UnknownNameError), match=message):
        quick(tmp_path, **changes)
    with Store(tmp_path / "runs.sqlite") as store:
        assert store.starts() == []
