"""Chosen settings in a file: what ``tune`` writes and ``train --config`` reads. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heterophily.data.atomic import write_text
from heterophily.data.toml_file import is_plain, read_toml, toml_text
from heterophily.errors import InputError, lookup
from heterophily.paper.presets import CONFIG_FIELDS

_KEYS = ("model", "graph", "config", "options")


def write_settings(
    path: Path, settings: Mapping[str, Any], *, model: str, graph: str, why: str
) -> None:
    """Write settings as TOML, fields of the trainer and options of the model apart."""
    config = {key: value for key, value in settings.items() if key in CONFIG_FIELDS}
    options = {key: value for key, value in settings.items() if key not in CONFIG_FIELDS}
    lines = [f"# {why}", f"model = {toml_text(model)}", f"graph = {toml_text(graph)}"]
    for name, values in (("config", config), ("options", options)):
        lines += ["", f"[{name}]"]
        lines += [f"{key} = {toml_text(value)}" for key, value in values.items()]
    write_text(path, "\n".join(lines) + "\n")


def read_settings(path: Path) -> dict[str, Any]:
    """Read a file of :func:`write_settings`: ``model``, ``graph``, ``config``, ``options``."""
    content = read_toml(path)
    for key in content:
        lookup(dict.fromkeys(_KEYS), f"key of {path.name}", key)
    for part in ("config", "options"):
        if not isinstance(content.setdefault(part, {}), dict):
            raise InputError(
                f"{path.name}: {part} must be a table; write [{part}] and its values below"
            )
        for key, value in content[part].items():
            if not is_plain(value):
                raise InputError(
                    f"{path.name}: {part}.{key} must be a number, a text or a list of these"
                )
    for key in ("model", "graph"):
        if not isinstance(content.get(key, ""), str):
            raise InputError(f"{path.name}: {key} must be a name in quotes")
    for key in content["config"]:
        lookup(dict.fromkeys(CONFIG_FIELDS), f"key of [config] in {path.name}", key)
    return content
