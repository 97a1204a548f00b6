"""``python -m heterophily.web.worker``: a process that carries out one job at a time."""

from __future__ import annotations

import json
import math
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from heterophily.data.memory import memory_limit
from heterophily.data.remedies import speaking
from heterophily.errors import OUT_OF_MEMORY, HeterophilyError, is_out_of_memory
from heterophily.web.wording import PAGE_WORDS


class StoppedError(Exception):
    """The job was asked to stop; what is finished is kept."""


class Context:
    """What a task is given besides its request: a way to tell, and a way to be stopped."""

    def __init__(self, send: Callable[[str, Any], None], is_stopped: Callable[[], bool]) -> None:
        self._send, self._is_stopped = send, is_stopped

    def emit(self, event: str, **data: Any) -> None:
        """Tell the page something, and stop here if that was asked."""
        self._send(event, finite(data))
        self.check()

    def check(self) -> None:
        """Stop here if that was asked."""
        if self._is_stopped():
            raise StoppedError


TaskFunction = Callable[[Mapping[str, Any], Context], dict[str, Any]]


def finite(value: Any) -> Any:
    """Return plain data in which what is not a finite number is None: JSON has no NaN.

    >>> finite({"p": float("nan"), "n": (1, 2.5)})
    {'p': None, 'n': [1, 2.5]}
    """
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def sentence_of(error: BaseException) -> str:
    """Return an error as one sentence."""
    if isinstance(error, HeterophilyError):
        return " ".join(str(error).split())
    if is_out_of_memory(error):
        return OUT_OF_MEMORY
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}"
    return (
        f"this should not happen ({type(error).__name__}); the file worker.log in the work folder "
        "says more"
    )


def perform(
    task: TaskFunction, request: Mapping[str, Any], context: Context
) -> tuple[str, dict[str, Any]]:
    """Carry out a task; return how it ended and its result."""
    try:
        return "done", finite(task(request, context))
    except StoppedError:
        return "stopped", {}
    except (HeterophilyError, MemoryError, OSError) as error:
        return "failed", {"error": sentence_of(error)}
    except Exception as error:
        traceback.print_exc()
        return "failed", {"error": sentence_of(error)}


@contextmanager
def memory_limited(size: int | None) -> Iterator[None]:
    """Let this process take at most so many bytes more, where the system can see to it."""
    if size is None:
        yield
        return
    with memory_limit(size):
        try:
            import resource

            pages = int(Path("/proc/self/statm").read_text("ascii").split()[5])
        except (ImportError, OSError):  # no Linux: readers still ask before they allocate
            yield
            return
        before = resource.getrlimit(resource.RLIMIT_DATA)
        room = pages * resource.getpagesize() + size
        if before[1] != resource.RLIM_INFINITY:
            room = min(room, before[1])
        resource.setrlimit(resource.RLIMIT_DATA, (room, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, before)


def main() -> None:
    """Answer the server until it closes the pipe."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints goes to the log
    inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    stopped: set[str] = set()
    threading.Thread(target=_read, args=(sys.stdin, inbox, stopped), daemon=True).start()

    def send(event: str, data: Any) -> None:
        replies.write(json.dumps({"event": event, "data": data}, allow_nan=False) + "\n")
        replies.flush()

    from heterophily.web.tasks.catalog import task_of, warm_up

    home, to_load, is_warm = Path.cwd(), warm_up(), False
    while True:
        try:
            message = inbox.get(block=is_warm)
        except queue.Empty:  # on this thread: two that import at once see half-made modules
            is_warm = next(to_load, None) is None
            continue
        is_stopped = partial(stopped.__contains__, message["job"])
        context = Context(send, is_stopped)
        with memory_limited(message.get("memory")), speaking(PAGE_WORDS):
            state, result = perform(task_of(message["kind"]), message["request"], context)
        os.chdir(home)  # the folder of the task may be removed as soon as it ended
        send("end", {"state": state, "result": result})


def _read(lines: TextIO, inbox: queue.SimpleQueue[dict[str, Any]], stopped: set[str]) -> None:
    """Pass jobs on; end the process when the server is gone, whatever it does."""
    for line in lines:
        message = json.loads(line)
        if "stop" in message:
            stopped.add(message["stop"])
        else:
            stopped.discard(message["job"])  # it was stopped before, and is resumed
            inbox.put(message)
    os._exit(0)


if __name__ == "__main__":
    main()
