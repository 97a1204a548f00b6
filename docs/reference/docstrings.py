"""Docstrings for the site: formulas become MathML, roles become links. Nothing runs in a browser.

The docstrings of the package are written with ``.. math::`` and ``:class:``, which Markdown does
not know. This extension of griffe rewrites them when the site is built.
"""

from __future__ import annotations

import re
from typing import Any

import griffe
from latex2mathml.converter import convert

_BLOCK = re.compile(r"^( *)\.\. math::((?:.*\n?)(?:\1 +\S.*\n?|[ ]*\n(?=\1 +\S))*)", re.MULTILINE)
_INLINE = re.compile(r":math:`([^`]+)`")
_ROLE = re.compile(r":(?:class|func|data|meth|mod|attr|obj):`(~?)([^`<]+?)(?:\s*<[^`]*>)?`")
_TOGETHER = re.compile(r"^( *)(\w+(?:, \w+)+)\n((?:\1 +\S.*\n?)+)", re.MULTILINE)
_EXAMPLE = re.compile(r"^( *)>>> .*\n(?:\1\S.*\n?)*", re.MULTILINE)
_SECTION = re.compile(r"^ *Examples\n *-{3,}$", re.MULTILINE)  # griffe fences what is below it


def mathml(formula: str, display: str) -> str:
    """Return a formula as MathML that Markdown leaves alone."""
    markup = convert(" ".join(formula.split()), display=display)
    markup = markup.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    return markup.replace("*", "&#42;").replace("_", "&#95;").replace("|", "&#124;")


def markdown(text: str) -> str:
    """Rewrite one docstring."""
    text = _TOGETHER.sub(_one_by_one, text)
    text = _BLOCK.sub(lambda m: f"{m[1]}{mathml(m[2], 'block')}\n\n", text)
    # Markdown takes a formula at the start of a line for a block, a span for a word.
    text = _INLINE.sub(lambda m: f"<span>{mathml(m[1], 'inline')}</span>", text)
    text = _ROLE.sub(_link, text)
    section = _SECTION.search(text)
    end = section.start() if section else len(text)
    return _EXAMPLE.sub(_fence, text[:end] + ("" if section else "\n")) + text[end:]


def _one_by_one(match: re.Match[str]) -> str:
    """Give parameters that share a text an entry each, so that each shows its own default."""
    return "".join(f"{match[1]}{name}\n{match[3]}" for name in match[2].split(", "))


def _fence(match: re.Match[str]) -> str:
    return f"{match[1]}```pycon\n{match[0].rstrip()}\n{match[1]}```\n"


def _link(match: re.Match[str]) -> str:
    name = match[2].lstrip("~")
    shown = name.rpartition(".")[2] if match[1] else name
    return f'<autoref identifier="{name}" optional><code>{shown}</code></autoref>'


class Docstrings(griffe.Extension):
    """Rewrites every docstring as it is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
