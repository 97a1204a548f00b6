"""Fresh interpreters for scripts of users, without the seconds that importing libraries takes.

One process per test worker loads the libraries that we depend on, but nothing of ours. For every
script it forks: the script sees a new ``__main__`` and imports ``heterophily`` itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
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


def end(pid, seconds):
    late = threading.Timer(seconds, os.killpg, (pid, signal.SIGKILL))
    late.start()
    _, status = os.waitpid(pid, 0)
    late.cancel()
    return os.waitstatus_to_exitcode(status)


for line in sys.stdin:
    task = json.loads(line)
    if "wait" in task:
        answer = end(task["wait"], task["timeout"])
    elif (answer := os.fork()) == 0:
        child(task)
    answers.write(json.dumps(answer) + "\n")
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


def _ask(task: dict[str, Any]) -> int:
    parent = _parent()
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write(json.dumps(task) + "\n")
    parent.stdin.flush()
    return int(json.loads(parent.stdout.readline()))


@dataclass(frozen=True)
class Started:
    """A script at work, in a process group of its own."""

    pid: int
    out: Path
    err: Path

    def wait(self, timeout: float = 300.0) -> Ended:
        """Wait for its end; after ``timeout`` seconds, end it and all that it has started."""
        returncode = _ask({"wait": self.pid, "timeout": timeout})
        printed = [path.read_text("utf-8", errors="replace") for path in (self.out, self.err)]
        return Ended(returncode, *printed)


def fresh_start(
    code: str = "",
    *,
    script: Path | None = None,
    words: Sequence[object] = (),
    folder: Path,
    logs: Path,
    environment: dict[str, str] | None = None,
    warnings: str = "",
) -> Started:
    """Start code (or a script) in ``folder`` as ``python -c`` does; ``logs`` keeps what it prints.

    ``words`` follow in ``sys.argv``. Scripts that are at work together need a folder of logs each.
    """
    started = logs / "out.txt", logs / "err.txt"
    for path in started:
        path.touch()
    task: dict[str, Any] = {
        "code": code,
        "script": str(script) if script else "",
        "argv": [str(script) if script else "-c", *map(str, words)],
        "cwd": str(folder),
        "out": str(started[0]),
        "err": str(started[1]),
        "environment": {**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
        "warnings": warnings,
    }
    return Started(_ask(task), *started)


def fresh(code: str = "", *, timeout: float = 300.0, **how: Any) -> Ended:
    """Run code (or a script) to its end; see :func:`fresh_start`."""
    return fresh_start(code, **how).wait(timeout)


def fresh_command(words: list[str], *, folder: Path, logs: Path, **options: Any) -> Ended:
    """Run a command line of ours, given without the word ``heterophily``."""
    code = f"import sys; from heterophily.cli.app import main; sys.exit(main({words!r}))"
    return fresh(code, folder=folder, logs=logs, **options)
