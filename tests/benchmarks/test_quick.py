"""Every benchmark runs with ``--quick``, in seconds, and keeps no record."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from fresh import fresh
from postgres_server import binaries

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
SCRIPTS = {
    path.relative_to(BENCHMARKS).as_posix(): path
    for path in sorted(BENCHMARKS.rglob("*.py"))
    if '__name__ == "__main__"' in path.read_text("utf-8")
}
MEASURE = [name for name in SCRIPTS if not name.startswith("tools/")]
KEPT = [ROOT / name for name in ("results", "docs", "README.md", "src/heterophily/diagnosis")]
NEEDS = {
    "pages/page_images.py": lambda: shutil.which("chromedriver"),
    "pages/rooms.py": lambda: (ROOT / ".git").exists(),
    "faults/cluster.py": binaries,
}
"""What a machine may lack."""


def kept() -> dict[Path, int]:
    """Return when every file of records and pages was written."""
    files = (path for place in KEPT for path in (place, *place.rglob("*")))
    return {path: path.stat().st_mtime_ns for path in files if "__pycache__" not in path.parts}


@pytest.mark.parametrize("name", MEASURE)
def test_quick_runs_and_keeps_no_record(
    name: str, tmp_path: Path, logs: Path, data_folder: Path
) -> None:
    if name in NEEDS and not NEEDS[name]():
        pytest.skip(f"{name} needs a program that is not here")
    before = kept()
    environment = {
        "HETEROPHILY_DATA": str(data_folder),
        "HETEROPHILY_STORE": str(logs / "runs.sqlite"),
    }
    done = fresh(
        script=SCRIPTS[name],
        words=["--quick"],
        folder=tmp_path,
        logs=logs,
        environment=environment,
        timeout=120.0,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()
    assert not list(tmp_path.iterdir())
    assert kept() == before


def test_the_index_names_every_script() -> None:
    index = (BENCHMARKS / "README.md").read_text("utf-8")
    listed = {line.split("`")[1] for line in index.splitlines() if line.startswith("| `python")}
    assert listed == {f"python benchmarks/{name}" for name in SCRIPTS}


def test_examples_of_the_shared_parts_are_right(logs: Path) -> None:
    code = "import doctest, shared; print(*doctest.testmod(shared))"
    done = fresh(code, folder=BENCHMARKS, logs=logs)
    failed, tried = map(int, done.stdout.split())
    assert failed == 0 < tried, done.stdout + done.stderr
