"""Reference pages that cannot forget a name: the rest of a folder's public names is filled in.

A page lists the names that come first, in a chosen order, as ``::: heterophily.NAME``. The line
``<!-- rest: data -->`` stands for the public names of the folder ``data`` that no page lists.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import heterophily

_REST = re.compile(r"^<!-- rest: ([\w ]+) -->$", re.MULTILINE)
_NAME = re.compile(r"^::: heterophily\.(\w+)$", re.MULTILINE)


def filled(markdown: str) -> str:
    """Return a page with the rest of its names.

    >>> filled("<!-- rest: errors -->")  # the page of errors lists them all
    ''
    """

    def rest(match: re.Match[str]) -> str:
        shown, folders = listed(), match[1].split()
        missing = [
            name
            for name in heterophily.__all__
            if heterophily._MODULE_OF[name].partition(".")[0] in folders and name not in shown
        ]
        return "\n\n".join(f"::: heterophily.{name}" for name in missing)

    return _REST.sub(rest, markdown)


def listed() -> set[str]:
    """Return the names that some reference page lists."""
    pages = Path(__file__).parent.glob("*.md")
    return {name for page in pages for name in names(page.read_text("utf-8"))}


def names(markdown: str) -> list[str]:
    """Return the names that a page documents."""
    return _NAME.findall(markdown)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill a page when the site is built."""
    return filled(markdown)
