"""Figures on disk: picture, record, the line below; and no record is made twice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report.made import HOSTILE, ring
from small_study import small_graph

from heterophily.errors import InputError, UnknownNameError
from heterophily.report.figures import make as module
from heterophily.report.figures.catalog import FIGURES
from heterophily.report.figures.make import make_figure
from heterophily.report.figures.request import Request

TINY = Request(
    graphs=(small_graph(),),
    engine="torch",
    workers=1,
    max_epochs=8,
    nodes=40,
    repeats=2,
    preset=None,
)
TRAINED = [name for name, figure in FIGURES.items() if "models" in figure.options]
STILL = ["local-homophily", "compatibility", "where-it-stands"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all: models are trained once."""
    return tmp_path_factory.mktemp("figures")


@pytest.mark.parametrize("name", [*STILL, *TRAINED])
def test_each_figure_writes_two_pictures_and_its_record(name: str, folder: Path) -> None:
    made = make_figure(name, TINY, out=folder)
    assert [path.name for path in made.files] == [
        f"{name}-small.{kind}" for kind in ("svg", "png", "json")
    ]
    assert "small" in made.alternative
    svg = made.files[0].read_text("utf-8")
    assert f"Drawn from {name}-small.json" in svg
    record = json.loads(made.files[2].read_text("utf-8"))
    assert record["figure"] == name
    if name in TRAINED:
        assert {len(run["key"]) for run in record["data"]["runs"]} == {64}


@pytest.mark.parametrize("name", [*STILL, "alpha-output"])
def test_the_same_request_draws_the_stored_record(name: str, folder: Path, monkeypatch) -> None:
    first = make_figure(name, TINY, out=folder)
    pictures = [path.read_bytes() for path in first.files[:2]]

    def refuse(*arguments: object) -> None:
        raise AssertionError("collected again")

    monkeypatch.setattr(type(FIGURES[name]), "collect", refuse)
    again = make_figure(name, TINY, out=folder)
    assert [path.read_bytes() for path in again.files[:2]] == pictures


def test_another_graph_of_the_same_name_is_measured_anew(tmp_path: Path) -> None:
    first, second = (
        make_figure("compatibility", Request(graphs=(graph,)), out=tmp_path).record
        for graph in (ring(), ring(labels=np.arange(40) % 2))
    )
    assert first["data"] != second["data"]


def test_records_of_an_older_format_are_made_anew(tmp_path: Path, monkeypatch) -> None:
    request = Request(graphs=(ring(),))
    make_figure("compatibility", request, out=tmp_path)
    monkeypatch.setattr(module, "FORMAT", 99)
    assert make_figure("compatibility", request, out=tmp_path).record["format"] == 99


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [*STILL, "t-sne", "training-curves", "accuracy-by-homophily"])
def test_hostile_names_are_drawn_as_they_are(name: str, tmp_path: Path) -> None:
    graph = small_graph().replace(
        class_names=HOSTILE[:3], name=HOSTILE[4] + HOSTILE[1] + "\u202e漢", splits=None
    )
    made = make_figure(name, replace(TINY, graphs=(graph,)), out=tmp_path)
    svg = made.files[0].read_text("utf-8")
    assert "<script" not in svg
    assert "<img" not in svg
    assert {path.parent for path in made.files} == {tmp_path}


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("alpha-hiden", {}, "did you mean 'alpha-hidden'"),
        ("regular", {}, "heterophily paper figure regular"),
        ("alpha-hidden", {"models": ("gcn",)}, "gcn has no mixing weights"),
        ("alpha-hidden", {"models": ("gcn", "acm-gcn")}, "draws one model"),
        ("ternary", {"models": ("acm-gcn+",)}, "low, high and identity"),
        ("t-sne", {"models": ("gcn",)}, "name an ACM model"),
        ("t-sne", {"nodes": 5001}, "choose 1 to 5,000"),
        ("t-sne", {"graphs": (ring(90, labels=np.arange(90) % 9),)}, "9 classes; the maps tell"),
        ("t-sne", {"graphs": (ring(), ring())}, "at most 1 graph"),
        ("ternary", {"graphs": (ring(labels=None),)}, "no labelled"),
        ("ternary", {"graphs": (ring(labels=np.zeros(40, int)),)}, "at least two classes"),
        ("ternary", {"only_finished": True, "seed": 9}, "--no-train forbids training"),
        ("ternary", {"models": ("acm-gnc",)}, "acm-gcn"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(
    name: str, changes: dict[str, object], message: str, folder: Path
) -> None:
    with pytest.raises((InputError, UnknownNameError), match=message) as error:
        make_figure(name, replace(TINY, **changes), out=folder)
    assert "\n" not in str(error.value)


def test_a_file_in_the_way_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match="it is a file; name a folder"):
        make_figure("compatibility", TINY, out=tmp_path / "out")
    (tmp_path / "compatibility-small.json").write_text("[]")
    with pytest.raises(InputError, match="not a record of a figure; move it away"):
        make_figure("compatibility", TINY, out=tmp_path)
