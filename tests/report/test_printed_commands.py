"""The commands that pages print can be given as they stand, at the root of the repository."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from heterophily.cli.app import app
from heterophily.studies.study import study

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "docs" / "paper.md", *(ROOT / "results" / "tables").glob("*.md")])
COMMAND = re.compile(r"(?:`|^)((?:heterophily|python) [^`\n]+)(?:`|$)", re.MULTILINE)


def printed(path: Path) -> list[list[str]]:
    return [shlex.split(text) for text in COMMAND.findall(path.read_text("utf-8"))]


def parse(words: list[str]) -> dict[str, Any]:
    """Parse a command without running it; unknown commands and options end in an exception."""
    command: Any = typer.main.get_command(app)
    name, *arguments = words
    while hasattr(command, "commands"):
        name, *arguments = arguments
        command = command.commands[name]
    parameters: dict[str, Any] = command.make_context(name, arguments).params
    return parameters


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_printed_command_is_understood(page: Path) -> None:
    for words in printed(page):
        if words[0] == "python":
            assert (ROOT / words[1]).is_file(), words
            continue
        parsed = parse(words)
        for word in words:
            assert not word.startswith(("/", "~")), f"{word}: a place of one machine"
            if word.endswith(".toml"):
                assert (ROOT / word).is_file(), words
        if words[1:3] == ["paper", "table"] and not words[3].endswith(".toml"):
            chosen = study(str(parsed["name"]))
            rows = {row.name for row in chosen.rows}
            assert set(re.split(r",(?![^\[]*\])", parsed["models"] or "")) - {""} <= rows


def test_pages_print_commands() -> None:
    assert sum(len(printed(page)) for page in PAGES) > 45


def test_a_wrong_option_is_seen() -> None:
    with pytest.raises(Exception, match="--modles"):
        parse(["heterophily", "paper", "table", "sota", "--modles", "gcn"])
