"""Systems without POSIX: what Windows and macOS lack is hidden, and the pure paths still run.

This is a rehearsal on one machine, not a test on those systems.
"""

from __future__ import annotations

from pathlib import Path

from fresh import fresh

PRELUDE = """
import importlib, os, pkgutil, signal, sys
import numpy, scipy.sparse, torch, pyarrow, sklearn, xgboost  # they may use what is hidden below
for name in ("fcntl", "resource", "pwd", "grp", "termios", "syslog"):
    sys.modules[name] = None  # importing it raises ImportError
for name in ("sched_getaffinity", "O_CLOEXEC", "fork", "O_DIRECTORY"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "pthread_sigmask", "pthread_kill"):
    if hasattr(signal, name):
        delattr(signal, name)
sys.platform = "darwin"  # no prctl, no renameat2
"""


def run(code: str, folder: Path, logs: Path) -> str:
    done = fresh(PRELUDE + code, folder=folder, logs=logs, warnings="ignore")
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_every_module_is_imported_where_posix_is_absent(tmp_path: Path, logs: Path) -> None:
    code = """
import heterophily
count = 0
for found in pkgutil.walk_packages(heterophily.__path__, "heterophily."):
    if "._native" in found.name or found.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(found.name)
    except ImportError as error:
        assert (error.name or "").split(".")[0] in ("fastapi", "starlette", "uvicorn"), error
    count += 1
print(count)
"""
    assert int(run(code, tmp_path, logs)) > 150


def test_a_model_is_trained_kept_and_used_where_posix_is_absent(tmp_path: Path, logs: Path) -> None:
    code = """
from heterophily import Graph
from heterophily.data.npz import write_npz
from heterophily.cli.app import main
nodes = numpy.arange(40)
features = (nodes % 2)[:, None] + numpy.random.default_rng(0).normal(size=(40, 3))
graph = Graph.from_edges(nodes, (nodes + 1) % 40, labels=nodes % 2, features=features, name="ring")
write_npz(graph, "ring.npz")
import heterophily.training.memory, pathlib
heterophily.training.memory._STATUS = pathlib.Path("absent")  # no /proc
trained = ["--repeats", "1", "--workers", "1", "--max-epochs", "3"]
trained += ["--store", "memory:"]  # claims on a file need locks, of POSIX or of Windows
for command in (
    ["diagnose", "ring.npz", "--quick", "--no-report"],
    ["train", "acm-gcn", "ring.npz", *trained, "--out", "model", "--engine", "torch"],
    ["train", "acm-gcn", "ring.npz", *trained, "--out", "model", "--overwrite"],
    ["predict", "model", "ring.npz", "--out", "predictions.csv"],
    ["explain", "model", "ring.npz", "--node", "0"],
    ["convert", "ring.npz", "--out", "tables"],
    ["info"],
):
    assert main(command) == 0, command
print("done")
"""
    assert run(code, tmp_path, logs).strip().endswith("done")
    assert (tmp_path / "predictions.csv").is_file()
