"""Results of other commands become one table, paired where splits are equal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heterophily.errors import InputError
from heterophily.report.results import read_results
from heterophily.report.sections.results import results_part
from heterophily.statistics.paired_tests import paired_test


def training(model: str, values: list[float], **changes: Any) -> dict[str, Any]:
    mean = sum(values) / len(values)
    spread = {"mean": mean, "std": 0.0, "values": values}
    return {
        "model": model, "graph": "g", "protocol": "random", "hyperparameters": {"seed": 0},
        "test_accuracy": spread, "validation_accuracy": spread, "epochs": 10.0,
        "ms_per_epoch": 1.0, **changes,
    }  # fmt: skip


def written(folder: Path, *contents: Any) -> list[Path]:
    paths = [folder / f"{number}.json" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return paths


def test_trainings_on_equal_splits_are_paired_and_sorted(tmp_path: Path) -> None:
    low, high = [0.1, 0.2, 0.15], [0.9, 0.8, 0.95]
    found = read_results(written(tmp_path, training("a", low), training("b", high)), graph="g")
    assert [cell["row"] for cell in found["models"]] == ["b", "a"]
    test = found["tests"][0]
    expected = paired_test(low, high, test_to_train=1 / 3)
    assert (test["difference"], test["p_value"], test["wilcoxon"]) == pytest.approx(expected)
    assert found["best"] == "b"
    assert found["rivals"] == ([] if test["corrected"] < 0.05 else ["a"])


@pytest.mark.parametrize(
    "changes", [{"hyperparameters": {"seed": 1}}, {"protocol": "fixed"}], ids=["seed", "rule"]
)
def test_other_splits_are_not_paired_and_the_table_says_so(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    files = written(tmp_path, training("a", [0.1, 0.2]), training("b", [0.3, 0.2], **changes))
    found = read_results(files, graph="g")
    assert found["tests"] == []
    assert found["remarks"] == ["the models were not on the same splits"]


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (["no json"], "is not JSON"),
        ([[]], "holds no results"),
        ([{"models": [{}], "graph": "g"}], "holds no results"),
        ([training("a", [0.5], graph="other")], "about the graph 'other', not about 'g'"),
    ],
)
def test_files_of_another_kind_are_refused(
    tmp_path: Path, contents: list[Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_results(written(tmp_path, *contents), graph="g")


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json: no such file"):
        read_results([tmp_path / "none.json"], graph="g")


def test_trainings_by_another_score_are_compared_by_it_beside_their_baselines(
    tmp_path: Path,
) -> None:
    def scored(model: str, values: list[float]) -> dict[str, Any]:
        mean = sum(values) / len(values)
        score = {"mean": mean, "std": 0.0, "values": values, "interval": None}
        base = {
            "name": "trees", "title": "trees", "score": "roc-auc", "test": score, "interval": None,
            "difference": 0.0, "splits": 3, "of_splits": 3, "absence": "", "is_better": None,
        }  # fmt: skip
        return training(
            model, [0.9, 0.9, 0.9], protocol=None, split_rule="random", score="roc-auc",
            scores={"roc-auc": score}, baselines=[base], test_nodes=20,
        )  # fmt: skip

    files = written(tmp_path, scored("a", [0.5, 0.6, 0.7]), scored("b", [0.8, 0.7, 0.9]))
    found = read_results(files, graph="g")
    assert (found["score"], found["best"], found["splits"]) == ("roc-auc", "b", "random")
    assert found["tests"][0]["difference"] == pytest.approx(-0.2)
    assert found["baselines"][0]["name"] == "trees"
    assert "baseline: trees" in results_part(found)
