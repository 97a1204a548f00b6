"""Graphs that carry nothing to learn pass every command, figure and page: an answer or a sentence.

A crash of compiled code would end the test process; any other exception than ours fails the test.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fresh import fresh

from heterophily import Graph, TrainConfig, train, write_npz
from heterophily.cli.app import main
from heterophily.report.figures.catalog import FIGURES

COUNT = 24


def _ring(**parts: Any) -> Graph:
    nodes = np.arange(COUNT)
    given = {
        "labels": nodes % 2,
        "features": np.random.default_rng(0).normal(size=(COUNT, 3)),
        "name": "odd",
    }
    return Graph.from_edges(nodes, (nodes + 1) % COUNT, **(given | parts))


GRAPHS = {
    "one positive column": lambda: _ring(features=1.0 + np.arange(COUNT)[:, None]),
    "one constant column": lambda: _ring(features=np.full((COUNT, 1), 0.37)),
    "all rows equal": lambda: _ring(features=np.full((COUNT, 3), [[0.1, 0.7, -3.0]])),
    "all zeros": lambda: _ring(features=np.zeros((COUNT, 3))),
    "no column": lambda: _ring(features=np.zeros((COUNT, 0))),
    "no features": lambda: _ring(features=None),
    "huge and tiny": lambda: _ring(features=np.logspace(-300, 300, COUNT)[:, None]),
    "one class": lambda: _ring(labels=np.zeros(COUNT, int)),
    "no label": lambda: _ring(labels=None),
    "a label per class": lambda: _ring(labels=np.r_[0, 1, np.full(COUNT - 2, -1)]),
    "a class per node": lambda: _ring(labels=np.arange(COUNT)),
    "one node": lambda: Graph.from_edges([], [], labels=[0], features=[[1.0]], name="odd"),
    "two nodes": lambda: Graph.from_edges([0], [1], labels=[0, 1], name="odd"),
    "no node": lambda: Graph.from_edges([], [], num_nodes=0, name="odd"),
    "no edge": lambda: Graph.from_edges(
        [], [], labels=np.arange(COUNT) % 2, features=np.ones((COUNT, 1)), name="odd"
    ),
    "one edge": lambda: Graph.from_edges([0], [1], labels=np.arange(COUNT) % 2, name="odd"),
}
TRAINED = ["--repeats", "2", "--workers", "1", "--max-epochs", "3"]
MODELS = "mlp-2,gcn,acm-gcn"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HETEROPHILY_STORE", str(tmp_path / "runs.sqlite"))

    def call(*arguments: str) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("default")  # a command prints them, it does not stop
            warnings.simplefilter("error", RuntimeWarning)  # not a number, infinite
            return main([*arguments, *(["--offline"] if arguments[0] != "serve" else [])])

    return call


@pytest.mark.parametrize("kind", GRAPHS)
def test_every_command_answers(kind: str, run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    write_npz(GRAPHS[kind](), "odd.npz")
    commands = [
        ["convert", "odd.npz", "--out", "odd.graphml"],
        ["convert", "odd.npz", "--out", "tables"],
        ["diagnose", "odd.npz"],
        ["diagnose", "odd.npz", "--quick", "--no-report", "--json"],
        ["train", "acmii-gcn+", "odd.npz", *TRAINED, "--out", "model"],
        ["train", "mlp-2", "odd.npz", *TRAINED],
        ["predict", "model", "odd.npz", "--out", "predictions.csv"],
        ["explain", "model", "odd.npz", "--node", "0"],
        ["report", "odd.npz", "--models", MODELS, *TRAINED],
        ["compare", "odd.npz", "--models", "mlp-2,acm-gcn++", "--repeats", "2", "--workers", "1"],
        ["tune", "acm-gcn", "odd.npz", "--repeats", "1", "--trials", "1", "--workers", "1"],
    ]
    for command in commands:
        code = run(*command)
        printed = capsys.readouterr()
        assert code in (0, 2), (command, printed)
        if code == 2:
            assert printed.err.startswith("error: "), command
            assert len(printed.err.splitlines()) == 1, printed.err
    if kind in ("one positive column", "one constant column", "all rows equal"):
        assert Path("odd-report.html").is_file()


NEWER = (
    "res-gcn", "res-acm", "gat-sep", "dir-acm", "fsgnn", "orderedgnn", "polynormer", "sgformer",
    "label-propagation", "correct-and-smooth", "trees", "trees-channels", "trees-labels",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["one constant column", "huge and tiny", "one edge"])
def test_newer_models_train(kind: str) -> None:
    """Trees handed huge numbers to compiled code, which refused them with a traceback."""
    graph, config = GRAPHS[kind](), TrainConfig(max_epochs=2)
    for model in NEWER:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("error", RuntimeWarning)
            report = train(model, graph, repeats=1, workers=1, config=config)
        assert len(report.results.by_replica) == 1, model


@pytest.mark.parametrize("model", ["trees-labels", "res-acm"])
@pytest.mark.parametrize("kind", ["one constant column", "huge and tiny"])
def test_newer_models_are_kept_and_explained(
    kind: str, model: str, run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    write_npz(GRAPHS[kind](), "odd.npz")
    assert run("train", model, "odd.npz", *TRAINED, "--out", "model") == 0
    assert run("predict", "model", "odd.npz", "--out", "p.csv") == 0
    assert run("explain", "model", "odd.npz", "--node", "0") == 0
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["one positive column", "huge and tiny", "one class", "one edge"])
def test_every_figure_answers(kind: str, run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    write_npz(GRAPHS[kind](), "odd.npz")
    for name, figure in FIGURES.items():
        if not figure.module or name == "sota-bars":
            continue
        command = ["paper", "figure", name, "--graph", "odd.npz", "--out", "figures"]
        code = run(*command, *(TRAINED if figure.models else []))
        printed = capsys.readouterr()
        assert code == 0 or printed.err.startswith("error: "), (name, printed)


@pytest.mark.parametrize("kind", ["one constant column", "no label", "one node", "no edge"])
def test_auto_answers(kind: str, run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    write_npz(GRAPHS[kind](), "odd.npz")
    code = run("train", "auto", "odd.npz", "--minutes", "0.01", "--workers", "1")
    printed = capsys.readouterr()
    assert code == 0 or printed.err.startswith("error: "), printed


@pytest.mark.parametrize("kind", GRAPHS)
def test_the_page_answers(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from heterophily.web.tasks.catalog import task_of
    from heterophily.web.worker import Context, perform

    monkeypatch.chdir(tmp_path)
    write_npz(GRAPHS[kind](), "given.npz")
    context = Context(lambda *_: None, lambda: False)
    request: dict[str, Any] = {
        "graph_folder": str(tmp_path),
        "folder": str(tmp_path),
        "files": {"graph": "given.npz"},
        "max_unpacked_bytes": 2**30,
        "reading": {"label": None, "is_directed": False},
        "title": "odd",
    }
    for task in ("import", "diagnosis"):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("error", RuntimeWarning)
            state, result = perform(task_of(task), request, context)
        assert "this should not happen" not in result.get("error", "")
        if state == "failed":
            break


def test_a_map_of_equal_rows_does_not_crash(tmp_path: Path, logs: Path) -> None:
    """Rounding gave equal rows a spread above zero, and t-SNE then overflowed its stack."""
    code = (
        "import numpy as np\n"
        "from heterophily.report.figures.embedding import embed\n"
        "x, y = embed(np.full((1500, 2), 0.37, np.float32), seed=0)\n"
        "assert set(x) == set(y) == {500}"
    )
    done = fresh(code, folder=tmp_path, logs=logs)
    assert done.returncode == 0, done.stderr
