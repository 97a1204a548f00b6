"""``heterophily info``: what this installation is made of and what it would use."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

CORE = ("heterophily", "torch", "numpy", "scipy")
_EXTRA = re.compile(r"^([\w.-]+).*;\s*extra\s*==\s*['\"](\w+)['\"]$")
_NOT_SHOWN = "dev"
Facts = dict[str, Any]


def info(as_json: Annotated[bool, typer.Option("--json", help="Print data.")] = False) -> None:
    """Show versions, engine, cores, folders and datasets in use, and what is wrong with them."""
    problems: list[str] = []
    facts: Facts = {
        "versions": _versions(),
        "extras": _extras(),
        "engine": _engine(problems),
        "machine": _machine(),
        "data": _data(problems),
        "store": _store(problems),
        "problems": problems,
    }
    if as_json:
        import json

        typer.echo(json.dumps(facts, indent=2))
    else:
        typer.echo(_text(facts))


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: _version(name) or "?" for name in CORE}}


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _extras() -> dict[str, Facts]:
    """Return the packages of each extra with their versions, and the line that installs it."""
    from importlib.metadata import requires

    extras: dict[str, Facts] = {}
    for line in requires("heterophily") or ():
        found = _EXTRA.match(line)
        if found is None or found[2] == _NOT_SHOWN:
            continue
        extra = extras.setdefault(found[2], {"packages": {}})
        extra["packages"][found[1]] = _version(found[1])
    for name, extra in extras.items():
        extra["is_installed"] = None not in extra["packages"].values()
        extra["install"] = f"pip install 'heterophily[{name}]'"
    return extras


def _engine(problems: list[str]) -> Facts:
    from heterophily.errors import InputError
    from heterophily.native.library import ISA_VARIABLE, engine

    facts: Facts = {ISA_VARIABLE: os.environ.get(ISA_VARIABLE)}
    try:
        found = engine()
    except InputError as error:
        problems.append(str(error))
        return {**facts, "active": "torch", "isa": None, "reason": str(error), "library": None}
    return {
        **facts,
        "active": "torch" if found.library is None else "native",
        "isa": found.isa,
        "reason": found.reason,
        "library": None if found.library is None else found.library._name,
    }


def _machine() -> Facts:
    from heterophily.training.cores import usable_cores

    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        **_memory(),
    }


def _memory() -> dict[str, float | None]:
    """Return the memory of the machine and what is free of it, in GiB; None where unknown."""
    kilobytes: dict[str, int] = {}
    meminfo = Path("/proc/meminfo")
    if meminfo.is_file():
        for line in meminfo.read_text("ascii").splitlines():
            name, _, value = line.partition(":")
            kilobytes[name] = int(value.split()[0])
    pairs = (("memory_gb", "MemTotal"), ("available_gb", "MemAvailable"))
    return {
        key: round(kilobytes[name] / 2**20, 1) if name in kilobytes else None for key, name in pairs
    }


def _data(problems: list[str]) -> Facts:
    from heterophily.data.catalog import DATASETS, FOLDER_VARIABLE, cache_folder, find
    from heterophily.data.download import MIRROR_VARIABLE
    from heterophily.errors import InputError

    facts: Facts = {name: os.environ.get(name) for name in (FOLDER_VARIABLE, MIRROR_VARIABLE)}
    facts["cache"] = str(cache_folder())
    found: dict[str, list[str]] = {}
    try:
        for name in DATASETS:
            found.setdefault(find(name)[0], []).append(name)
    except InputError as error:
        problems.append(str(error))
        found = {}
    return {**facts, "datasets": found}


def _store(problems: list[str]) -> Facts:
    from heterophily.errors import UnknownNameError
    from heterophily.runs.stores.url import ENVIRONMENT, default_url, file_of, without_password

    given = os.environ.get(ENVIRONMENT)
    facts: Facts = {ENVIRONMENT: given and without_password(given)}
    try:
        path = file_of()
    except UnknownNameError as error:
        problems.append(f"{ENVIRONMENT}: {error}")
        return {**facts, "path": given, "exists": False}
    if path is None:  # a server, which may be away at the moment
        return {**facts, "path": without_password(default_url()), "exists": True}
    if path.is_dir():
        problems.append(f"{ENVIRONMENT} names {str(path)!r}, which is a folder; name a file")
    elif not path.parent.is_dir():
        problems.append(f"{ENVIRONMENT} names {str(path)!r}, but there is no folder {path.parent}")
    return {**facts, "path": str(path), "exists": path.is_file()}


def _text(facts: Mapping[str, Any]) -> str:
    engine, machine, data, store = (facts[part] for part in ("engine", "machine", "data", "store"))
    lines = [("versions", ", ".join(f"{name} {v}" for name, v in facts["versions"].items()))]
    lines += [
        (
            f"extra {name}",
            "installed" if extra["is_installed"] else f"not installed: {extra['install']}",
        )
        for name, extra in facts["extras"].items()
    ]
    chosen = f"native, {engine['isa']}" if engine["library"] else "torch only"
    lines.append(("engine", f"{chosen} ({engine['reason']})"))
    if engine["library"]:
        lines.append(("library", engine["library"]))
    memory = machine["memory_gb"]
    lines += [
        ("machine", machine["system"]),
        ("cores", f"{machine['usable_cores']} usable of {machine['cores']}"),
        ("memory", "unknown" if memory is None else f"{memory} GB, {machine['available_gb']} free"),
        ("data folder", data["HETEROPHILY_DATA"] or "none (HETEROPHILY_DATA is not set)"),
        ("cache", data["cache"]),
    ]
    lines += [(f"datasets {place}", ", ".join(names)) for place, names in data["datasets"].items()]
    lines.append(("store", f"{store['path']}{'' if store['exists'] else ' (not there yet)'}"))
    lines += [("problem", problem) for problem in facts["problems"]]
    width = max(len(title) for title, _ in lines)
    return "\n".join(f"{title:<{width}}  {text}" for title, text in lines)
