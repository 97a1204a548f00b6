"""The script behind results/zoo-fixed-splits: candidates that build, a choice blind to the test."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from heterophily.paper.published_tables import published_table
from heterophily.runs.model import spec_with
from heterophily.search.space import recipe_of

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "science" / "zoo_accuracy.py"


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("zoo_accuracy", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setitem(sys.modules, spec.name, module)  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    yield module
    monkeypatch.undo()


def outcome(validation: float | None, test: float | None) -> dict[str, Any]:
    return {"validation": validation, "test": test, "epochs": 1, "cpu_seconds": 0.0}


def record(*candidates: dict[str, Any], search_splits: int) -> dict[str, Any]:
    return {"search_splits": search_splits, "candidates": [{"runs": runs} for runs in candidates]}


def test_every_model_has_settings_that_build_on_every_dataset(script: ModuleType) -> None:
    for model in script.ROWS:
        for dataset in script.DATASETS:
            cell = script.candidates(model, dataset)
            assert cell, f"{model} on {dataset}"
            for candidate in cell:
                recipe = recipe_of(candidate["settings"], model, "")
                assert spec_with(model, recipe.options).build(
                    num_nodes=6, num_features=4, num_classes=2
                )


def test_candidates_of_a_cell_differ(script: ModuleType) -> None:
    for model in script.ROWS:
        for dataset in script.DATASETS:
            texts = [json.dumps(c["settings"]) for c in script.candidates(model, dataset)]
            assert len(set(texts)) == len(texts), f"{model} on {dataset}"


def test_every_baseline_of_the_papers_table_is_a_row(script: ModuleType) -> None:
    wanted = {name for name in published_table("fixed-splits").models if "acm" not in name}
    assert wanted <= set(script.ROWS)


def test_the_choice_looks_at_validation_accuracy_only(script: ModuleType) -> None:
    low_test = {"0": outcome(0.9, 0.1)}
    high_test = {"0": outcome(0.8, 1.0)}
    cell = record(high_test, low_test, search_splits=1)
    assert script.chosen(cell)["runs"] is low_test


def test_nothing_is_chosen_before_the_search_is_complete(script: ModuleType) -> None:
    assert script.chosen(record({"0": outcome(0.9, 0.9)}, {}, search_splits=1)) is None


def test_the_page_counts_what_is_near_and_what_is_reached(
    script: ModuleType, tmp_path: Path
) -> None:
    paper = published_table("fixed-splits")
    for dataset, shift in (("texas", 0.02), ("cora", 0.05), ("film", -0.05)):
        cell = script.record_of(tmp_path, "fagcn", dataset, {})
        published = paper.cell("fagcn", dataset)
        assert published is not None
        for candidate in cell["candidates"]:
            for number in range(max(1, cell["search_splits"])):
                candidate["runs"][str(number)] = outcome(0.5, published.mean + shift)
        script.path_of(tmp_path, "fagcn", dataset).write_text(json.dumps(cell))
    lines = script.page(tmp_path, records=tmp_path / "none.json").splitlines()
    row = next(line for line in lines if line.startswith("| fagcn | "))
    assert "| 1, 2 of 3 |" in row
    assert row.count("+") == row.count("*") == 1
    text = " ".join(lines)
    assert "Cells with a published number: 3 of 153 run, 1 within one published" in text
    assert "mean difference to the paper +0.67 points" in text


def test_runs_of_changed_settings_are_not_taken_over(script: ModuleType, tmp_path: Path) -> None:
    cell = script.record_of(tmp_path, "fagcn", "texas", {})
    cell["candidates"][0]["runs"] = {"0": outcome(0.5, 0.5)}
    path = script.path_of(tmp_path, "fagcn", "texas")
    path.write_text(json.dumps(cell))
    assert script.record_of(tmp_path, "fagcn", "texas", {})["candidates"][0]["runs"]
    cell["candidates"][0]["settings"]["lr"] = 0.123
    path.write_text(json.dumps(cell))
    assert not script.record_of(tmp_path, "fagcn", "texas", {})["candidates"][0]["runs"]


def test_records_of_a_cell_take_the_place_of_its_file(script: ModuleType, tmp_path: Path) -> None:
    file = script.record_of(tmp_path, "fagcn", "cora", {})
    file["candidates"][0]["runs"] = {"0": outcome(0.5, 0.5)}
    script.path_of(tmp_path, "fagcn", "cora").write_text(json.dumps(file))
    settings = file["candidates"][-1]["settings"]
    cell = {"settings": settings, "validation": [0.7] * 10, "test": [0.8] * 10, "seconds": 20.0}
    found = script.record_of(tmp_path, "fagcn", "cora", {("fagcn", "cora"): cell})
    assert script.chosen(found)["settings"] == settings
    assert script.values_of(found) == [0.8] * 10
