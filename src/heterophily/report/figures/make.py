"""Make a figure: read or collect its record, draw it, write SVG, PNG and the record beside."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heterophily.data.atomic import write_text
from heterophily.data.toml_file import read_text
from heterophily.data.wording import count, safe_name
from heterophily.errors import InputError, lookup
from heterophily.evaluation.split_rules import rule_of
from heterophily.report.figures.catalog import FIGURES, Figure
from heterophily.report.figures.request import Request, name_of
from heterophily.report.style import note_below, save, style
from heterophily.runs.record import command_line, versions

FORMAT = 1
"""Raised when a figure needs other data than its stored records hold: they are made again."""


@dataclass(frozen=True)
class Made:
    """A figure on disk: its record, its alternative text, and its files."""

    record: dict[str, Any]
    alternative: str
    files: tuple[Path, ...]


def make_figure(name: str, request: Request, *, out: Path) -> Made:
    """Draw a figure into a folder: ``NAME.svg``, ``NAME.png`` and its record ``NAME.json``.

    A record that answers the same request is read, not made again: it is drawn without data and
    without training. Models are trained in the store of the request, or in ``out/runs.sqlite``.
    """
    figure = lookup(FIGURES, "figure", name)
    if not figure.module:
        raise InputError(f"{name} is a study of its own: heterophily paper figure {name} --help")
    request = replace(
        request,
        graphs=request.graphs or figure.graphs,
        models=request.models or figure.models,
        repeats=request.repeats or figure.repeats,
        runs=request.store or out / "runs.sqlite",
    )
    if len(request.graphs) > figure.most_graphs:
        raise InputError(
            f"{name} draws at most {count(figure.most_graphs, 'graph')}, got {len(request.graphs)}"
        )
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: it is a file; name a folder")
    out.mkdir(parents=True, exist_ok=True)
    stem = out / (name + _suffix(figure, request))
    path = stem.with_name(stem.name + ".json")
    record = _record(name, figure, request, path)
    with style():
        drawing = figure.draw(record["data"])
        note_below(drawing, _note(figure, record, path))
        files = save(drawing, stem)
    return Made(record, figure.alternative(record["data"]), (*files, path))


def _suffix(figure: Figure, request: Request) -> str:
    """Return what tells the files of one figure apart: the graphs, unless they are the usual."""
    if request.graphs == figure.graphs and len(figure.graphs) != 1:
        return ""
    return "".join(f"-{safe_name(name_of(graph))}" for graph in request.graphs)


def _record(name: str, figure: Figure, request: Request, path: Path) -> dict[str, Any]:
    identity = json.loads(json.dumps(request.identity(figure.options)))
    known = read_record(path)
    asked = {"format": FORMAT, "figure": name, "request": identity}
    if known is not None and asked.items() <= known.items():
        return known
    record = {
        "format": FORMAT,
        "figure": name,
        "request": identity,
        "data": figure.collect(request),
        "versions": versions(),
        "command": command_line(),
    }
    write_text(path, json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n")
    return record


def read_record(path: Path) -> dict[str, Any] | None:
    """Return the record in a file, or None if there is none; another file is refused."""
    try:
        content = json.loads(read_text(path, most=2**32))
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        raise InputError(f"{path} is not a record of a figure; move it away") from error
    if not isinstance(content, dict) or not {"figure", "request", "data"} <= content.keys():
        raise InputError(f"{path} is not a record of a figure; move it away")
    return content


def _note(figure: Figure, record: dict[str, Any], path: Path) -> str:
    """Return the line under the picture: which records it was drawn from."""
    asked, runs = record["request"], record["data"].get("runs", [])
    words = [f"Drawn from {path.name}"]
    if runs:
        engines = " and ".join(sorted({run["engine"] for run in runs}))
        splits = f"{rule_of(asked['splits'])} splits, seed {asked['seed']}"
        words.append(f"{count(len(runs), 'run')}, {splits}")
        preset = asked["preset"]
        words.append("default settings" if preset is None else f"{preset} settings, else defaults")
        words.append(f"{engines} engine")
    else:
        words.append(figure.records)
    return "; ".join(words) + "."
