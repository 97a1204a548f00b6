"""TOML files of users: whatever is wrong with one is a sentence."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from heterophily.errors import InputError

_LARGEST = 64 * 2**20  # bytes of a file that is written by hand


def read_text(path: Path, *, most: int = _LARGEST) -> str:
    """Return the text of a regular file, without the mark of bytes that some editors set in front.

    A pipe without a writer would never end.
    """
    if path.exists() and not path.is_file():
        raise InputError(f"{path} cannot be read: it is not a regular file")
    if path.stat().st_size > most:
        raise InputError(f"{path} is larger than {most / 1e6:,.0f} MB; name another file")
    return path.read_text("utf-8-sig")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    try:
        return tomllib.loads(read_text(path))
    except InputError:
        raise
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
