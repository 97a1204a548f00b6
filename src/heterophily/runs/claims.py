"""Claims beside a file: locks that the operating system drops when their holder dies.

Each key is one byte of a claims file beside the store, locked while the run is trained. No leases
and no clocks: a killed process loses its locks with its life. Local file systems only; byte locks
over a network file system are not to be trusted.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from heterophily.errors import InputError

_LOCK = threading.Lock()
_OPENED: dict[str, FileClaims] = {}


class FileClaims:
    """The claims of one SQLite store, one object per process (see :func:`claims_of`)."""

    def __init__(self, path: Path) -> None:
        try:
            self._handle = os.open(
                path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666
            )
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from error
        self._held: set[int] = set()

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Hold the claim on a key for the block; gives False if somebody else holds it."""
        place = int(key[:15], 16)  # 60 bits: within a file offset
        is_ours = self._take(place)
        try:
            yield is_ours
        finally:
            if is_ours:
                self._drop(place)

    def is_taken(self, key: str) -> bool:
        """Whether somebody is training this run at the moment."""
        with self.claim(key) as is_ours:
            return not is_ours

    def _take(self, place: int) -> bool:
        with _LOCK:
            if place in self._held:  # by another thread: the system would grant it again
                return False
            try:
                _lock(self._handle, place, is_wanted=True)
            except (BlockingIOError, PermissionError):
                return False
            except OSError as error:
                raise InputError(
                    f"the folder of the store has no file locks ({error.strerror}); "
                    "put the store on a local disk"
                ) from error
            self._held.add(place)
            return True

    def _drop(self, place: int) -> None:
        with _LOCK:
            _lock(self._handle, place, is_wanted=False)
            self._held.discard(place)


def _lock(handle: int, place: int, *, is_wanted: bool) -> None:
    """Lock or free one byte of a file, without waiting; an ``OSError`` when another has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        msvcrt: Any = import_module("msvcrt")
        os.lseek(handle, place, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK if is_wanted else msvcrt.LK_UNLCK, 1)
        return
    fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB if is_wanted else fcntl.LOCK_UN, 1, place)


def claims_of(store: str | Path) -> FileClaims:
    """Return the claims of the store at a path.

    A process keeps one open file for them: closing a second one would drop all its locks.
    """
    path = Path(f"{os.path.realpath(store)}-claims")
    with _LOCK:
        if str(path) not in _OPENED or not path.exists():
            _OPENED[str(path)] = FileClaims(path)
        return _OPENED[str(path)]
