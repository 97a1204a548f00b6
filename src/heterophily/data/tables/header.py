"""The first line of a text table: what separates its cells, and whether they are names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from heterophily.data.labels import NUMBER
from heterophily.data.wording import short
from heterophily.errors import InputError

_USUAL = (",", "\t", ";", "|", " ")
_QUOTED = re.compile(r'"[^"]*"')


def guess_delimiter(line: str) -> str:
    """Return the usual delimiter that occurs most often in a line."""
    return max(_USUAL, key=lambda mark: (line.count(mark), -_USUAL.index(mark)))


def other_delimiter(line: str, usual: str | None) -> str | None:
    """Return what separates the cells of a line in which the usual delimiter does not occur.

    Blanks separate numbers alone: a name may have them.

    >>> other_delimiter("von;nach", ","), other_delimiter("3 4", ","), other_delimiter("my id", ",")
    (';', ' ', None)
    """
    line = _QUOTED.sub('""', line)
    if usual is None or usual in line:
        return None
    other = guess_delimiter(line)
    if other == " " and not all(NUMBER.fullmatch(cell) for cell in line.split()):
        return None
    return other if other in line else None


def has_no_header(cells: Sequence[str], *, is_list: bool) -> bool:
    """Whether a first line holds data: numbers alone.

    In other files than lists of edges 0, 1, 2, ... may be names of columns, as pandas gives them.
    """
    if not all(NUMBER.fullmatch(cell.strip()) for cell in cells):
        return False
    return is_list or [cell.strip() for cell in cells] != [str(k) for k in range(len(cells))]


def named_columns(cells: Sequence[str]) -> list[str]:
    """Return the names of columns, without blanks around them if they then still differ.

    Further ones without a name are called as pandas does.

    >>> named_columns(["id ", " age", "", ""])
    ['id', 'age', '', 'Unnamed: 3']
    """
    stripped = [cell.strip() for cell in cells]
    if len({*stripped}) == len({*cells}):
        cells = stripped
    blank = [place for place, cell in enumerate(cells) if not cell.strip()]
    return [f"Unnamed: {k}" if k in blank[1:] else cell for k, cell in enumerate(cells)]


def refuse_title(name: str, line: int, first: Sequence[str], second: bytes) -> None:
    """Refuse a first line with one filled cell above a line with several: a title, no header.

    ``line`` is that of the second.
    """
    filled = [cell for cell in first if cell.strip()]
    mark = guess_delimiter(second.decode("utf-8", "replace")).encode()
    cells = [cell for cell in second.split(mark) if cell.strip(b' "\r\n')]
    if len(filled) == 1 and mark != b" " and len(cells) > max(2, len(first) // 2):
        raise InputError(
            f"{name}, line {line - 1}: {short(filled[0])} stands alone above a line of "
            f"{len(cells)} cells; if it is a title, remove it, so that the file begins with the "
            "names of its columns"
        )
