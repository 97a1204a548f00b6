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

from heterophily.data.remedies import Remedy
from heterophily.errors import InputError, MemoryLimitError

VARIABLE = "HETEROPHILY_MEMORY"
SHARE = 0.8  # of what the machine has free
SMALLEST_ON_DISK = 128 * 2**20  # buffers and libraries of the ways that stream a graph
BOMB_BYTES, BOMB_RATIO = 64 * 2**20, 200  # beyond this size, no more than this ratio
_SMALL = 64 * 2**20  # below it, the machine is not asked; a limit that somebody named holds
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
22.4 GB of memory, the limit is 100.0 MB; use a smaller graph, or raise the limit: --memory 23GB
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
    chosen = _chosen()
    return int(SHARE * _free()) if chosen is None else chosen


def room_on_disk(size: int | str | None = None) -> int:
    """Return the bytes that work on disk may take; refuse a limit in which it cannot be done.

    >>> room_on_disk("1KB")
    Traceback (most recent call last):
    heterophily.errors.MemoryLimitError: work on disk needs at least 128.0 MB of memory, the limit \
is 1.0 KB; raise the limit: --memory 128MB
    """
    room = limit() if size is None else as_bytes(size)
    if room < SMALLEST_ON_DISK:
        raise MemoryLimitError(
            f"work on disk needs at least {in_units(SMALLEST_ON_DISK)} of memory, the limit is "
            f"{in_units(room)}; {Remedy('raise-memory', (('size', '128MB'),))}"
        )
    return room


def _chosen() -> int | None:
    """Return the limit that somebody named, of this block or of the environment."""
    chosen = _LIMIT.get()
    if chosen is None and (given := os.environ.get(VARIABLE)):
        try:
            return as_bytes(given)
        except InputError as error:
            raise InputError(f"{VARIABLE} {error}") from None
    return chosen


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
    most = _chosen()
    if most is None and size > _SMALL:
        most = limit()
    if most is None or size <= most:
        return
    raise MemoryLimitError(
        f"{what} needs about {in_units(size)} of memory, the limit is {in_units(most)}; "
        f"use a smaller graph, or {Remedy('raise-memory', (('size', enough(size)),))}"
    )


def in_units(size: float) -> str:
    """Return a number of bytes as people read it.

    >>> in_units(1536), in_units(3 * 2**30), in_units(10)
    ('1.5 KB', '3.0 GB', '10 bytes')
    """
    if size < _UNITS["K"]:
        return f"{size:,.0f} bytes"
    unit, scale = _unit_of(size)
    return f"{size / scale:,.1f} {unit}B"


def enough(size: int) -> str:
    """Return the next round size above a number of bytes, as ``as_bytes`` reads it."""
    unit, scale = _unit_of(size)
    return f"{size // scale + 1}{unit}B"


def _unit_of(size: float) -> tuple[str, int]:
    fitting = [(unit, scale) for unit, scale in _UNITS.items() if unit and scale <= size]
    return fitting[-1] if fitting else ("K", _UNITS["K"])


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
