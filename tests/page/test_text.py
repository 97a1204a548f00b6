"""Text in pages cannot become markup."""

from __future__ import annotations

import json

import pytest

from heterophily.page.text import data_script, percent, printable, safe, short

HOSTILE = ["<script>alert(1)</script>", "\"'><img src=x>", "</script>", "]]>", "a & b", "\u2028"]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_letter_with_a_meaning_in_html_survives(text: str) -> None:
    found = safe(text)
    assert not set("<>\"'") & set(found)


@pytest.mark.parametrize("text", HOSTILE)
def test_data_cannot_end_its_element_and_is_read_back_unchanged(text: str) -> None:
    element = data_script("points", {"names": [text]})
    inside = element.removeprefix('<script type="application/json" id="points">')
    inside = inside.removesuffix("</script>")
    assert "<" not in inside
    assert json.loads(inside) == {"names": [text]}


def test_data_that_is_not_json_is_refused() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        data_script("points", float("nan"))


def test_control_characters_and_direction_marks_are_shown_as_replaced() -> None:
    assert printable("a\x1b[31m\u202eb") == "a�[31m�b"


def test_long_text_is_cut_before_it_is_escaped() -> None:
    assert short("<" * 10, 4) == "&lt;&lt;&lt;…"


def test_percent_writes_a_dash_where_there_is_no_number() -> None:
    assert (percent(None), percent(0.5, digits=0)) == ("–", "50")
