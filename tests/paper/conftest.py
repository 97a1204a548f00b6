"""The tables of the paper, read from its LaTeX source: the witness of the data files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

Rows = list[list[str]]

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "paper" / "revisiting-heterophily.tex"

# Commands that wrap or colour a cell: dropped together with their settings, the content stays.
_WRAPPERS = re.compile(
    r"\\(?:cellcolor|textcolor)\[rgb\]\{[^}]*\}"
    r"|\\multirow\{?\d+\}?(?:\[\d+\])?\{\*\}"
    r"|\\multicolumn\{\d+\}\{(?:[^{}]|\{[^{}]*\})*\}"
    r"|\\(?:textbf|underline)\b"
)
_RULES = re.compile(r"\\(?:toprule|midrule|bottomrule|cmidrule\{[^}]*\})")


def _cell(source: str) -> str:
    """Return the text of a cell: sets are written <a, b>, plus-minus is ±, a check mark is x."""
    text = _WRAPPERS.sub("", source).replace(r"$\pm$", " ± ").replace(r"$\checkmark$", "x")
    text = text.replace(r"\{", "<").replace(r"\}", ">").replace("{", "").replace("}", "")
    return " ".join(text.split())


def read_rows(source: str, label: str) -> Rows:
    """Return the rows of the table that carries a label."""
    place = source.index(rf"\label{{{label}}}")
    begin = source.rindex(r"\begin{table", 0, place)
    end = source.index(r"\end{table", place)
    body = source[begin:end].split(r"\begin{tabular}", 1)[1].split(r"\end{tabular}", 1)[0]
    body = re.sub(r"^\{(?:[^{}]|\{[^{}]*\})*\}", "", body)
    rows = [_RULES.sub("", row).split("&") for row in re.split(r"\\\\", body)]
    return [[_cell(cell) for cell in row] for row in rows if len(row) > 1]


@pytest.fixture(scope="session")
def paper_rows() -> Callable[[str], Rows]:
    """Rows of a table by label; the LaTeX is HETEROPHILY_PAPER or lies beside the project."""
    path = Path(os.environ.get("HETEROPHILY_PAPER", _BESIDE))
    if path.is_dir():
        path = path / _BESIDE.name
    if not path.is_file():
        pytest.skip(f"the LaTeX of the paper is not at {path}; set HETEROPHILY_PAPER to it")
    source = path.read_text(encoding="utf-8")
    return lambda label: read_rows(source, label)
