"""What a worker process does: greet, take the job once, answer tasks, end with its parent."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing import connection, parent_process
from multiprocessing.connection import Connection
from typing import Any

from heterophily.errors import HeterophilyError

_PR_SET_PDEATHSIG = 1


def serve(pipe: Connection) -> None:
    """Answer tasks until the parent closes the pipe."""
    end_with_parent()
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


def end_with_parent() -> None:
    """End this process when its parent ends, however that happens, also if it is gone already.

    On Linux the kernel does it at once; elsewhere, and if the parent was gone before the kernel
    was asked, a thread waits for the pipe that only the parent holds open.
    """
    parent = parent_process()
    if parent is None:
        return
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent.pid:
            os._exit(1)
    threading.Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def _end_after(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
