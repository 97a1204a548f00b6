"""TOML of users: whatever is wrong with a study, a space or a file of settings is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterophily.data.toml_file import read_toml
from heterophily.errors import HeterophilyError
from heterophily.search.settings import read_settings
from heterophily.search.space import space_for
from heterophily.studies.study import study

DIGITS = "9" * 5000
ODD = [
    "a = " + "[" * 5000 + "]" * 5000,
    f"lr = {DIGITS}",
    f"lr = [{DIGITS}]",
    "\x00",
    "a = 1\na = 2",
]
STUDIES = [
    'title = "t"\nrows = 5\ndatasets = ["texas"]',
    'title = "t"\nrows = "gcn"\ndatasets = ["texas"]',
    'title = "t"\nrows = ["gcn"]\ndatasets = 5',
    'title = "t"\nrows = ["gcn"]\ndatasets = [5]',
    'title = "t"\nrows = [{name = 5}]\ndatasets = ["texas"]',
    'title = "t"\nrows = [{name = "a", options = 5}]\ndatasets = ["texas"]',
    'title = "t"\nrows = [{name = "a", options = {a = {}}}]\ndatasets = ["texas"]',
    'title = "t"\nrows = ["gcn"]\ndatasets = ["texas"]\nsplits = []',
    'title = "t"\nrows = ["gcn"]\ndatasets = ["texas"]\npublished = {}',
    'title = 5\nrows = ["gcn"]\ndatasets = ["texas"]',
    'title = "t"\nsynthetic = 5',
]
SPACES = [
    *("lr = [{}]", "lr = 5", "lr = [[[1]]]", "lr = [1979-05-27]", "lr = ['a']", "lr = [true, []]"),
    *("hidden = [-1]", "hidden = [1e400]", "dropout = [nan]", "lr = []", ""),
]
SETTINGS = ["config = 5", "[config]\nlr = {}", "[options]\na = [{}]", "model = 5", "graph = []"]


def test_the_mark_that_an_editor_sets_in_front_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("\ufeffa = 1\n", "utf-8")
    assert read_toml(tmp_path / "a.toml") == {"a": 1}


@pytest.mark.parametrize("text", [*ODD, *STUDIES])
def test_a_study_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(HeterophilyError):
        study(path)


@pytest.mark.parametrize("text", [*ODD, *SPACES])
def test_a_space_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(HeterophilyError):
        space_for(path, "acm-gcn", "texas")


@pytest.mark.parametrize("text", [*ODD, *SETTINGS])
def test_settings_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(HeterophilyError):
        read_settings(path)
    with pytest.raises(HeterophilyError, match="cannot be read"):
        read_settings(tmp_path)
