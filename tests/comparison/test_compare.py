"""Comparisons on equal splits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_study import small_graph
from torch import Tensor, nn

from heterophily.comparison.compare import Comparison, compare
from heterophily.data.graph import Graph
from heterophily.errors import InputError, UnknownNameError
from heterophily.models.pyg_adapter import pyg_model
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.stores.url import open_store
from heterophily.search.space import Space
from heterophily.statistics.paired_tests import paired_test

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
    with open_store(tmp_path / "runs.sqlite") as store:
        return compare(small_graph(), store=store, **arguments)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("comparison")


@pytest.fixture(scope="module")
def result(place: Path) -> Comparison:
    """The comparison of three tuned models; its runs are in the folder ``place``."""
    return quick(place)


def test_every_pair_is_tested_on_the_same_splits(result: Comparison, place: Path) -> None:
    cells = {cell.row: cell for cell in result.models}
    assert len(result.tests) == 3
    for test in result.tests:
        first, second = cells[test.first], cells[test.second]
        expected = paired_test(first.test, second.test, test_to_train=1 / 3)
        assert (test.difference, test.p_value, test.wilcoxon) == pytest.approx(expected)
    with open_store(place / "runs.sqlite") as store:
        splits = {
            name: [store.get(key).run["split"]["digest"] for key in cell.keys]  # type: ignore[union-attr]
            for name, cell in cells.items()
        }
    assert splits["mlp-1"] == splits["sgc-1"] == splits["gcn"]


def test_models_are_sorted_and_rivals_are_those_not_told_apart(result: Comparison) -> None:
    means = [cell.mean or 0.0 for cell in result.models]
    assert means == sorted(means, reverse=True)
    significant = {t.first for t in result.tests if t.is_significant()} | {
        t.second for t in result.tests if t.is_significant()
    }
    for cell in result.models[1:]:
        assert cell.row in result.rivals or cell.row in significant


def test_tuned_models_are_compared_at_the_settings_chosen_on_validation(result: Comparison) -> None:
    assert [search.model for search in result.searches] == MODELS
    for search in result.searches:
        cell = next(cell for cell in result.models if cell.row == search.model)
        assert cell.settings == search.best.settings
        assert cell.keys == search.keys


def test_data_of_a_comparison_is_plain(result: Comparison) -> None:
    data = json.loads(json.dumps(result.to_dict()))
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
    with open_store(tmp_path / "runs.sqlite") as store:
        assert store.starts() == []


def rare_graph() -> Graph:
    """Return 100 nodes of which 20 are rare, with a column that tells them apart a little."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [80, 20])
    features = rng.random((100, 2)) + 0.5 * labels[:, None]
    source, target = rng.integers(0, 100, (2, 200))
    return Graph.from_edges(source, target, labels=labels, features=features, name="rare")


HOW: dict[str, Any] = {"repeats": 3, "executor": InProcess()}


def test_unequal_classes_are_compared_and_tuned_by_the_area(tmp_path: Path) -> None:
    (tmp_path / "space.toml").write_text("lr = [0.001, 0.1]\nmax_epochs = [5]\n")
    with open_store(tmp_path / "runs.sqlite") as store:
        result = compare(
            rare_graph(), ["mlp-1", "sgc-1"], store=store, is_tuned=True,
            space=tmp_path / "space.toml", **HOW,
        )  # fmt: skip
    assert result.score == "roc-auc"
    assert {search.score for search in result.searches} == {"roc-auc"}
    means = [result.values[cell.row].mean for cell in result.models]
    assert means == sorted(means, reverse=True)
    for cell in result.models:
        assert result.values[cell.row].values == cell.scores["roc-auc"]
        assert np.sum(cell.confusion) == 3 * 20
    (test,) = result.tests
    first, second = (result.values[name].values for name in (test.first, test.second))
    assert test.difference == pytest.approx(np.mean(first) - np.mean(second))


def test_baselines_stand_beside_every_model_on_the_same_splits(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.sqlite") as store:
        result = compare(rare_graph(), ["mlp-1", "sgc-1"], store=store, **HOW)
    data = json.loads(json.dumps(result.to_dict()))
    assert [found["name"] for found in data["baselines"]] == ["largest-class", "trees"]
    assert data["baselines"][0]["test"]["values"] == [0.5] * 3
    for model in data["models"]:
        largest, trees = model["against"]
        gaps = np.subtract(model["score"]["values"], trees["test"]["values"])
        assert trees["difference"] == pytest.approx(gaps.mean())
        assert trees["interval"]["low"] <= trees["difference"] <= trees["interval"]["high"]
        assert largest["splits"] == 3
        assert [row["nodes"] for row in model["per_class"]] == [48, 12]


def test_runs_on_the_papers_splits_are_compared_by_accuracy_and_a_remark_says_so(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "runs.sqlite") as store:
        result = compare(
            rare_graph(), ["mlp-1", "sgc-1"], store=store, splits="paper-random", **HOW
        )
        assert all(record.outcome.scores is None for record in store.records())
    assert result.score == "accuracy"
    assert any("compared by accuracy: ROC AUC" in remark for remark in result.remarks)
    assert any("without test nodes" in remark for remark in result.remarks)


def test_an_unknown_score_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    with (
        open_store(tmp_path / "runs.sqlite") as store,
        pytest.raises(UnknownNameError, match="unknown score 'auc'"),
    ):
        compare(rare_graph(), ["mlp-1", "sgc-1"], store=store, score="auc", **HOW)


class OwnMap(nn.Module):
    """A user's module: a map of the features."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.map = nn.Linear(num_features, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        found: Tensor = self.map(x)
        return found


def test_a_model_of_your_own_is_compared_and_stored(tmp_path: Path) -> None:
    graph = small_graph()
    space = Space("one", {"lr": (0.05,), "max_epochs": (12,)})
    how: dict[str, Any] = {"repeats": 2, "executor": InProcess(), "is_tuned": True, "space": space}
    own = pyg_model(OwnMap)
    with open_store(tmp_path / "runs.sqlite") as store:
        result = compare(graph, ["mlp-1", own], store=store, **how)
        assert {cell.row for cell in result.models} == {"mlp-1", "OwnMap"}
        compare(graph, ["mlp-1", own], store=store, **how)
        assert len(store.starts()) == 4
