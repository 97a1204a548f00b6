"""Fetching public files: checksum, retries, whole files only, a progress bar if asked."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from heterophily.data.atomic import write_text
from heterophily.data.upstream import RemoteFile
from heterophily.errors import DataNotFoundError, InputError

MIRROR_VARIABLE = "HETEROPHILY_MIRROR"
TIMEOUT_SECONDS = 30.0
RETRIES = 2


def fetch_files(
    files: Sequence[RemoteFile],
    folder: Path,
    *,
    mirror: str | None = None,
    progress: bool = False,
    known: Path | None = None,
) -> dict[str, str]:
    """Download ``files`` into ``folder``; return the checksums of those that have no published one.

    ``known`` is the file of :func:`remember`: such a file must be that of the first download.

    ``mirror`` (or the environment variable ``HETEROPHILY_MIRROR``) replaces scheme and host of
    every address: a mirror at ``http://host/x`` serves ``https://a.org/b/c`` as
    ``http://host/x/b/c``.
    """
    mirror = mirror_address(mirror)
    sums: dict[str, str] = {}
    with _progress_bar(len(files), progress) as bar:
        for file in files:
            _fetch(file, folder, mirror, bar)
            if known is not None and file.sha256 is None:
                sums[file.urls[0]] = _compared(file, folder / file.name, known)
    return sums


def mirror_address(mirror: str | None) -> str | None:
    """Return the mirror to use, if any, after checking that it is a web address."""
    mirror = mirror or os.environ.get(MIRROR_VARIABLE) or None
    if mirror is not None and not mirror.startswith(("http://", "https://")):
        raise InputError(f"the mirror {mirror!r} must start with http:// or https://")
    return mirror


def address(url: str, mirror: str | None) -> str:
    """Return the address to ask for ``url``.

    >>> address("https://snap.stanford.edu/data/deezer_europe.zip", "http://127.0.0.1:8000/")
    'http://127.0.0.1:8000/data/deezer_europe.zip'
    """
    return url if mirror is None else mirror.rstrip("/") + urlsplit(url).path


def _fetch(file: RemoteFile, folder: Path, mirror: str | None, bar: Any) -> None:
    import pooch
    import requests

    failures = []
    for url in dict.fromkeys(address(url, mirror) for url in file.urls):
        store = pooch.create(
            path=folder,
            base_url="",
            registry={file.name: None if file.sha256 is None else f"sha256:{file.sha256}"},
            urls={file.name: url},
            retry_if_failed=RETRIES,
        )
        downloader = pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS, progressbar=bar)
        try:
            with _quiet(pooch):
                store.fetch(file.name, downloader=downloader)
            return
        except (requests.RequestException, ValueError) as error:
            failures.append(f"{url} ({_reason(error)})")
        except OSError as error:
            raise InputError(f"cannot write into {folder}: {error.strerror or error}") from error
    raise DataNotFoundError("could not download " + ", nor ".join(failures))


def _compared(file: RemoteFile, path: Path, known: Path) -> str:
    """Return the checksum of a file; refuse it when its first download had another one."""
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    before = _first_downloads(known).get(file.urls[0], found)
    if before != found:
        raise DataNotFoundError(
            f"{file.urls[0]} is not the file of the first download (its sha256 was "
            f"{str(before)[:16]}, now {found[:16]}); if you trust it, remove its line in {known}"
        )
    return found


def _first_downloads(known: Path) -> dict[str, Any]:
    try:
        sums = json.loads(known.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return sums if isinstance(sums, dict) else {}


def remember(sums: Mapping[str, str], known: Path) -> None:
    """Note the checksums of files that proved right, for the next download of them."""
    if not sums.items() <= (before := _first_downloads(known)).items():
        write_text(known, json.dumps({**before, **sums}, indent=1, sort_keys=True) + "\n")


def _reason(error: Exception) -> str:
    """Say in few words why a download failed."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return "the server did not answer in time"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    if isinstance(error, ValueError) and "hash" in str(error).lower():
        return "its checksum is not the published one"
    return type(error).__name__


@contextlib.contextmanager
def _quiet(pooch: Any) -> Iterator[None]:
    """Keep pooch's own messages off the terminal."""
    logger = pooch.get_logger()
    before = logger.level
    logger.setLevel("CRITICAL")
    try:
        yield
    finally:
        logger.setLevel(before)


class _Bar:
    """What pooch expects of a progress bar, drawn by rich: one row for all files."""

    def __init__(self, display: Any, task: Any) -> None:
        self._display, self._task = display, task
        self._bytes_of_file = 0
        self.total = 0  # pooch writes the size of the file here

    def update(self, amount: int) -> None:
        """Count bytes."""
        self._bytes_of_file += amount
        self._display.update(self._task, advance=amount)

    def reset(self) -> None:
        """Take the bytes of this file back: pooch adds them again at its end."""
        self.update(-self._bytes_of_file)

    def close(self) -> None:
        """End a file; the next one counts on."""
        self._bytes_of_file = 0


@contextlib.contextmanager
def _progress_bar(num_files: int, is_wanted: bool) -> Iterator[Any]:
    if not is_wanted:
        yield False
        return
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    files = "1 file" if num_files == 1 else f"{num_files} files"
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        DownloadColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as display:
        yield _Bar(display, display.add_task(f"downloading {files}", total=None))
