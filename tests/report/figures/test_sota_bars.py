"""The bars are the published table, and its gains are those of the paper's caption."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heterophily.errors import InputError, UnknownNameError
from heterophily.report.figures.catalog import SIX
from heterophily.report.figures.request import Request
from heterophily.report.figures.sota_bars import BASE_OF, GROUPS, collect, draw

CAPTION = {
    "cornell": [10.16, 13.44],
    "wisconsin": [20.25, 27.50],
    "texas": [11.64, 13.45],
    "chameleon": [2.04, 11.90],
    "film": [4.31, 6.35],
    "squirrel": [4.06, 25.22],
}


def test_gains_are_those_printed_under_the_figure_of_the_paper() -> None:
    found = collect(Request(graphs=SIX))["panels"]
    assert {panel["graph"]: panel["gain"] for panel in found} == CAPTION


def test_every_model_improves_a_baseline_of_the_figure() -> None:
    assert set(BASE_OF.values()) == set(GROUPS["baseline"])
    assert BASE_OF["acmii-gcn++"] == "gcn"


def test_the_line_is_the_best_model_that_is_not_ours() -> None:
    panel = collect(Request(graphs=("wisconsin",)))["panels"][0]
    assert panel["best_other"] == {"model": "mlp-2", "mean": 0.9387}


def test_our_results_stand_on_their_bars(tmp_path: Path) -> None:
    training = {
        "model": "acm-gcn", "graph": "texas", "protocol": "random",
        "test_accuracy": {"mean": 0.9, "std": 0.02, "values": []},
    }  # fmt: skip
    table = {"cells": [{"row": "gcn", "dataset": "texas", "splits": "random", "mean": 0.8,
                        "std": 0.1}]}  # fmt: skip
    fixed = {**training, "model": "acm-gcn+", "protocol": "fixed"}
    for name, content in {"a": training, "b": table, "c": fixed}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    data = collect(Request(graphs=("texas",), results=(tmp_path,)))
    ours = {bar["model"]: bar["ours"] for bar in data["panels"][0]["bars"] if bar["ours"]}
    assert ours == {"acm-gcn": [0.9, 0.02], "gcn": [0.8, 0.1]}
    assert "ours" in [text.get_text() for text in draw(data).legends[0].get_texts()]


def test_a_file_without_results_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(InputError, match=r"x\.json holds no results"):
        collect(Request(graphs=("texas",), results=(tmp_path / "x.json",)))


def test_a_dataset_that_the_paper_lacks_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="karate"):
        collect(Request(graphs=("karate",)))
