"""Sentences of the readers in the words of the page."""

from __future__ import annotations

import pytest

from heterophily.web.wording import in_page_words


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        (
            "line 1: '5' is no column name; pass has_header=False (--no-header) if the first line "
            "is data",
            "line 1: '5' is no column name; untick “first line holds names” if the first line is "
            "data",
        ),
        (
            "correct it, or leave the column out (ignore=, --ignore)",
            "correct it, or choose “leave out” as its kind",
        ),
        (
            "or leave the column out with ignore=['a']; also line 3",
            "or choose “leave out” as its kind; also line 3",
        ),
        ("pass nodes= (--nodes) too", "send a table of nodes too"),
        ("edges.csv, line 3: 3 cells, expected 2", "edges.csv, line 3: 3 cells, expected 2"),
    ],
)
def test_options_become_lists_and_boxes(sentence: str, shown: str) -> None:
    assert in_page_words(sentence) == shown
