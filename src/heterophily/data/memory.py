"""How much memory reading a file may take: asked for before it is allocated."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from heterophily.errors import InputError, MemoryLimitError

VARIABLE = "HETEROPHILY_MEMORY"
SHARE = 0.8  # of what the machine has free
BOMB_BYTES, BOMB_RATIO = 64 * 2**20, 200  # beyond this size, no more than this ratio
_SMALL = 64 * 2**20  # below it, nobody is asked
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_LIMIT: ContextVar[int | None] = ContextVar("memory limit", default=None)


@contextmanager
def memory_limit(size: int | str | None) -> Iterator[None]:
    """Let readers in this block take at most so much memory: bytes, or a text such as ``"4 GB"``.

    >>> from heterophily import Graph
    >>> with memory_limit("100 MB"):
    ...     Graph.from_edges([0], [1], num_nodes=10**9)
    Traceback (most recent call last):
    heterophily.errors.MemoryLimitError: a graph of 1,000,000,000 nodes and 1 edges needs about \
22.4 GB of memory, the limit is 0.1 GB; use a smaller graph, or raise the limit: --memory 23GB
    """
    token = _LIMIT.set(None if size is None else as_bytes(size))
    try:
        yield
    finally:
        _LIMIT.reset(token)


def as_bytes(size: int | str) -> int:
    """Return a number of bytes written as people write it.

    >>> as_bytes("1.5 GB"), as_bytes("64M"), as_bytes(10)
    (1610612736, 67108864, 10)
    """
    if isinstance(size, int):
        return size
    found = re.fullmatch(
        r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT]?)(?:I?B)?\s*", size, re.IGNORECASE
    )
    if not found:
        raise InputError(f"is a size such as 8GB, not {size!r}")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def limit() -> int:
    """Return the limit in bytes: of this block, of the environment, or most of what is free."""
    chosen = _LIMIT.get()
    if chosen is not None:
        return chosen
    if given := os.environ.get(VARIABLE):
        try:
            return as_bytes(given)
        except InputError as error:
            raise InputError(f"{VARIABLE} {error}") from None
    return int(SHARE * _free())


def _free() -> float:
    """Return the memory that this process may still take, or no limit where nothing tells."""
    found = _own_room()
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found = 1024.0 * int(line.split()[1])
        room = Path("/sys/fs/cgroup/memory.max").read_text("ascii").strip()
        if room.isdigit():
            used = int(Path("/sys/fs/cgroup/memory.current").read_text("ascii"))
            found = min(found, max(0, int(room) - used))
    except (OSError, ValueError, IndexError):
        pass
    return min(found, 2.0**62)


def _own_room() -> float:
    """Return what the limits of this process (``ulimit -d``, ``ulimit -v``) leave."""
    try:
        import resource

        used = Path("/proc/self/statm").read_text("ascii").split()
    except (ImportError, OSError):
        return float("inf")
    page = resource.getpagesize()
    room = float("inf")
    for kind, held in ((resource.RLIMIT_DATA, used[5]), (resource.RLIMIT_AS, used[0])):
        most = resource.getrlimit(kind)[0]
        if most != resource.RLIM_INFINITY:
            room = min(room, max(0, most - page * int(held)))
    return room


def need(size: int, what: str) -> None:
    """Refuse what would take more memory than the limit, before it is allocated."""
    if size <= _SMALL or size <= (most := limit()):
        return
    gigabytes = size / 2**30
    raise MemoryLimitError(
        f"{what} needs about {gigabytes:,.1f} GB of memory, the limit is {most / 2**30:,.1f} GB; "
        f"use a smaller graph, or raise the limit: --memory {int(gigabytes) + 1}GB"
    )


def release() -> None:
    """Give freed memory back to the system: Arrow and the C library keep some for later."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
        if trim is not None:
            trim(0)


def refuse_bomb(name: str, *, held: int, unpacked: int) -> None:
    """Refuse a packed file that grows as no honest file does."""
    if unpacked > BOMB_BYTES and unpacked > BOMB_RATIO * held:
        raise InputError(
            f"{name} has {held:,} bytes and unpacks to {unpacked:,} or more, over {BOMB_RATIO} "
            "times as many; the file is refused"
        )
