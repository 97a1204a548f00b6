"""What a worker process does: greet, take the job once, answer tasks, end with its parent.

It is a fresh interpreter that knows this module alone: it neither imports nor runs the program
that started it, so scripts need no guard, and notebooks and ``python -c`` work as well.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from heterophily.errors import HeterophilyError

_PR_SET_PDEATHSIG = 1


START = """import sys
parent, pipe, *sys.path = sys.argv[1:]
from heterophily.training.worker import serve
serve(int(pipe), parent=int(parent))"""
"""The program of a worker; its arguments: process id of the parent, pipe, the parent's path."""


def serve(descriptor: int, *, parent: int) -> None:
    """Answer tasks until the parent, a process id, closes its end of the pipe."""
    pipe: Connection = Connection(descriptor)
    end_with(parent, pipe)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe.send_bytes(pickle.dumps(("hello",)))
    try:
        job_bytes: bytes | None = pipe.recv_bytes()
        job: Callable[[Any], Any] | None = None
        while True:
            task_bytes = pipe.recv_bytes()
            try:
                if job is None:
                    assert job_bytes is not None
                    job, job_bytes = pickle.loads(job_bytes), None
                answer = pickle.dumps(("result", job(pickle.loads(task_bytes))))
            except Exception as error:
                answer = _pickled_error(error)
            pipe.send_bytes(answer)
    except (EOFError, OSError):
        return  # the parent is done, or gone


def _pickled_error(error: Exception) -> bytes:
    """Pickle an exception with its traceback as a note; an unpicklable one by its text."""
    text = "".join(traceback.format_exception(error))
    try:
        if not isinstance(error, HeterophilyError):
            error.add_note(f"in a worker process:\n{text}")
        answer = pickle.dumps(("error", error))
        pickle.loads(answer)
    except Exception:
        answer = pickle.dumps(("error", RuntimeError(f"in a worker process:\n{text}")))
    return answer


def end_with(parent: int, pipe: Connection) -> None:
    """End this process when its parent ends, however that happens, also if it is gone already.

    On Linux the kernel does it at once; elsewhere, and if the parent was gone before the kernel
    was asked, a thread waits until nobody holds the other end of the pipe.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    threading.Thread(target=_end_after, args=(pipe.fileno(),), daemon=True).start()


def _end_after(pipe: int) -> None:
    waiting = select.poll()
    waiting.register(pipe, 0)  # no event but the end: messages are not for this thread
    waiting.poll()
    os._exit(1)
