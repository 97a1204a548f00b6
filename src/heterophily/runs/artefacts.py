"""Artefacts: what a run leaves besides its record (history, logits, state). No torch here.

A file of the folder holds what one training left. Its name tells the run, the kinds and the sha256
of its content; a file that does not fit its name is removed, and the run is trained again for it.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from numpy.typing import NDArray

from heterophily.data.atomic import atomic_path
from heterophily.errors import InputError, lookup

if TYPE_CHECKING:
    from heterophily.runs.stores.base import Store

KINDS: Mapping[str, str] = {
    "history": "training loss, validation loss and validation accuracy of every epoch",
    "logits": "output of the network, and the predicted classes, at the best epoch",
    "state": "parameters and buffers of the network at the best epoch",
    "channels": "weights of the channels in each mixing layer, and the channels of the last one",
}

Arrays = Mapping[str, NDArray[Any]]
"""What one kind consists of, by name; empty when a run has no finite epoch."""

Kept = Mapping[str, Arrays]
"""Arrays by kind."""

LIMIT_MB = 2048
"""Files that nobody has read for long are removed when a folder is larger; see ``ENVIRONMENT``."""

ENVIRONMENT = "HETEROPHILY_ARTEFACTS_MB"
_YOUNG_SECONDS = 3600.0  # never removed: another command may need it
_SUFFIX = ".safetensors"


class Artefacts(Protocol):
    """What runs left, by the key of the run."""

    def has(self, key: str, kinds: Collection[str]) -> bool:
        """Whether all these kinds are there."""
        ...

    def read(self, key: str, kinds: Collection[str]) -> Kept | None:
        """Return these kinds; None when one is missing or damaged."""
        ...

    def write(self, key: str, kept: Kept) -> None:
        """Keep what a run left, whole or not at all."""
        ...

    def drop(self, keys: Iterable[str]) -> None:
        """Remove all that these runs left."""
        ...


class ArtefactsInMemory:
    """For a store in memory: arrays as they are, without a copy."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Arrays]] = {}

    def has(self, key: str, kinds: Collection[str]) -> bool:
        """Whether all these kinds are there."""
        return set(kinds) <= set(self._kept.get(key, ()))

    def read(self, key: str, kinds: Collection[str]) -> Kept | None:
        """Return these kinds; None when one is missing."""
        return {kind: self._kept[key][kind] for kind in kinds} if self.has(key, kinds) else None

    def write(self, key: str, kept: Kept) -> None:
        """Keep what a run left."""
        self._kept.setdefault(key, {}).update(kept)

    def drop(self, keys: Iterable[str]) -> None:
        """Remove all that these runs left."""
        for key in keys:
            self._kept.pop(key, None)


class ArtefactFiles:
    """Files of a folder, one for each training."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, key: str, kinds: Collection[str]) -> bool:
        """Whether all these kinds are there."""
        found = {kind for path in self._files(key) for kind in _kinds(path)}
        return set(kinds) <= found

    def read(self, key: str, kinds: Collection[str]) -> Kept | None:
        """Return these kinds; None when one is missing or damaged. A damaged file is removed."""
        found: dict[str, Arrays] = {}
        for path in self._files(key):
            if set(_kinds(path)) & set(kinds) - set(found):
                found |= _content(path) or {}
        if not set(kinds) <= set(found):
            return None
        return {kind: found[kind] for kind in kinds}

    def write(self, key: str, kept: Kept) -> None:
        """Keep what a run left; the file appears whole or not at all."""
        from safetensors.numpy import save

        arrays = {
            f"{kind}/{name}": value for kind, part in kept.items() for name, value in part.items()
        }
        content = save(arrays)
        checksum = hashlib.sha256(content).hexdigest()
        place = self.folder / key[:2]
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {place}: {error.strerror}") from error
        with atomic_path(place / f"{key}.{'+'.join(sorted(kept))}.{checksum}{_SUFFIX}") as path:
            path.write_bytes(content)

    def drop(self, keys: Iterable[str]) -> None:
        """Remove all that these runs left."""
        for key in keys:
            for path in self._files(key):
                path.unlink(missing_ok=True)

    def sweep(self, wanted: Collection[str] = ()) -> int:
        """Remove what nobody has read for longest until the folder is small enough.

        Files of ``wanted`` runs and those of the last hour stay, and what a killed command left
        half written goes. Returns the number of files that were removed.
        """
        needed, now = set(wanted), time.time()
        every: list[tuple[float, int, Path]] = []
        for path in self.folder.glob("*/*") if self.folder.is_dir() else ():
            with suppress(OSError):
                facts = path.stat()
                every.append((facts.st_mtime, facts.st_size, path))
        size, limit, removed = sum(entry[1] for entry in every), _limit(), 0
        for used, bytes_here, path in sorted(every):
            is_rest = path.name.startswith(".")
            is_free = now - used > _YOUNG_SECONDS and path.name.split(".")[0] not in needed
            if is_free and (is_rest or size > limit):
                path.unlink(missing_ok=True)
                size -= bytes_here
                removed += 1
        return removed

    def _files(self, key: str) -> list[Path]:
        return sorted((self.folder / key[:2]).glob(f"{key}.*{_SUFFIX}"))


def _kinds(path: Path) -> list[str]:
    parts = path.name.split(".")
    return parts[1].split("+") if len(parts) == 4 else []


def _content(path: Path) -> dict[str, Arrays] | None:
    """Read a file whose content fits its name; remove another."""
    from safetensors.numpy import load

    try:
        content = path.read_bytes()
    except OSError:
        return None  # removed a moment ago
    if hashlib.sha256(content).hexdigest() != path.name.split(".")[2]:
        path.unlink(missing_ok=True)
        return None
    with suppress(OSError):
        os.utime(path)  # read: it is swept later
    found: dict[str, dict[str, NDArray[Any]]] = {kind: {} for kind in _kinds(path)}
    for name, value in load(content).items():
        kind, _, rest = name.partition("/")
        found[kind][rest] = value
    return dict(found)


def _limit() -> float:
    asked = os.environ.get(ENVIRONMENT) or str(LIMIT_MB)
    if not asked.isdecimal():
        raise InputError(f"{ENVIRONMENT}={asked!r}; give a whole number of megabytes")
    return 2**20 * float(asked)


_IN_MEMORY: WeakKeyDictionary[Store, ArtefactsInMemory] = WeakKeyDictionary()
_LOCK = Lock()


def artefacts_of(store: Store) -> ArtefactFiles | ArtefactsInMemory:
    """Return the artefacts of a store: files beside it, or in memory as the store itself."""
    if store.reach != "process":
        return ArtefactFiles(store.artefact_folder)
    with _LOCK:
        return _IN_MEMORY.setdefault(store, ArtefactsInMemory())


def check_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return kinds of artefacts, each once; an unknown one is refused."""
    for kind in (found := tuple(dict.fromkeys(kinds))):
        lookup(KINDS, "kind of artefact", kind)
    return found
