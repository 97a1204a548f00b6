"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from heterophily.errors import HeterophilyError, InputError


def _refusal(path: Path, error: OSError) -> InputError:
    """Say in one sentence why ``path`` was not written."""
    return InputError(f"cannot write {path}: {error.strerror or error}")


def _sync(path: Path, mode: int = os.O_RDONLY) -> None:
    """Ask the system to put a file or a folder on the disk."""
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path to write to; at the end of the block it becomes ``path``.

    The temporary file lies in the same folder and keeps the suffix of ``path``. It is flushed to
    the disk before it takes the name, so a reader sees the old file or the new one, never a part.
    When the block fails, ``path`` is untouched and nothing is left behind; an :class:`OSError`
    (no such folder, read-only, disk full) becomes an :class:`~heterophily.errors.InputError`.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_path(folder / "note.txt") as temporary:
    ...     _ = temporary.write_text("hello")
    >>> [file.name for file in folder.iterdir()], (folder / "note.txt").read_text()
    (['note.txt'], 'hello')
    """
    asked = Path(path)
    target = Path(os.path.realpath(asked))  # through links: replace the file, not the link
    if target.exists() and not target.is_file():
        raise InputError(f"cannot write {asked}: it exists and is not a regular file")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {asked}: there is no folder {target.parent}")
    temporary = target.parent / f".{secrets.token_hex(6)}-{target.name}"
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        _sync(temporary, os.O_RDWR)
        os.replace(temporary, target)
        if os.name == "posix":  # a folder cannot be opened elsewhere
            _sync(target.parent)
    except OSError as error:
        named = {None, os.fspath(temporary), os.fspath(target.parent)}
        if isinstance(error, HeterophilyError) or error.filename not in named:
            raise  # of another file that the block works with
        raise _refusal(asked, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file atomically (see :func:`atomic_path`)."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole UTF-8 text file atomically (see :func:`atomic_path`)."""
    write_bytes(path, text.encode("utf-8"))
