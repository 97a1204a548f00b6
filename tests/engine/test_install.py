"""Installing without a compiler succeeds, says so in one line, and trains in torch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NATIVE = Path("src/heterophily/native/source")
TRAIN = """
import json
import numpy as np
import heterophily
from heterophily.data.graph import Graph
from heterophily.native.library import engine
from heterophily.comparison.train import train
from heterophily.metrics.edge_homophily import edge_homophily
from heterophily.training.config import TrainConfig

ring = Graph.from_edges(np.arange(30), (np.arange(30) + 1) % 30, labels=np.arange(30) % 2)
config = TrainConfig(max_epochs=2)
report = train("acm-gcn", ring, repeats=1, config=config, workers=1, engine="auto")
print(json.dumps({
    "file": heterophily.__file__,
    "reason": engine().reason,
    "engine": report.results.engine,
    "remarks": report.remarks,
    "homophily": edge_homophily(ring),
}))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the sources without anything built."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    return folder


def setup(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "setup.py", "-q", *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_without_a_compiler_the_build_succeeds_and_training_runs_in_torch(copy: Path) -> None:
    done = setup(copy, "build_ext", "--inplace", CC="/bin/false", CXX="/bin/false")
    assert done.returncode == 0, done.stderr
    assert not list(copy.rglob("*.so"))
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "OMP_NUM_THREADS": "1"}
    environment.pop("HETEROPHILY_ENGINE_ISA", None)
    said = subprocess.run(
        [sys.executable, "-c", TRAIN],
        env=environment,
        cwd=copy,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    facts = json.loads(said.stdout)
    assert facts["file"].startswith(str(copy))
    assert facts["reason"] == (
        "not built: no C++ compiler was found when the package was installed"
    )
    assert facts["engine"] == "torch"
    note = f"trained with torch, not with the native engine: {facts['reason']}"
    assert note in facts["remarks"]
    assert facts["homophily"] == 0.0


def test_the_source_distribution_holds_every_native_source(copy: Path) -> None:
    done = setup(copy, "sdist")
    assert done.returncode == 0, done.stderr
    (archive,) = (copy / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    expected = {str(NATIVE / path.name) for path in (ROOT / NATIVE).iterdir()}
    assert {"setup.py", "pyproject.toml", "README.md", "LICENSE"} | expected <= names


def test_a_wheel_holds_the_libraries_that_were_built_and_the_sources(copy: Path) -> None:
    """Building takes minutes, so a stand-in for the compiler makes empty libraries."""
    compiler = copy / "compiler"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: > "$2"\n')
    compiler.chmod(0o755)
    done = setup(copy, "bdist_wheel", "-d", "wheels", CC=str(compiler), CXX=str(compiler))
    assert done.returncode == 0, done.stderr
    (wheel,) = (copy / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    libraries = [name for name in names if name.endswith(".so")]
    assert any(name.startswith("heterophily/native/_native_baseline") for name in libraries)
    sources = {path.name for path in (ROOT / NATIVE).iterdir()}
    assert {f"heterophily/native/source/{name}" for name in sources} <= set(names)
