"""A worker process as the server sees it: lines of JSON in, lines of JSON out.

The pipe to its input is its lifeline. When the server ends in any way, the pipe closes and the
worker ends itself; nothing is left behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Listener = Callable[["WorkerProcess", dict[str, Any] | None], None]
"""Called with each message of a worker; None when it ended."""

MODULE = "heterophily.web.worker"
MAKES_WAY = 15  # nice value


class WorkerProcess:
    """Starts a worker and hands its messages to a listener, on a thread of its own."""

    def __init__(self, listener: Listener, *, log: Path, cores: int = 1) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(cores))
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=log.parent,
                env={**threads, **os.environ},
                start_new_session=True,  # Ctrl-C on the terminal is for the server
            )
        self._listener = listener
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        self.jobs = 0
        self.makes_way = False

    @property
    def pid(self) -> int:
        """Its number in the system."""
        return self._process.pid

    def send(self, message: dict[str, Any]) -> None:
        """Send one message; a worker that is gone says so to the listener."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def make_way(self) -> None:
        """Let other processes have the cores first; it lasts until the end of the worker."""
        self.makes_way = True
        if hasattr(os, "setpriority"):  # not on Windows
            with contextlib.suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PGRP, self.pid, MAKES_WAY)  # all threads of its session

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def close(self) -> None:
        """End it and wait until it is gone."""
        self.kill()
        self._thread.join(10)

    def cause(self) -> str:
        """Say how it ended."""
        code = self._process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _listen(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # the end of a line that a dying worker did not finish
            self._listener(self, message)
        self._process.wait()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._listener(self, None)
