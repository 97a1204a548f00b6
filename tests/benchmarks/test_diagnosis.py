"""The benchmark of the diagnosis measures both kinds, and names graphs that are not there."""

from __future__ import annotations

from pathlib import Path

from fresh import fresh

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "speed" / "diagnosis.py"


def run(*options: str, folder: Path) -> str:
    done = fresh(script=SCRIPT, words=options, folder=folder, logs=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_quick_measures_the_smallest_graph_in_full_and_quick(logs: Path) -> None:
    rows = [line.split(" | ") for line in run("--quick", folder=logs).splitlines()[2:4]]
    assert [row[0] for row in rows] == ["| davis", "| davis"]
    assert [row[3] for row in rows] == ["full", "quick"]
    for row in rows:
        cpu, peak = float(row[5]), float(row[6].removeprefix("| "))
        assert cpu < 60
        assert 50 < peak < 2000  # MB


def test_a_graph_that_is_not_there_is_told(logs: Path) -> None:
    told = run("--graphs", "no-such-graph", folder=logs)
    assert "| no-such-graph | is not in the data folder |" in told
