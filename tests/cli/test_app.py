"""The command line as a whole: help, version, errors as one line with exit code 2."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from heterophily.cli.app import app, main


def test_help_lists_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for verb in ("demo", "data", "convert"):
        assert verb in text


@pytest.mark.parametrize(
    "group", [[], ["data"], ["runs"], ["paper"], ["paper", "figure"]], ids=" ".join
)
def test_a_group_alone_shows_its_help_and_succeeds(
    group: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(group) == 0
    captured = capsys.readouterr()
    assert f"Usage: {' '.join(['heterophily', *group])} [OPTIONS] COMMAND" in captured.out
    assert captured.err == ""


def test_python_m_heterophily_is_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["heterophily", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("heterophily", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("heterophily 0.")


def every_command() -> Iterator[tuple[str, Any]]:
    """All commands with their names, those of groups included."""

    def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        if hasattr(command, "commands"):
            for word, below in command.commands.items():
                yield from walk(f"{name} {word}".strip(), below)
        else:
            yield name, command

    yield from walk("", typer.main.get_command(app))


def test_no_help_text_has_brackets_that_the_terminal_would_swallow() -> None:
    for name, command in every_command():
        for parameter in command.params:
            assert "[" not in (parameter.help or ""), f"{name} {parameter.name}"


def test_help_shows_defaults_that_are_decided_later(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    shown = "How many splits to train on. [default: (10; with fixed splits, each split once)]"
    assert shown in text
    assert "[default: (one per core)]" in text


def test_tune_does_not_offer_auto(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "--help"]) == 0
    assert "Or auto" not in capsys.readouterr().out


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
        (["convert", "table.csv"], "table.csv: no such file"),
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


def test_memory_that_torch_does_not_get_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    monkeypatch.setattr(
        "heterophily.data.source.GraphSource.open", lambda *_, **__: torch.empty(2**55)
    )
    assert main(["diagnose", "karate"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: not enough memory")
    assert len(told.splitlines()) == 1


def test_options_of_thousands_of_digits_are_words(capsys: pytest.CaptureFixture[str]) -> None:
    for value in ("9" * 5000, "[" * 5000):
        assert main(["train", "gcn", "karate", "--option", f"hidden={value}"]) == 2
        assert capsys.readouterr().err.startswith("error: ")


def test_labels_of_thousands_of_digits_are_names_of_classes(tmp_path: Path) -> None:
    from heterophily import read_tables

    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    (tmp_path / "n.csv").write_text(f"id,label\na,{'9' * 5000}\nb,{'8' * 5000}\n")
    assert read_tables(tmp_path / "e.csv", tmp_path / "n.csv").num_classes == 2
