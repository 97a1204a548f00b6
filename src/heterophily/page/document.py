"""The whole document: head, style, script, and a policy that forbids the network."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from heterophily.page.text import safe

LIGHT = {
    "ink": "#1b1f24", "dim": "#57606b", "paper": "#ffffff", "card": "#f5f7f9", "line": "#d5dae0",
    "mark": "#1f5fbf", "grey": "#8b95a1", "good": "#19713d", "bad": "#b3261e", "so": "#8a6100",
    "c0": "#0072b2", "c1": "#d55e00", "c2": "#009e73", "c3": "#b0609a", "c4": "#b87f00",
    "c5": "#3a97cf", "c6": "#6e6e6e", "c7": "#000000", "heat": "90,150,235",
    "h0": "#00305f", "h1": "#3f5f8f", "h2": "#808080", "h3": "#b89a3e", "h4": "#e6b800",
}  # fmt: skip
DARK = {
    "ink": "#e6e9ed", "dim": "#a3adb8", "paper": "#15181c", "card": "#1d2227", "line": "#3a424b",
    "mark": "#7fb0ff", "grey": "#7c8794", "good": "#6fd093", "bad": "#ff8a80", "so": "#e8bd5a",
    "c0": "#4aa3df", "c1": "#ff8c42", "c2": "#2cc99b", "c3": "#dd92c0", "c4": "#f0b429",
    "c5": "#9ad0f5", "c6": "#a0a0a0", "c7": "#f5f5f5", "heat": "52,104,190",
    "h0": "#5b8fd6", "h1": "#8aa6cf", "h2": "#a8a8a8", "h3": "#cdb86a", "h4": "#ffe04d",
}  # fmt: skip
COLOURS = 8
"""Number of series colours, ``--c0`` to ``--c7``: Okabe and Ito's, lighter on dark paper."""


@cache
def _file(name: str) -> str:
    return files("heterophily.page").joinpath(name).read_text("utf-8")


def _variables(values: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in values.items())


@cache
def style() -> str:
    """Return the style sheet: colours of both themes, then the rules; scoped to ``.hd``."""
    light, dark, where = _variables(LIGHT), _variables(DARK), ":is(.hd,.hd-body)"
    return (
        f"{where}{{{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{{where}{{{dark}}}}}"
        f"@media screen{{[data-theme=light] {where}{{{light}}}"
        f"[data-theme=dark] {where}{{{dark}}}}}\n"
        f"{_file('page.css')}"
    )


def policy(script: str = "") -> str:
    """Return the content security policy: nothing is fetched, only this very script runs."""
    rules = ["default-src 'none'", "style-src 'unsafe-inline'", "base-uri 'none'"]
    rules.append("form-action 'none'")
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
        rules.append(f"script-src 'sha256-{digest}'")
    return "; ".join(rules)


def fragment(body: str) -> str:
    """Return a body with its style and without a script: for notebooks and other pages."""
    return f"<style>{style()}</style>\n<div class='hd'>\n{body}\n</div>"


def document(title: str, body: str, *, is_interactive: bool = False) -> str:
    """Return a whole HTML document that needs no network.

    ``body`` is HTML, its texts escaped by :func:`~heterophily.page.text.safe`. An interactive
    document has the one script of the package: sorting tables, the theme switch, hovering.
    """
    script = _file("page.js") if is_interactive else ""
    end = f"<script>{script}</script>" if script else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script)}">'
        f"<title>{safe(title)}</title></head>\n"
        f"<body class='hd-body'>{fragment(body)}{end}</body></html>\n"
    )
