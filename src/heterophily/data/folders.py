"""Folders that are replaced whole: a reader finds the old one or the new one, never none."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

_AT_CURRENT, _EXCHANGE = -100, 2  # of Linux's renameat2


def replace_folder(new: Path, target: Path) -> None:
    """Let ``new`` take the name ``target``; a folder of that name is exchanged with it in one step.

    Afterwards ``new`` names the old folder, if there was one, to be removed. Where the system
    cannot exchange two names, there is a moment in which ``target`` is missing.
    """
    if not target.exists():
        os.replace(new, target)
    elif not _exchange(new, target):
        old = new.with_name(new.name + "-old")
        os.replace(target, old)
        try:
            os.replace(new, target)
        except OSError:
            os.replace(old, target)
            raise
        os.replace(old, new)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two names at once; False where the system or the disk cannot do that."""
    if sys.platform != "linux":
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    names = (os.fsencode(first), os.fsencode(second))
    return bool(rename(_AT_CURRENT, names[0], _AT_CURRENT, names[1], _EXCHANGE) == 0)


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk."""
    if os.name != "posix":  # a folder cannot be opened elsewhere
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Mark a folder as being written, as long as the block and this process last."""
    try:
        import fcntl
    except ImportError:  # not POSIX
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def sweep(target: Path) -> None:
    """Remove what a killed process left beside ``target``; bring the old folder back if need be."""
    try:
        import fcntl
    except ImportError:  # nobody can tell whether the writer lives
        return
    mine = re.compile(rf"\.[0-9a-f]{{12}}-{re.escape(target.name)}(-old)?")
    for folder in sorted(target.parent.iterdir()):
        if not mine.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
            continue
        try:
            handle = os.open(folder, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if folder.name.endswith("-old") and not target.exists():
                os.replace(folder, target)
            else:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # somebody writes it now
        finally:
            os.close(handle)
