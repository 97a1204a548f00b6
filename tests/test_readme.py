"""The README and the docs speak the truth: their Python blocks and commands are run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    """All blocks of a page, joined: later blocks may use what earlier ones made."""
    found = []
    for page in PAGES:
        code = "\n".join(
            body for kind, body in BLOCK.findall(page.read_text("utf-8")) if kind == language
        )
        if code:
            found.append((str(page.relative_to(ROOT)), code))
    return found


@pytest.mark.parametrize(("page", "code"), blocks("python"), ids=lambda value: value[:40])
def test_python_blocks_run(page: str, code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{page}\n{done.stderr}"


@pytest.mark.parametrize(("page", "code"), blocks("console"), ids=lambda value: value[:40])
def test_console_blocks_run(page: str, code: str, tmp_path: Path, data_folder: Path) -> None:
    """Lines that start with ``$ heterophily`` are run; a trailing ``# exits 2`` is checked."""
    environment = {**os.environ, "HETEROPHILY_DATA": str(data_folder)}
    for line in code.splitlines():
        if not line.startswith("$ heterophily "):
            continue
        command, _, comment = line[2:].partition("  # ")
        done = subprocess.run(
            [sys.executable, "-m", "heterophily.cli.app", *shlex.split(command)[1:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        expected = 2 if "exits 2" in comment else 0
        assert done.returncode == expected, f"{page}: {line}\n{done.stdout}{done.stderr}"
