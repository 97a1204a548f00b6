"""The work folder: uploads and jobs under names that the server chose, and what is thrown away."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from heterophily.data.atomic import write_text
from heterophily.errors import InputError
from heterophily.web.refusal import RefusedError

SCHEMA = "1"
"""Name of the part of the folder that this version reads: another layout takes another name."""

MOST_LOG_BYTES = 2**20

ID = r"^[0-9a-f]{16}$"
"""Every name in the work folder: sixteen letters from 0-9 and a-f, drawn by the server."""


class WorkFolder:
    """``graphs/ID/`` for each upload, ``jobs/ID/`` for each job; one server at a time.

    Whatever a client sends is compared with the names that are there; it never becomes a path.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute() / SCHEMA
        try:
            for name in ("graphs", "jobs"):
                (self.path / name).mkdir(parents=True, exist_ok=True)
            how = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)  # Windows lacks the last
            self._lock = os.open(self.path / "lock", how, 0o600)
        except OSError as error:
            raise InputError(
                f"cannot use {self.path} as work folder: {error.strerror or error}; choose "
                "another one with --work-folder"
            ) from error
        self._take()
        if self.log.exists() and self.log.stat().st_size > MOST_LOG_BYTES:
            self.log.unlink()

    def _take(self) -> None:
        if os.name != "posix":
            return
        import fcntl

        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise InputError(
                f"another heterophily serve works in {self.path}; stop it, or choose another "
                "folder with --work-folder"
            ) from None

    @property
    def log(self) -> Path:
        """What workers print: faults with their tracebacks."""
        return self.path / "worker.log"

    def close(self) -> None:
        """Let the next server in."""
        os.close(self._lock)

    def make(self, kind: str) -> tuple[str, Path]:
        """Make a folder for a graph or a job; return its id and its path."""
        name = secrets.token_hex(8)
        path = self.path / kind / name
        path.mkdir()
        return name, path

    def find(self, kind: str, name: str) -> Path:
        """Return the folder of an id, or refuse an id that is not there."""
        if re.fullmatch(ID, name) and (self.path / kind / name).is_dir():
            return self.path / kind / name
        raise RefusedError(
            404, f"there is no {kind.removesuffix('s')} {name!r:.40}; it may have been removed"
        )

    def ids(self, kind: str) -> list[str]:
        """Return all ids of a kind, the newest first."""
        found = [p for p in (self.path / kind).iterdir() if re.fullmatch(ID, p.name)]
        return [p.name for p in sorted(found, key=_touched, reverse=True)]

    def remove(self, kind: str, name: str) -> None:
        """Remove a folder and all in it."""
        shutil.rmtree(self.find(kind, name), ignore_errors=True)

    def expired(self, *, keep_days: float, keep_mb: int, busy: Iterable[str]) -> list[str]:
        """Return the graphs to remove: too old, or the oldest beyond the size; none in use."""
        in_use, total, old = set(busy), 0, []
        limit = time.time() - 86400 * keep_days
        for name in self.ids("graphs"):
            path = self.path / "graphs" / name
            total += sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            if name not in in_use and (_touched(path) < limit or total > keep_mb * 2**20):
                old.append(name)
        return old


def _touched(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def write_json(path: Path, value: Any) -> None:
    """Write plain data, whole or not at all."""
    write_text(path, json.dumps(value, allow_nan=False))


def read_json(path: Path) -> dict[str, Any] | None:
    """Return what :func:`write_json` wrote, or None if it is not there or not whole."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
