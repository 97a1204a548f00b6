"""The folder in which an unfinished conversion lives: what is done, and what it was made from."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heterophily.data.atomic import write_text
from heterophily.data.disk.manifest import MANIFEST
from heterophily.data.folders import sync_folder
from heterophily.errors import InputError

WORK = ".work"
_TEMPORARY = re.compile(r"\.[0-9a-f]{12}-.*")


class Workspace:
    """Steps that are done, each as a small file; a step is noted when its files are in place.

    Runs of unsorted edges are not flushed to the disk one by one: a killed process loses nothing,
    and after a restart of the machine they are made again.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.folder = target / WORK

    @contextlib.contextmanager
    def opened(self, plan: Mapping[str, Any]) -> Iterator[None]:
        """Make or reopen the folder, and keep other processes away from it in the block."""
        self._refuse_finished()
        if self.target.exists() and not self.folder.is_dir():
            raise InputError(
                f"{self.target} exists and is not an unfinished conversion; choose another name "
                "or remove it"
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write {self.target}: {error.strerror}") from None
        with self._locked():
            if (self.target / MANIFEST).exists():  # another process has just finished it
                self.remove()
                self._refuse_finished()
            self._begin(plan)
            yield

    def _refuse_finished(self) -> None:
        if (self.target / MANIFEST).exists():
            raise InputError(f"{self.target} exists; choose another name or remove it")

    def _begin(self, plan: Mapping[str, Any]) -> None:
        sync_folder(self.target)
        before = self.done("plan")
        if before is not None and before["input"] != plan:
            raise InputError(
                f"{self.target} is an unfinished conversion of other files or options; remove it "
                "or choose another name"
            )
        for file in (*self.target.iterdir(), *self.folder.iterdir()):
            if _TEMPORARY.fullmatch(file.name) and file.is_file():
                file.unlink()
        boot = _boot()
        if before is None or before["boot"] != boot:
            for file in self.folder.glob("task-*"):
                file.unlink()
            self.note("plan", {"input": dict(plan), "boot": boot})

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            import fcntl
        except ImportError:  # not POSIX
            yield
            return
        with open(self.folder / "lock", "wb") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(
                    f"another command is writing {self.target}; wait for it, or choose another name"
                ) from None
            yield

    def done(self, step: str) -> Any:
        """Return what was noted about a step; None: it is still to do."""
        try:
            return json.loads((self.folder / f"{step}.json").read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return None

    def note(self, step: str, facts: Mapping[str, Any]) -> None:
        """Note that a step is done."""
        write_text(self.folder / f"{step}.json", json.dumps(facts))

    def remove(self) -> None:
        """Remove the folder, once the manifest is written."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _boot() -> str:
    """Return what differs after a restart of the machine."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return "unknown"
