"""Intact records out of a damaged SQLite file, read from its bytes without trusting its trees.

A record in the file is a run of bytes: a header with the lengths of its columns, then the columns;
a long one goes on in a chain of overflow pages (https://sqlite.org/fileformat2.html). Every place
that looks like the header of a record of ours is tried, and taken if its checksum fits: a damaged
index, page header or neighbour costs no intact record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heterophily.errors import InputError
from heterophily.runs.stores.rows import StoredRow, is_intact

_PAGE = 4096  # what SQLite uses unless told otherwise, and we never tell it
_KEY = b"\x81\x0d"  # type of the first column, a text of 64 characters
_WHOLE = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}  # type of a whole number -> its bytes


def intact_rows(path: Path) -> Iterator[StoredRow]:
    """Iterate over the intact records of a file and its write-ahead log, each once."""
    try:
        content = path.read_bytes()
        log = path.with_name(f"{path.name}-wal")
        logged = log.read_bytes() if log.exists() else b""
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    found: set[str] = set()
    for size in dict.fromkeys((_PAGE, int.from_bytes(content[16:18], "big") or 65536)):
        if size < 512 or size & (size - 1):
            continue
        pages = {at // size + 1: content[at : at + size] for at in range(0, len(content), size)}
        later = list(_frames(logged, size))
        newest = {**pages, **dict(later)}
        for page in [*pages.values(), *(page for _, page in later)]:
            for row in _rows_in(page, newest, pages, size):
                if row.key not in found:
                    found.add(row.key)
                    yield row


def _frames(log: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """Iterate over (page number, page) of a write-ahead log."""
    for at in range(32, len(log) - 24 - size + 1, 24 + size):
        yield int.from_bytes(log[at : at + 4], "big"), log[at + 24 : at + 24 + size]


def _rows_in(
    page: bytes, newest: Mapping[int, bytes], oldest: Mapping[int, bytes], size: int
) -> Iterator[StoredRow]:
    at = page.find(_KEY)
    while at > 0:
        for pages in (newest, oldest):
            row = _row(page, at - 1, pages, size)
            if row is not None:
                yield row
                break
        at = page.find(_KEY, at + 1)


def _row(page: bytes, start: int, pages: Mapping[int, bytes], size: int) -> StoredRow | None:
    """Return the record whose header starts here, if there is one and it is intact."""
    end = start + page[start]
    kinds, at = [], start + 1
    while at < end:
        kind, at = _varint(page, at)
        kinds.append(kind)
    if at != end or len(kinds) != len(StoredRow._fields):
        return None
    lengths = [_WHOLE.get(kind, (kind - 13) // 2 if kind > 12 else -1) for kind in kinds]
    if min(lengths) < 0:
        return None
    payload = _payload(page, start, page[start] + sum(lengths), pages, size)
    values: list[Any] = []
    at = page[start]
    for kind, length in zip(kinds, lengths, strict=True):
        part, at = payload[at : at + length], at + length
        if kind in _WHOLE:
            values.append(kind - 8 if kind > 7 else int.from_bytes(part, "big", signed=True))
            continue
        try:
            values.append(part.decode("utf-8"))
        except UnicodeDecodeError:
            return None
    row = StoredRow(*values)
    return row if is_intact(row) else None


def _varint(page: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step, byte in enumerate(page[at : at + 9], 1):
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step
    return -1, at + 9


def _payload(page: bytes, start: int, total: int, pages: Mapping[int, bytes], size: int) -> bytes:
    """Return the bytes of a record: here, and in the chain of its overflow pages."""
    if total <= size - 35:
        return page[start : start + total]
    least = (size - 12) * 32 // 255 - 23
    here = least + (total - least) % (size - 4)
    if here > size - 35:
        here = least
    payload = page[start : start + here]
    following = int.from_bytes(page[start + here : start + here + 4], "big")
    while len(payload) < total and following in pages:
        overflow = pages[following]
        payload += overflow[4 : 4 + total - len(payload)]
        following = int.from_bytes(overflow[:4], "big")
    return payload
