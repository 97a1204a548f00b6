"""The examples run, each alone in a fresh interpreter, and print what they promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PRINTS = {
    "networkx_graph.py": "harmless",
    "own_csv.py": "accounts kept aside",
    "pyg_training_loop.py": "mean weight of the channels",
    "sgc_update.py": "moved towards their class: 100%",
    "sklearn_grid.py": "unlabelled nodes",
    "train_your_pyg_model.py": "acm-gcn",
    "two_frames.py": "most suspicious: AC-",
    "wrap_your_own_layer.py": "GraphSAGE",
}
"""File -> words that its output has."""


def test_every_example_is_listed_here() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PRINTS)


@pytest.mark.parametrize("name", PRINTS)
def test_example_runs(name: str, tmp_path: Path) -> None:
    text = (EXAMPLES / name).read_text("utf-8")
    warnings = ["-W", "error"]
    if "import pandas" in text:
        pytest.importorskip("pandas")
    if "torch_geometric" in text:
        pytest.importorskip("torch_geometric")
        warnings = []  # importing it warns about its own use of torch
    done = subprocess.run(
        [sys.executable, *warnings, str(EXAMPLES / name)],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert PRINTS[name] in done.stdout
    assert not list(tmp_path.iterdir()), "an example leaves no files behind"
