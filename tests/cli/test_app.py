"""The command line as a whole: help, version, errors as one line with exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterophily.cli.app import main


def test_help_lists_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for verb in ("demo", "data", "convert"):
        assert verb in text


def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    from importlib.metadata import version

    assert main(["--version"]) == 0
    assert version("heterophily") in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "nonsense"),
        (["convert"], "--edges"),
        (["convert", "txas"], "did you mean 'texas'"),
        (["convert", "missing.npz"], "missing.npz"),
        (["convert", "table.csv"], "--edges"),
        (["convert", "karate", "--bogus"], "--bogus"),
        (["convert", "karate", "--edges", "e.csv"], "either"),
        (["convert", "--nodes", "n.csv", "karate"], "--edges"),
        (["convert", "karate", "--out", "graph.xlsx"], ".xlsx"),
        (["convert", "karate", "--out", "no/such/folder/graph.npz"], "no such folder"),
    ],
)
def test_wrong_use_is_one_line_that_names_the_fault(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert words in captured.err
    assert list(tmp_path.iterdir()) == []
