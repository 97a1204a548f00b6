"""Text that is safe anywhere in a page: names come from strangers' files."""

from __future__ import annotations

import json
from html import escape
from typing import Any

LONGEST = 80


def printable(text: str) -> str:
    """Return text without control characters and direction marks.

    >>> printable("a\\u202eb\\x1b")
    'a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}'
    """
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def safe(value: object) -> str:
    """Return text for HTML and SVG, inside elements and quoted attributes alike.

    >>> safe('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return escape(printable(str(value)))


def short(value: object, letters: int = LONGEST) -> str:
    """Return at most so many letters of a text, safe; an ellipsis marks what is left out."""
    text = str(value)
    return safe(text if len(text) <= letters else text[: letters - 1] + "…")


def data_script(name: str, value: Any) -> str:
    """Return data for the script of the page; no text in it can end the element.

    >>> data_script("x", ["</script>"])
    '<script type="application/json" id="x">["\\\\u003c/script\\\\u003e"]</script>'
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":  # ensure_ascii already wrote the line separators as escapes
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return f'<script type="application/json" id="{safe(name)}">{text}</script>'


def percent(value: float | None, std: float | None = None, *, digits: int = 1) -> str:
    """Write a fraction in percent, with its spread.

    >>> percent(0.9475, 0.038), percent(None)
    ('94.8 ± 3.8', '–')
    """
    if value is None:
        return "–"
    spread = "" if std is None else f" ± {100 * std:.{digits}f}"
    return f"{100 * value:.{digits}f}{spread}"
