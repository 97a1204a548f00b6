"""Text tables that are not UTF-8: UTF-16 by its mark, Windows-1252 where nothing speaks against."""

from __future__ import annotations

import codecs
import re
from typing import Any

import pyarrow as pa

from heterophily.data.wording import short
from heterophily.errors import InputError

AS_UTF8 = "save the file as UTF-8 (Excel calls it CSV UTF-8)"
_HEAD = 1 << 18  # bytes that are looked at before the rows are read
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF8_LETTER = re.compile(rb"[\xc2-\xf4][\x80-\xbf]")
_FOREIGN = re.compile(rb"[\x80-\xff]{3}")  # Western words have accents here and there, not in rows
_ACCENT = re.compile(r"[^\x00-\x7f]")
_WORD_HALF = re.compile(r"\w{0,40}")  # bounded: a cell may be one word of 100,000 letters


def begins_as_utf8(contents: Any) -> bool:
    """Whether the first bytes of a text are UTF-8 (the last letter may be cut off).

    >>> begins_as_utf8("Köln".encode()), begins_as_utf8("Köln".encode("latin-1"))
    (True, False)
    """
    head = bytes(memoryview(contents)[:_HEAD])
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def as_utf8(contents: Any, name: str) -> tuple[Any, str]:
    """Return a text in UTF-8, and a remark on what it was; a text of unknown encoding is refused.

    Windows-1252 (of which Latin-1 is nearly a part) has no mark. A text is taken for it if no two
    bytes of it are a letter of UTF-8, and no three bytes in a row are outside of ASCII, as in
    Cyrillic, Greek or Asian text.

    >>> as_utf8("Köln".encode("latin-1"), "towns.csv")[1]
    "towns.csv: not UTF-8; read as Windows-1252, with words such as 'Köln'"
    """
    data = memoryview(contents).tobytes()
    if data.startswith(_UTF16):
        encoding, told = "utf-16", "UTF-16"
    elif _UTF8_LETTER.search(data) or _FOREIGN.search(data):
        raise _unknown(data, name)
    else:
        encoding, told = "cp1252", "Windows-1252"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise _unknown(data, name) from None
    found = _ACCENT.search(text) if encoding == "cp1252" else None
    example = f", with words such as {short(_word_at(text, found.start()))}" if found else ""
    return pa.py_buffer(text.encode()), f"{name}: not UTF-8; read as {told}{example}"


def _word_at(text: str, place: int) -> str:
    before, after = text[max(0, place - 40) : place][::-1], text[place + 1 : place + 41]
    halves = (_WORD_HALF.match(before), _WORD_HALF.match(after))
    first, last = ("" if half is None else half[0] for half in halves)
    return first[::-1] + text[place] + last


def _unknown(data: bytes, name: str) -> InputError:
    try:
        data.decode("utf-8")
        start = 0
    except UnicodeDecodeError as error:
        start = error.start
    line = data.count(b"\n", 0, start) + 1
    return InputError(f"{name}, line {line}: not UTF-8 text (byte 0x{data[start]:02x}); {AS_UTF8}")
