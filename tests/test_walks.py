"""Walks of docs/architecture.md pass their functions; words of docs/glossary.md are in the code."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from heterophily.cli.app import main
from heterophily.data.catalog import find

PAGE = Path(__file__).resolve().parents[1] / "docs" / "architecture.md"
WALKS = re.findall(r"```walk\nheterophily (.*)\n([^`]*)```", PAGE.read_text("utf-8"))


@pytest.mark.parametrize(("command", "steps"), WALKS, ids=[command for command, _ in WALKS])
def test_a_walk_passes_its_functions_in_order(
    command: str, steps: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "texas" in command and find("texas")[0] == "to download":
        pytest.skip("texas is not on this machine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HETEROPHILY_STORE", str(tmp_path / "runs.sqlite"))
    seen: dict[str, int] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        package, _, module = frame.f_globals.get("__name__", "").partition(".")
        if event == "call" and package == "heterophily":
            seen.setdefault(f"{module}.{frame.f_code.co_qualname}", len(seen))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            code = main(shlex.split(command))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    assert code == 0
    named = steps.split()
    assert [step for step in named if step not in seen] == []
    assert named == sorted(named, key=seen.__getitem__)


WORDS = re.findall(
    r"\| `heterophily\.([\w.]+)` \|", (PAGE.parent / "glossary.md").read_text("utf-8")
)


@pytest.mark.parametrize("name", sorted(set(WORDS)))
def test_a_word_of_the_glossary_is_in_the_code(name: str) -> None:
    try:
        import_module(f"heterophily.{name}")
    except ModuleNotFoundError:
        module, _, value = name.rpartition(".")
        assert hasattr(import_module(f"heterophily.{module}"), value)


def test_there_are_walks() -> None:
    assert len(WALKS) >= 4
    assert len(WORDS) >= 40
