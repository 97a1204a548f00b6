"""A graph source as a TOML file: names of files in it are relative to the file's own folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from heterophily.data.toml_file import read_toml, toml_text
from heterophily.errors import InputError

FILES = ("graph", "edges", "nodes", "data_folder")
_HEADER = "# How a graph is read. Every command of heterophily takes this file as its GRAPH."


def write_recipe(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write plain data as a recipe, atomically."""
    from heterophily.data.atomic import write_text

    target = Path(path)
    if target.suffix.lower() != ".toml":
        raise InputError(f"{target}: the name of a recipe ends in .toml")
    folder = Path(os.path.realpath(target)).parent
    content = _with_files(content, lambda name: _seen_from(folder, name))
    plain = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    lines = [_HEADER, *(f"{key} = {toml_text(value)}" for key, value in plain.items())]
    for key, table in content.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{key}]"]
            lines += [f"{toml_text(name)} = {toml_text(value)}" for name, value in table.items()]
    try:
        write_text(target, "\n".join(lines) + "\n")
    except UnicodeEncodeError:
        raise InputError(f"cannot write {target}: a name in it is no Unicode text") from None


def read_recipe(path: str | Path) -> dict[str, Any]:
    """Return the content of a recipe, names of files as seen from the working folder."""
    folder = Path(path).parent
    return _with_files(read_toml(Path(path)), lambda name: str(folder / name))


def _with_files(content: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """Return a copy in which the names of files are changed; catalog names are none."""
    from heterophily.data.source import FILE_KINDS

    def changed(key: str, value: Any) -> Any:
        is_name = key == "graph" and Path(str(value)).suffix.lower() not in FILE_KINDS
        return value if is_name or not isinstance(value, str) else change(value)

    return {key: changed(key, value) if key in FILES else value for key, value in content.items()}


def _seen_from(folder: Path, name: str) -> str:
    """Return a file name relative to a folder; an absolute one stays if it lies elsewhere."""
    path = Path(name)
    real = Path(os.path.realpath(path.parent)) / path.name
    if path.is_absolute() and not real.is_relative_to(folder):
        return name
    try:
        return Path(os.path.relpath(real, folder)).as_posix()
    except ValueError:  # on another drive
        return str(real)
