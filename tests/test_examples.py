"""The examples run, each alone in an interpreter of its own, and print what they promise."""

from __future__ import annotations

from pathlib import Path

import pytest
from fresh import fresh

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
def test_example_runs(name: str, tmp_path: Path, logs: Path) -> None:
    text = (EXAMPLES / name).read_text("utf-8")
    if "import pandas" in text:
        pytest.importorskip("pandas")
    if "torch_geometric" in text:
        pytest.importorskip("torch_geometric")
    done = fresh(script=EXAMPLES / name, folder=tmp_path, logs=logs, warnings="error")
    assert done.returncode == 0, done.stderr
    assert PRINTS[name] in done.stdout
    assert not list(tmp_path.iterdir()), "an example leaves no files behind"
