"""Fresh interpreters for scripts of users, without the seconds that importing libraries takes.

One process per test worker loads the libraries that we depend on, but nothing of ours. For every
script it forks: the script sees a new ``__main__`` and imports ``heterophily`` itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_PARENT = r"""
import atexit, importlib, json, os, runpy, signal, sys, threading, traceback, types, warnings

warnings.simplefilter("ignore")
for name in sys.argv[1].split(","):
    try:
        importlib.import_module(name)
    except ImportError:
        pass
warnings.resetwarnings()


def act(task):
    sys.modules["__main__"] = main = types.ModuleType("__main__")
    sys.argv = task["argv"]
    if task["warnings"]:
        warnings.simplefilter(task["warnings"])
    if task["script"]:
        sys.path.insert(0, os.path.dirname(task["script"]))
        runpy.run_path(task["script"], run_name="__main__")
    else:
        sys.path.insert(0, "")
        exec(compile(task["code"], "<string>", "exec"), main.__dict__)


def child(task):
    os.setsid()  # a time limit ends whatever the script has started
    for number, place in ((0, os.devnull), (1, task["out"]), (2, task["err"])):
        how = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(place, how), number)
    os.environ.clear()
    os.environ.update(task["environment"])
    os.chdir(task["cwd"])
    code = 0
    try:
        act(task)
    except SystemExit as end:
        said = end.code
        code = said if isinstance(said, int) else int(said is not None)
        if isinstance(said, str):
            print(said, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


answers = os.fdopen(os.dup(1), "w")
for line in sys.stdin:
    task = json.loads(line)
    pid = os.fork()
    if pid == 0:
        child(task)
    late = threading.Timer(task["timeout"], os.killpg, (pid, signal.SIGKILL))
    late.start()
    _, status = os.waitpid(pid, 0)
    late.cancel()
    answers.write(json.dumps(os.waitstatus_to_exitcode(status)) + "\n")
    answers.flush()
"""
_LOADED = (
    "numpy,scipy.sparse.linalg,scipy.stats,scipy.optimize,pyarrow.parquet,pyarrow.csv,pandas,"
    "sklearn.linear_model,sklearn.model_selection,sklearn.manifold,sklearn.decomposition,"
    "networkx,matplotlib.figure,matplotlib.backends.backend_agg,torch,torch_geometric,xgboost,"
    "typer,rich.console,safetensors.torch,narwhals,requests"
)


@dataclass(frozen=True)
class Ended:
    """How a script ended."""

    returncode: int
    stdout: str
    stderr: str


@cache
def _parent() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _PARENT, _LOADED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def fresh(
    code: str = "",
    *,
    script: Path | None = None,
    folder: Path,
    logs: Path,
    environment: dict[str, str] | None = None,
    warnings: str = "",
    timeout: float = 300.0,
) -> Ended:
    """Run code (or a script) in ``folder`` as ``python -c`` does; ``logs`` keeps what it prints."""
    task: dict[str, Any] = {
        "code": code,
        "script": str(script) if script else "",
        "argv": [str(script) if script else "-c"],
        "cwd": str(folder),
        "out": str(logs / "out.txt"),
        "err": str(logs / "err.txt"),
        "environment": {**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
        "warnings": warnings,
        "timeout": timeout,
    }
    parent = _parent()
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write(json.dumps(task) + "\n")
    parent.stdin.flush()
    returncode = json.loads(parent.stdout.readline())
    printed = [Path(task[name]).read_text("utf-8", errors="replace") for name in ("out", "err")]
    return Ended(returncode, *printed)


def fresh_command(words: list[str], *, folder: Path, logs: Path, **options: Any) -> Ended:
    """Run a command line of ours, given without the word ``heterophily``."""
    code = f"import sys; from heterophily.cli.app import main; sys.exit(main({words!r}))"
    return fresh(code, folder=folder, logs=logs, **options)
