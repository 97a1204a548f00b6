"""Open a store by its URL: in memory, one file, or a PostgreSQL server. No torch here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from heterophily.errors import lookup
from heterophily.runs.stores.base import Store

ENVIRONMENT = "HETEROPHILY_STORE"
DEFAULT = "heterophily-runs.sqlite"

KINDS: Mapping[str, tuple[str, str]] = {
    "memory": ("memory", "MemoryStore"),
    "sqlite": ("sqlite", "SqliteStore"),
    "postgresql": ("postgresql", "PostgresStore"),
}
"""What a URL begins with; the module and the class that it opens, loaded on first use."""


def default_url() -> str:
    """Return ``HETEROPHILY_STORE``, or ``heterophily-runs.sqlite`` in the current folder."""
    return os.environ.get(ENVIRONMENT) or DEFAULT


def open_store(
    url: str | Path | None = None,
    *,
    must_exist: bool = False,
    is_checked: bool = True,
    is_read_only: bool = False,
) -> Store:
    """Open a store.

    Parameters
    ----------
    url
        ``memory:`` (nothing is kept), ``sqlite:///FILE`` or just the path of a file, or
        ``postgresql://USER@HOST/DATABASE``; None for :func:`default_url`.
    must_exist
        Refuse to make a new store: for commands that only read.
    is_checked
        Examine the whole of a file first. A worker process trusts the one that started it.
    is_read_only
        Open it for reading alone: a file and its folder need not be writable.

    Examples
    --------
    >>> with open_store("memory:") as store:
    ...     len(store), store.get("no such key")
    (0, None)
    """
    place = os.fspath(url or default_url())
    module, name = KINDS[_kind(place)]
    opener = getattr(import_module(f"heterophily.runs.stores.{module}"), name).open
    options: dict[str, Any] = {
        "must_exist": must_exist,
        "is_checked": is_checked,
        "is_read_only": is_read_only,
    }
    return cast(Store, opener(place, **options))


def open_or_empty(url: str | Path | None = None, *, is_checked: bool = True) -> Store:
    """Open a store for a command that trains nothing: an empty one where there is no file."""
    path = file_of(url)
    is_absent = path is not None and not path.exists()
    return open_store("memory:" if is_absent else url, is_checked=is_checked)


def file_of(url: str | Path | None = None) -> Path | None:
    """Return the absolute path of a store that is a file, or None for the other kinds."""
    place = os.fspath(url or default_url())
    return Path(place.removeprefix("sqlite:///")).absolute() if _kind(place) == "sqlite" else None


def absolute_url(url: str | Path | None = None) -> str:
    """Return the URL of a store as another folder's process would write it."""
    return str(file_of(url) or url or default_url())


def _kind(url: str) -> str:
    if url.startswith("memory:"):
        return "memory"
    scheme, mark, _ = url.partition("://")
    if not mark:
        return "sqlite"
    scheme = {"postgres": "postgresql"}.get(scheme, scheme)
    lookup(KINDS, "kind of store", scheme)
    return scheme


def without_password(text: str) -> str:
    """Return a URL, or a command with one, without the password in it.

    >>> without_password("heterophily tune gcn --store postgresql://me:secret@db/runs")
    'heterophily tune gcn --store postgresql://me:***@db/runs'
    """
    hidden = re.sub(r"(\b[a-z]+://[^\s:/@]*):[^\s@]*@", r"\1:***@", text)
    return re.sub(r"(\bpassword=)[^\s&]+", r"\1***", hidden)
