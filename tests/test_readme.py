"""The README and the docs speak the truth: their blocks are run, their commands exist."""

from __future__ import annotations

import functools
import json
import re
import runpy
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from fresh import fresh, fresh_command

from heterophily.data.catalog import DATASETS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("**/*.md")),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:heterophily|python benchmarks/)[^`\n]*)`")
RUN, READ = {"python", "console"}, {"", "toml", "walk"}
"""Kinds of blocks: those that are run, and those that are read (commands too long to run)."""


def text_of(page: Path) -> str:
    return page.read_text("utf-8")


def blocks(language: str) -> list[tuple[str, str]]:
    """All blocks of a page, joined: later blocks may use what earlier ones made."""
    found = []
    for page in PAGES:
        code = "\n".join(body for kind, body in BLOCK.findall(text_of(page)) if kind == language)
        if code:
            found.append((str(page.relative_to(ROOT)), code))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_of_a_kind_that_is_checked(page: Path) -> None:
    assert {kind for kind, _ in BLOCK.findall(text_of(page))} <= RUN | READ


# --- blocks that run ----------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "code"), blocks("python"), ids=lambda value: value[:40])
def test_python_blocks_run(
    page: str, code: str, tmp_path: Path, logs: Path, request: pytest.FixtureRequest
) -> None:
    environment = {}
    if any(f'"{name}"' in code for name, known in DATASETS.items() if known.embedded is None):
        environment["HETEROPHILY_DATA"] = str(request.getfixturevalue("data_folder"))
    done = fresh(code, folder=tmp_path, logs=logs, environment=environment, warnings="error")
    assert done.returncode == 0, f"{page}\n{done.stderr}"


@pytest.mark.parametrize(("page", "code"), blocks("console"), ids=lambda value: value[:40])
def test_console_blocks_run(
    page: str, code: str, tmp_path: Path, logs: Path, data_folder: Path
) -> None:
    """Lines that start with ``$ heterophily`` are run; a trailing ``# exits 2`` is checked."""
    environment = {"HETEROPHILY_DATA": str(data_folder)}
    for line in code.splitlines():
        if not line.startswith("$ heterophily "):
            continue
        command, _, comment = line[2:].partition("  # ")
        words = shlex.split(command)[1:]
        done = fresh_command(words, folder=tmp_path, logs=logs, environment=environment)
        expected = 2 if "exits 2" in comment else 0
        assert done.returncode == expected, f"{page}: {line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize(("page", "code"), blocks("toml"), ids=lambda value: value[:40])
def test_toml_blocks_are_toml(page: str, code: str) -> None:
    assert tomllib.loads(code), page


# --- commands that are too long to run: they exist and take these options -----------------------


def commands() -> Iterator[tuple[str, str]]:
    """Commands in blocks without a language and in the text, without trailing comments."""
    for page in PAGES:
        text = text_of(page)
        found = [
            line for kind, body in BLOCK.findall(text) if kind == "" for line in body.split("\n")
        ]
        found += INLINE.findall(BLOCK.sub("", text))
        for line in dict.fromkeys(found):
            command = re.split(r"\s+#\s|\s+>\s|\s+\(", line.strip())[0]
            if command:
                yield str(page.relative_to(ROOT)), command


@functools.cache
def command_line() -> Any:
    from heterophily.cli.app import app

    return typer.main.get_command(app)


HETEROPHILY = [pair for pair in commands() if pair[1].startswith("heterophily ")]
BENCHMARKS = [pair for pair in commands() if "python benchmarks/" in pair[1]]


@pytest.mark.parametrize(("page", "command"), HETEROPHILY, ids=lambda value: value[:60])
def test_commands_of_the_text_exist_and_have_these_options(page: str, command: str) -> None:
    """Verbs and options are looked up; values and arguments are not, so nothing is opened."""
    place, known = command_line(), {"--help", "--version"}
    for word in shlex.split(command.replace("[", "").replace("]", ""))[1:]:
        verbs = getattr(place, "commands", {})
        if verbs and not word.startswith("-"):
            any_verb = next(iter(verbs.values())) if word.isupper() else None  # paper figure NAME
            place = verbs.get(word, any_verb)
            assert place is not None, f"{page}: `{command}`: no verb {word}"
        known |= {name for p in place.params for name in (*p.opts, *p.secondary_opts)}
        option = word.partition("=")[0]
        assert not option.startswith("--") or option in known, f"{page}: `{command}`: {option}"


@pytest.mark.parametrize(("page", "command"), BENCHMARKS, ids=lambda value: value[:60])
def test_benchmarks_of_the_text_exist_and_have_these_options(page: str, command: str) -> None:
    words = command[command.index("python benchmarks/") :].split()
    script, shared = ROOT / words[1], ROOT / "benchmarks" / "shared.py"
    assert script.is_file(), f"{page}: {command}"
    text = script.read_text("utf-8")
    text += shared.read_text("utf-8") if "parser(__doc__)" in text else ""
    for word in words[2:]:
        if word.startswith("--"):
            assert f'"{word}"' in text, f"{page}: {command}: no {word}"


# --- numbers that come from records -------------------------------------------------------------


def test_results_of_the_readme_are_those_of_the_records() -> None:
    """To renew them: python benchmarks/pages/readme_table.py."""
    tool = runpy.run_path(str(ROOT / "benchmarks" / "pages" / "readme_table.py"))
    page = text_of(ROOT / "README.md")
    assert tool["filled"](page, tool["section"]()) == page
    assert "acm-gcn |" in page


@pytest.mark.parametrize(
    ("column", "folder", "part"),
    [
        ("auto", "auto-recipe", "test_before_refit"),
        ("auto, refit", "auto-recipe", "test"),
        ("the same on folds", "auto-recipe/control", "test"),
    ],
)
def test_the_table_of_the_recipe_in_the_docs_is_that_of_the_records(
    column: str, folder: str, part: str
) -> None:
    text = text_of(ROOT / "docs" / "research" / "2026-11-17-auto-recipes.md")
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    header = {column, "best ACM row of the paper"}
    start = next(place for place, cells in enumerate(table) if header <= set(cells))
    place = table[start].index(column)
    rows = {cells[0]: cells[place] for cells in table[start + 2 : start + 11]}
    assert len(rows) == 9
    for dataset, cell in rows.items():
        record = json.loads((ROOT / "results" / folder / f"{dataset}.json").read_text("utf-8"))
        assert cell.strip("*") == f"{100 * record[part]['accuracy']['mean']:.2f}", dataset


# --- links --------------------------------------------------------------------------------------

LINK = re.compile(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    for target in LINK.findall(BLOCK.sub("", text_of(page))):
        assert (page.parent / target).exists(), f"{page.name}: {target}"
