"""Imports point one way: the table of the contributing guide, checked on every file."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "heterophily"
MAY_IMPORT = {
    "data": {"data"},
    "filters": {"filters", "data"},
    "metrics": {"metrics", "engine.edges", "filters", "data"},  # of the engine, one file
    "page": {"page"},
    "evaluation": {"evaluation", "data"},
    "diagnosis": {"diagnosis", "page", "evaluation", "metrics", "filters", "data"},
    "layers": {"layers", "filters", "data"},
    "models": {
        "models",
        "layers",
        "filters",
        "evaluation",
        "data",
        "training.learner",  # how a model that fits itself is taught, and what it tells
        "training.result",
    },
    "training": {"training", "data", "engine"},  # the engine, when asked for it
    "engine": {"engine", "training", "layers", "models", "filters", "data"},
    "runs": {
        "runs",
        "experiments",
        "evaluation",
        "engine",
        "training",
        "models",
        "layers",
        "data",
    },
    "report": {
        "report",
        "page",
        "experiments",
        "runs",
        "diagnosis",
        "evaluation",
        "metrics",
        "filters",
        "data",
    },
    "prediction": {
        "prediction",
        "evaluation",
        "experiments",
        "runs",
        "training",
        "models",
        "layers",
        "metrics",
        "diagnosis",
        "filters",
        "data",
    },
    "web": {
        "web",
        "evaluation",
        "report",
        "prediction",
        "experiments",
        "runs",
        "training",
        "diagnosis",
        "metrics",
        "data",
    },
    "estimators": {
        "estimators",
        "evaluation",
        "prediction",
        "runs",
        "training",
        "models",
        "layers",
        "data",
    },
    "experiments": {
        "experiments",
        "runs",
        "evaluation",
        "report",
        "engine",
        "training",
        "models",
        "layers",
        "metrics",
        "diagnosis",
        "filters",
        "data",
    },
}
WITHOUT_TORCH = ("data", "filters", "metrics", "page", "evaluation", "diagnosis", "report", "web")


def imported_modules(path: Path, *, at_top_only: bool = False) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    names: set[str] = set()
    for node in tree.body if at_top_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write the full name"
            names.add(node.module or "")
    return names


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_follow_the_table(path: Path) -> None:
    folder = path.relative_to(SOURCE).parts[0]
    if folder not in MAY_IMPORT:
        return  # cli, errors and the package root: anything
    if folder in WITHOUT_TORCH:  # exporting to PyG imports it inside the function
        assert not {"torch", "torch_geometric"} & imported_modules(path, at_top_only=True)
    for module in imported_modules(path):
        parts = module.split(".")
        if parts[0] != "heterophily" or len(parts) == 1:
            continue
        names = {parts[1], ".".join(parts[1:3])}
        assert parts[1] == "errors" or names & MAY_IMPORT[folder], (
            f"{folder} must not import {module}"
        )


TRAINS = {"heterophily.training.fit": "fit", "heterophily.training.replicas": "fit_replicas"}
BENCHMARKS = sorted((SOURCE.parents[1] / "benchmarks").rglob("*.py"))


@pytest.mark.parametrize("path", [*FILES, *BENCHMARKS], ids=lambda path: path.stem)
def test_every_training_takes_the_one_road(path: Path) -> None:
    """Only the rooms of runs and of training call what trains; all others complete runs."""
    if path.is_relative_to(SOURCE) and path.relative_to(SOURCE).parts[0] in ("runs", "training"):
        return
    tree = ast.parse(path.read_text("utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in (*TRAINS, "heterophily")
        for alias in node.names
    }
    assert not imported & set(TRAINS.values()), f"{path.name} trains by itself; complete runs"


def loaded_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.splitlines())


def test_help_loads_neither_torch_nor_numpy() -> None:
    loaded = loaded_after(
        "import contextlib, io\n"
        "from heterophily.cli.app import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    assert main(['--help']) == 0"
    )
    assert "heterophily.cli.app" in loaded
    assert not loaded & {"torch", "numpy", "scipy", "pyarrow", "networkx", "sklearn"}


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_after("import heterophily")
    assert not loaded & {"torch", "numpy", "scipy"}


def test_metrics_load_the_native_library_without_torch() -> None:
    loaded = loaded_after("import heterophily.metrics.catalog")
    assert "heterophily.engine.edges" in loaded
    assert "torch" not in loaded


def test_every_public_name_exists_and_is_declared_for_type_checkers() -> None:
    import heterophily

    for name in heterophily.__all__:
        assert getattr(heterophily, name) is not None
    tree = ast.parse((SOURCE / "__init__.pyi").read_text("utf-8"))
    declared = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("heterophily.")
        for alias in node.names
    }
    assert declared == set(heterophily.__all__)
