"""The notebooks run from top to bottom (searches are shorter here) and store what they print."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from fresh import fresh

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
PRINTS = {
    "bipartite.ipynb": "aggregation homophily",
    "fraud.ipynb": "fraudulent among the first 40",
    "no-features.ipynb": "right on the nodes without a label",
}
"""Notebook -> words that its outputs have."""


def printed(notebook: dict[str, list[dict[str, list[dict[str, list[str]]]]]]) -> str:
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return "".join(line for output in outputs for line in output.get("text", []))


def test_every_notebook_is_listed_here() -> None:
    assert {path.name for path in FOLDER.glob("*.ipynb")} == set(PRINTS)


@pytest.mark.parametrize("name", PRINTS)
def test_the_stored_outputs_are_there(name: str) -> None:
    notebook = json.loads((FOLDER / name).read_text("utf-8"))
    assert PRINTS[name] in printed(notebook)
    counts = [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1)), "run make notebooks"


@pytest.mark.parametrize("name", PRINTS)
def test_notebook_runs(name: str, tmp_path: Path, logs: Path) -> None:
    pytest.importorskip("pandas", reason="the notebooks use pandas")
    shorter = logs / name
    shorter.write_text((FOLDER / name).read_text("utf-8").replace("minutes=0.2", "minutes=0.03"))
    code = (
        "import json, runpy, sys; from pathlib import Path;"
        f"tools = runpy.run_path({str(FOLDER / 'execute.py')!r});"
        f"print(json.dumps(tools['execute'](Path({str(shorter)!r}))))"
    )
    done = fresh(code, folder=tmp_path, logs=logs)
    assert done.returncode == 0, done.stderr
    assert PRINTS[name] in printed(json.loads(done.stdout.splitlines()[-1]))
    assert not list(tmp_path.iterdir()), "a notebook leaves no files behind"


def test_the_value_of_the_last_expression_is_shown() -> None:
    spec = importlib.util.spec_from_file_location("execute", FOLDER / "execute.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.run_cell("x = 3\nprint(x)\nx + 1", {}) == ("3\n", 4)
    assert module.run_cell("x = 3", {}) == ("", None)
