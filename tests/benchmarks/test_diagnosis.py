"""The benchmark of the diagnosis runs, and names graphs that are not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "speed" / "diagnosis.py"


def run(*options: str) -> str:
    command = [sys.executable, str(SCRIPT), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def test_quick_measures_the_smallest_graph_in_full_and_quick() -> None:
    rows = [line.split(" | ") for line in run("--quick").splitlines()[2:4]]
    assert [row[0] for row in rows] == ["| davis", "| davis"]
    assert [row[3] for row in rows] == ["full", "quick"]
    for row in rows:
        assert float(row[5]) < 60  # processor seconds
        assert 50 < float(row[7]) < 2000  # MB


def test_a_graph_that_is_not_there_is_told() -> None:
    assert "| no-such-graph | is not in the data folder |" in run("--graphs", "no-such-graph")
