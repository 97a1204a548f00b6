"""Files of a graph on disk, compared with their checksums before a process first uses them.

One pass reads a file in blocks, computes its sha256 and looks at the numbers in it: compiled code
that trusts them must never meet a neighbour, a row or a class that does not exist.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.disk.manifest import FileEntry
from heterophily.errors import InputError

Check = Callable[[NDArray[Any]], bool]
"""Whether a block of numbers is sound; blocks come in their order."""

_BLOCK = 8 * 2**20
_EXPONENT = np.uint16(0x7F80)  # of bfloat16; all of it set: infinite or not a number

_seen: set[tuple[str, int, int, int, str]] = set()
_lock = threading.Lock()


def verify(folder: Path, entry: FileEntry, dtype: str, is_sound: Check) -> Path:
    """Return the path of a file that is what the manifest says; refuse another.

    A file is read once in a process, and again when its size, time or place changed.
    """
    path = folder / entry.name
    if _stamp(path, entry) in _seen:
        return path
    with _lock:
        stamp = _stamp(path, entry)
        if stamp in _seen:
            return path
        if not is_whole(path, entry.sha256, dtype, is_sound):
            raise InputError(
                f"{path} is damaged: its content differs from the manifest; convert the graph again"
            )
        _seen.add(stamp)
    return path


def is_whole(path: Path, sha256: str, dtype: str, is_sound: Check) -> bool:
    """Whether a file has a checksum and sound numbers."""
    digest, item = hashlib.sha256(), np.dtype(dtype)
    buffer = bytearray(_BLOCK)
    sound = True
    with open(path, "rb", buffering=0) as stream:
        while (count := _fill(stream, memoryview(buffer))) > 0:
            digest.update(memoryview(buffer)[:count])
            sound = sound and is_sound(np.frombuffer(buffer, item, count // item.itemsize))
    return sound and digest.hexdigest() == sha256


def _fill(stream: Any, view: memoryview) -> int:
    """Read until the buffer is full or the file ends, so that no number is cut in two."""
    done = 0
    while done < len(view) and (count := stream.readinto(view[done:])):
        done += count
    return done


def _stamp(path: Path, entry: FileEntry) -> tuple[str, int, int, int, str]:
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    place = str(path.resolve())
    return place, found.st_ino, found.st_size, found.st_mtime_ns, entry.sha256


def within(lowest: int, end: int) -> Check:
    """Return whether all numbers lie in ``lowest .. end - 1``."""
    return lambda block: bool(block.size == 0 or lowest <= block.min() <= block.max() < end)


def ascending(count: int, last: int) -> Check:
    """Return whether so many numbers begin at 0, never fall and end at ``last``."""
    before, seen = 0, 0

    def is_sound(block: NDArray[Any]) -> bool:
        nonlocal before, seen
        begins = block[0] >= before if seen else block[0] == 0
        seen, before = seen + block.size, int(block[-1])
        ends = seen < count or before == last
        return bool(begins and ends and (block[1:] >= block[:-1]).all())

    return is_sound


def finite(dtype: str) -> Check:
    """Return whether all features are finite numbers."""
    if dtype == "float32":
        return lambda block: bool(np.isfinite(block).all())
    return lambda block: bool(((block & _EXPONENT) != _EXPONENT).all())


def anything(_: NDArray[Any]) -> bool:
    """Return True: bytes whose meaning another reader checks."""
    return True
