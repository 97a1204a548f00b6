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

from heterophily import load, write_npz
from heterophily.cli.app import main
from heterophily.data.catalog import find

PAGE = Path(__file__).resolve().parents[1] / "docs" / "architecture.md"
WALKS = re.findall(
    r"```walk\n((?:(?:heterophily|POST|JOB) .*\n)+)([^`]*)```", PAGE.read_text("utf-8")
)


def _post(path: str, example: str) -> None:
    """Send a graph that comes with the package to a server."""
    pytest.importorskip("fastapi", reason="the extra [web] is not installed")
    from starlette.testclient import TestClient

    from heterophily.web.app import create_app
    from heterophily.web.settings import WebSettings

    _given(example)
    app = create_app(WebSettings(Path("work"), Path("runs.sqlite"), port=8000))
    with TestClient(app, base_url="http://127.0.0.1:8000") as client, open(example, "rb") as file:
        answer = client.post(path, files={"graph": (example, file)})
    assert answer.status_code == 201, answer.text


def _job(kind: str, example: str) -> None:
    """Do what a worker process of the page does."""
    from heterophily.web.tasks.catalog import task_of
    from heterophily.web.tasks.import_graph import GRAPH_FILE
    from heterophily.web.worker import Context, perform

    _given(example).rename(GRAPH_FILE)
    context = Context(lambda *_: None, lambda: False)
    assert perform(task_of(kind), {"graph_folder": str(Path.cwd())}, context)[0] == "done"


def _given(example: str) -> Path:
    path = Path(example)
    write_npz(load(path.stem), path)
    return path


def _command(*words: str) -> None:
    assert main(words) == 0


WAYS = {"heterophily": _command, "POST": _post, "JOB": _job}


@pytest.mark.parametrize(
    ("lines", "steps"), WALKS, ids=[lines.split("\n")[0] for lines, _ in WALKS]
)
@pytest.mark.filterwarnings("ignore:Using `httpx`")
def test_a_walk_passes_its_functions_in_order(
    lines: str, steps: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "texas" in lines and find("texas")[0] == "to download":
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
            for way, *words in map(shlex.split, lines.splitlines()):
                WAYS[way](*words)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
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
    assert len(WALKS) >= 8
    assert len(WORDS) >= 40
