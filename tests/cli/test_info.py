"""``heterophily info``: what is in use, and bad settings in one sentence each."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from heterophily.cli import info as module
from heterophily.data import catalog
from heterophily.data.catalog import DATASETS
from heterophily.native import library

VARIABLES = (
    *("HETEROPHILY_DATA", "HETEROPHILY_MIRROR", "HETEROPHILY_STORE", "HETEROPHILY_ENGINE_ISA"),
)
app = typer.Typer()
app.command()(module.info)


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(catalog, "cache_folder", lambda: tmp_path / "cache")


def text() -> str:
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0
    return result.stdout


def facts() -> dict[str, Any]:
    result = CliRunner().invoke(app, ["--json"])
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_versions_are_those_of_the_running_packages() -> None:
    import numpy
    import torch

    versions = facts()["versions"]
    assert versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert versions["numpy"] == numpy.__version__
    assert versions["torch"].split("+")[0] == torch.__version__.split("+")[0]


def test_an_extra_that_is_missing_comes_with_the_line_that_adds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = module._version
    monkeypatch.setattr(
        module, "_version", lambda name: None if "geometric" in name else known(name)
    )
    extra = facts()["extras"]["pyg"]
    assert not extra["is_installed"]
    assert "extra pyg" in text()
    assert "not installed: pip install 'heterophily[pyg]'" in text()
    assert "extra dev" not in text()


def test_the_engine_is_named_with_its_file_and_the_reason() -> None:
    found = library.engine()
    engine = facts()["engine"]
    assert engine["reason"] == found.reason
    assert engine["isa"] == found.isa
    assert engine["active"] == ("native" if found.library else "torch")
    assert found.library is None or Path(engine["library"]).is_file()


def test_an_engine_that_is_switched_off_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETEROPHILY_ENGINE_ISA", "none")
    assert "torch only (switched off by HETEROPHILY_ENGINE_ISA=none)" in text()


def test_a_library_that_was_not_built_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_path", lambda isa: None)
    library._load.cache_clear()
    try:
        assert "torch only (not built: no C++ compiler was found" in text()
    finally:
        library._load.cache_clear()


def test_datasets_are_listed_by_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "texas.npz").touch()
    monkeypatch.setenv("HETEROPHILY_DATA", str(folder))
    data = facts()["data"]
    assert data["datasets"]["folder"] == ["texas"]
    assert sorted(name for names in data["datasets"].values() for name in names) == sorted(DATASETS)
    assert data["cache"] == str(tmp_path / "cache")


def test_the_store_is_the_file_that_commands_would_write(tmp_path: Path) -> None:
    path = tmp_path / "heterophily-runs.sqlite"
    assert facts()["store"] == {"HETEROPHILY_STORE": None, "path": str(path), "exists": False}
    path.touch()
    assert facts()["store"]["exists"]


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("HETEROPHILY_ENGINE_ISA", "sse9", "HETEROPHILY_ENGINE_ISA='sse9'; choose none, avx512"),
        ("HETEROPHILY_DATA", "nowhere", "HETEROPHILY_DATA names 'nowhere', which is not a folder"),
        ("HETEROPHILY_STORE", ".", "which is a folder; name a file"),
        ("HETEROPHILY_STORE", "no/such/runs.sqlite", "but there is no folder"),
    ],
)
def test_a_bad_setting_is_said_plainly_and_the_rest_is_shown(
    variable: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert facts()["problems"] == []
    monkeypatch.setenv(variable, value)
    (problem,) = facts()["problems"]
    assert said in problem
    assert variable in problem
    shown = text()
    assert problem in shown
    assert "versions" in shown


def test_cores_and_memory_of_the_machine_are_positive() -> None:
    machine = facts()["machine"]
    assert 1 <= machine["usable_cores"] <= machine["cores"]
    assert machine["memory_gb"] is None or machine["memory_gb"] >= machine["available_gb"] > 0
