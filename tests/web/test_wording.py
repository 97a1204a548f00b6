"""Remedies in the words of the page."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from heterophily.data.remedies import COMMAND_WORDS, Remedy, remedy, speaking
from heterophily.data.tables import read_tables
from heterophily.errors import InputError
from heterophily.web.wording import PAGE_WORDS


def facts_of(words: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(words) if name}


def test_both_surfaces_have_words_for_the_same_remedies() -> None:
    assert PAGE_WORDS.keys() == COMMAND_WORDS.keys()


@pytest.mark.parametrize("kind", COMMAND_WORDS)
def test_the_page_names_no_option_and_no_argument(kind: str) -> None:
    assert not re.search(r"--\w|\w=", PAGE_WORDS[kind])
    assert facts_of(PAGE_WORDS[kind]) <= facts_of(COMMAND_WORDS[kind])


def test_a_remedy_is_a_value() -> None:
    assert remedy("leave-out", column="a") == Remedy("leave-out", (("column", "'a'"),))


def refusals(folder: Path) -> list[str]:
    """Return what readers say of tables with one fault each."""
    tables = {
        "two alike": ("a,a\n1,2\n", None),
        "no header": ("a,b\nb,c\na,c\n", None),
        "no weight": ("source,target,weight\na,b,\n", None),
        "odd weight": ("source,target,weight\na,b,-1\n", None),
        "one column": ("source\na\n", None),
        "unknown end": ("source,target\na,b\nb,c\n", "id,label,age\na,x,1\nb,y,2\n"),
        "no labels": ("source,target\na,b\n", "id,label\na,\nb,\n"),
        "swapped": ("source,target\na,b\n", "source,target\na,b\n"),
    }
    told = []
    for name, (edges, nodes) in tables.items():
        (folder / "e.csv").write_text(edges)
        if nodes is not None:
            (folder / "n.csv").write_text(nodes)
        with pytest.raises(InputError) as caught:
            read_tables(folder / "e.csv", None if nodes is None else folder / "n.csv")
        told.append(f"{name}: {caught.value}")
    return told


def test_readers_speak_the_words_of_the_surface(tmp_path: Path) -> None:
    on_command_line = refusals(tmp_path)
    with speaking(PAGE_WORDS):
        on_page = refusals(tmp_path)
    assert not [told for told in on_page if re.search(r"--\w|\w=", told)]
    assert sum(map(str.__ne__, on_page, on_command_line)) >= 6
    assert refusals(tmp_path) == on_command_line
