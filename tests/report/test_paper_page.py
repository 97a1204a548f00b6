"""docs/paper.md says what the records say, and everything it names is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import heterophily
from heterophily.errors import InputError
from heterophily.paper.published_tables import published_table
from heterophily.report.paper_page import PARTS, READERS, Place, paper_page, places

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_that_of_the_records() -> None:
    page = (ROOT / "docs" / "paper.md").read_text("utf-8")
    made = paper_page(ROOT / "results")
    assert page == made, "renew it with: heterophily paper page --out docs/paper.md"


@pytest.mark.parametrize("place", places(), ids=lambda place: place.label[:40])
def test_everything_that_a_place_names_is_there(place: Place) -> None:
    assert place.part in PARTS
    assert place.tests or place.record
    for name in place.tests:
        assert (ROOT / name).is_file()
    for name in place.how:
        if name.startswith("heterophily."):
            assert name.removeprefix("heterophily.") in heterophily.__all__
    if place.agreement is not None:
        assert place.agreement in READERS


def test_labels_are_there_once() -> None:
    labels = [place.label for place in places()]
    assert len(labels) == len(set(labels))


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no folder tables"):
        paper_page(tmp_path)


def test_baselines_that_were_trained_later_take_the_place_of_earlier_files(tmp_path: Path) -> None:
    printed = published_table("fixed-splits").cells["geom-gcn", "squirrel"]
    runs = {"0": {"validation": 0.5, "test": 0.1}}
    earlier = {"search_splits": 0, "candidates": [{"runs": runs}]}
    (tmp_path / "geom-gcn--squirrel--fixed.json").write_text(json.dumps(earlier))
    place = Place("table", "a", "b", record=(".", "later.json"))
    assert "1 of 153 printed cells (0 on all ten splits)" in READERS["baselines"](place, tmp_path)
    cell = {
        "row": "geom-gcn",
        "dataset": "squirrel",
        "is_complete": True,
        "published": {"mean": printed.mean},
        "test": [printed.mean] * 10,
    }
    (tmp_path / "later.json").write_text(json.dumps({"cells": [cell]}))
    said = READERS["baselines"](place, tmp_path)
    assert "1 of 153 printed cells (1 on all ten splits)" in said
    assert "mean difference +0.00 points" in said


@pytest.mark.parametrize(("search", "said"), [("paper", "36 of 360 searches"), ("small", "42 ")])
def test_a_figure_drawn_in_full_counts_before_the_runs_of_earlier(
    tmp_path: Path, search: str, said: str
) -> None:
    place = next(found for found in places() if "synthetic_regular" in found.label)
    study = {"search": search, "nodes_per_class": 400, "max_epochs": 5000, "graphs": 1}
    study |= {"models": ["sgc-1", "gcn"], "levels": [0.05 * number for number in range(1, 19)]}
    (tmp_path / "figures").mkdir()
    (tmp_path / place.record[0]).write_text(json.dumps({"study": study, "units": []}))
    runs = tmp_path / place.record[-1]
    runs.write_bytes((ROOT / "results" / place.record[-1]).read_bytes())
    assert READERS["levels"](place, tmp_path).startswith(said)
