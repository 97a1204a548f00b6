from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heterophily.cli.data import app
from heterophily.data import catalog
from heterophily.data.catalog import DATASETS
from heterophily.errors import UnknownNameError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("HETEROPHILY_DATA", raising=False)
    monkeypatch.setattr(catalog, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_list_has_one_line_per_dataset_and_says_where_it_is(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "texas.npz").touch()
    result = run("list", "--data-folder", str(tmp_path))
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.stdout.splitlines() if line.strip()}
    assert DATASETS.keys() <= lines.keys()
    assert " folder " in lines["texas"]
    assert " to download " in lines["cornell"]
    assert " embedded " in lines["davis"]
    assert "features and labels of Texas" in lines["cornell"]
    assert " 10+1 " in lines["cora"]


def test_list_fits_a_narrow_terminal(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    narrow = Console(width=80, force_terminal=True, color_system=None)
    monkeypatch.setattr("heterophily.cli.data._console", lambda: narrow)
    lines = run("list").stdout.splitlines()
    assert len(lines) == 1 + len(DATASETS) + 1
    assert all(len(line) <= 80 for line in lines)
    assert "heterophily data info NAME" in lines[-1]


def test_list_prints_data_on_request(cache: Path) -> None:
    rows = {row["name"]: row for row in json.loads(run("list", "--json").stdout)}
    assert rows.keys() == DATASETS.keys()
    assert (rows["film"]["features"], rows["film"]["where"]) == (932, "to download")
    assert rows["deezer-europe"]["splits"] == {"fixed": 5}


def test_info_shows_the_declaration_and_the_report(cache: Path) -> None:
    text = run("info", "davis").stdout
    assert "32 nodes, 89 edges" in text
    assert DATASETS["davis"].content_hash in text
    assert "origin    the package networkx" in text
    assert json.loads(run("info", "davis", "--json").stdout)["report"]["classes"] == 2


def test_info_of_a_dataset_that_is_not_here_says_how_to_get_it(cache: Path) -> None:
    assert "To get it: heterophily data fetch texas" in run("info", "texas").stdout
    assert json.loads(run("info", "texas", "--json").stdout)["report"] is None


def test_fetch_goes_on_after_a_failure_and_ends_with_exit_code_2(cache: Path) -> None:
    result = run("fetch", "davis", "texas", "karate", "--offline")
    assert result.exit_code == 2
    assert "davis: 32 nodes" in result.stdout
    assert "karate: 34 nodes" in result.stdout
    assert result.stderr.startswith("error: dataset 'texas' is not on this machine")
    assert len(result.stderr.splitlines()) == 1
    outcomes = json.loads(run("fetch", "texas", "karate", "--offline", "--json").stdout)
    assert [outcome["ok"] for outcome in outcomes] == [False, True]


def test_fetch_finds_files_of_the_folder(cache: Path, data_folder: Path) -> None:
    result = run("fetch", "texas", "--data-folder", str(data_folder), "--offline")
    assert result.exit_code == 0
    assert "texas: 183 nodes, 279 edges" in result.stdout
    assert not cache.exists()


def test_a_misspelt_name_stops_before_any_work(cache: Path) -> None:
    result = run("fetch", "davis", "texsa")
    assert isinstance(result.exception, UnknownNameError)
    assert "davis" not in result.stdout
