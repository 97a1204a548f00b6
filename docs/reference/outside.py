"""Links of a page that leave ``docs/``: pictures come along, other files are named.

On a code host ``../results/figures/x.png`` leads to a picture of the repository. The site has only
``docs/``, so pictures are copied to ``outside/`` when it is built, and a link to any other file
becomes its text and its place in the repository.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(((?:\.\./)[^)#\s]+)(?:#[^)]*)?\)")
_PICTURES = {".png", ".svg", ".jpg"}


def outside(source: str, target: str) -> str | None:
    """Return the place of a link's target in the repository, or None when it is in ``docs/``.

    >>> outside("synthetic.md", "../results/figures/regular-digits.png")
    'results/figures/regular-digits.png'
    >>> outside("tutorials/own-graph.md", "../data.md") is None
    True
    """
    place = Path(os.path.normpath(ROOT / "docs" / Path(source).parent / target))
    if place.is_relative_to(ROOT / "docs"):
        return None
    return place.relative_to(ROOT).as_posix()


def on_files(files: Files, *, config: Any) -> Files:
    """Add the pictures that pages show from outside."""
    shown = {
        place
        for file in files.documentation_pages()
        for _, _, target in _LINK.findall(file.content_string)
        if (place := outside(file.src_uri, target)) and Path(place).suffix in _PICTURES
    }
    for place in sorted(shown):
        if (ROOT / place).is_file():
            files.append(File.generated(config, f"outside/{place}", abs_src_path=str(ROOT / place)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Lead links to the copied pictures, and name other files."""

    def new(match: re.Match[str]) -> str:
        bang, text, target = match.groups()
        place = outside(page.file.src_uri, target)
        if place is None:
            return match[0]
        if bang:
            up = "../" * page.file.src_uri.count("/")
            return f"![{text}]({up}outside/{place})"
        return f"{text} (`{place}`)"

    return _LINK.sub(new, markdown)
