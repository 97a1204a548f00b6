"""docs/paper.md says what the records say, and everything it names is there."""

from __future__ import annotations

from pathlib import Path

import pytest

import heterophily
from heterophily.errors import InputError
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
