"""TOML files of users: whatever is wrong with one is a sentence."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from heterophily.errors import InputError


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except RecursionError:
        raise InputError(f"{path} is not TOML that can be read: it is nested too deeply") from None
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise InputError(f"{path} is not TOML: {error}") from None


def is_plain(value: Any) -> bool:
    """Whether a value is a text, a number, a truth value, or a list of these."""
    if isinstance(value, (list, tuple)):
        return all(is_plain(item) and not isinstance(item, (list, tuple)) for item in value)
    return isinstance(value, (str, int, float))


def toml_text(value: Any) -> str:
    """Write a text, number, truth value or list of these as TOML.

    >>> print(toml_text(["a", 'say "b"', 1.5, True]))
    ["a", "say \\"b\\"", 1.5, true]
    """
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    # JSON is alike, but for one control character
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
