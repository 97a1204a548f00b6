"""The public names and their signatures are frozen: ``tests/api.txt`` is what users rely on.

After a change that you want, renew the file: python tests/test_api.py
"""

from __future__ import annotations

import inspect
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import heterophily

FILE = Path(__file__).with_name("api.txt")
REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"


def describe() -> str:
    """Return one line for each public name, and one for each public member of a class."""
    lines: list[str] = []
    for name in heterophily.__all__:
        value = getattr(heterophily, name)
        if inspect.isclass(value):
            bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
            lines.append(f"class {name}({bases})" if bases else f"class {name}")
            lines.extend(f"    {line}" for line in members(value))
        elif callable(value):
            lines.append(f"{name}{signature(value)}")
        else:
            lines.append(f"{name}: {type(value).__name__}")
    return "\n".join(lines) + "\n"


def members(cls: type) -> Iterator[str]:
    """Public methods and properties that the package itself defines, and the constructor."""
    if not issubclass(cls, Exception):
        yield f"__init__{signature(cls.__init__)}"
    owners = {
        name: owner
        for owner in reversed(cls.__mro__)
        if owner.__module__.startswith("heterophily.")
        for name in vars(owner)
    }
    for name in sorted(owners):
        value = inspect.getattr_static(owners[name], name)
        if name.startswith("_"):
            continue
        if isinstance(value, property) or type(value).__name__ == "cached_property":
            yield f"{name}: property"
        elif isinstance(value, classmethod):
            yield f"classmethod {name}{signature(value.__func__)}"
        elif inspect.isfunction(value):
            yield f"{name}{signature(value)}"


def signature(value: Any) -> str:
    """The signature as text, without quotes around types and addresses of default objects."""
    text = re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(value)))
    return re.sub(r"""(: |-> )(['"])(.*?)\2(?=,|\)| = |$)""", r"\1\3", text)


def test_public_names_and_signatures_are_those_of_the_file() -> None:
    assert describe() == FILE.read_text("utf-8"), "renew it with: python tests/test_api.py"


def test_reference_has_every_public_name_once() -> None:
    tool = runpy.run_path(str(REFERENCE / "names.py"))
    pages = [tool["filled"](page.read_text("utf-8")) for page in REFERENCE.glob("*.md")]
    shown = [name for page in pages for name in tool["names"](page)]
    assert sorted(shown) == sorted(heterophily.__all__)


if __name__ == "__main__":
    FILE.write_text(describe(), "utf-8")
