"""Run the notebooks and store what they print.

    python docs/notebooks/execute.py             # all of them, outputs written back
    python docs/notebooks/execute.py --check     # run only; a test does this

A cell is run as Python runs it at a prompt: the value of its last expression is shown. No Jupyter
is needed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


def run_cell(source: str, names: dict[str, Any]) -> tuple[str, Any]:
    """Run a cell; return what it printed and the value of its last expression, if it has one.

    >>> run_cell("print('hello')\\n1 + 1", {})
    ('hello\\n', 2)
    """
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), value


def outputs_of(printed: str, value: Any, number: int) -> list[dict[str, Any]]:
    """Return the outputs of a cell as a notebook stores them."""
    found: list[dict[str, Any]] = []
    if printed:
        lines = printed.splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": lines})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if html := getattr(value, "_repr_html_", None):
            data["text/html"] = html().splitlines(keepends=True)
        kind = "execute_result"
        shown = {"data": data, "execution_count": number, "metadata": {}, "output_type": kind}
        found.append(shown)
    return found


def execute(path: Path) -> dict[str, Any]:
    """Run all cells of a notebook in order; return it with their outputs."""
    notebook: dict[str, Any] = json.loads(path.read_text("utf-8"))
    names: dict[str, Any] = {"__name__": "notebook"}
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        number += 1
        printed, value = run_cell("".join(cell["source"]), names)
        cell["execution_count"] = number
        cell["outputs"] = outputs_of(printed, value, number)
    return notebook


def main() -> None:
    """Run all notebooks; store their outputs unless told otherwise."""
    parser = argparse.ArgumentParser(description="Run the notebooks and store what they print.")
    parser.add_argument("--check", action="store_true", help="write nothing back")
    arguments = parser.parse_args()
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = execute(path)
        print("ran", path.name)
        if not arguments.check:
            text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
