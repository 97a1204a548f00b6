"""Syntax trees of our source files, each parsed once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "heterophily"
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def syntax(path: Path) -> ast.Module:
    """Return the tree of a file."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of the tree of a file."""
    return tuple(ast.walk(syntax(path)))
