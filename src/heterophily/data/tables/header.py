"""The first line of a text table: what separates its cells, and whether they are names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from heterophily.data.labels import NUMBER
from heterophily.data.wording import short
from heterophily.errors import InputError

_USUAL = (",", "\t", ";", "|", " ")
_QUOTED = re.compile(r'"[^"]*"')
_ANNOUNCED = re.compile(r'"?sep=([^"\w])"?')
_DRAWN = re.compile(r"[\s|+:=-]*-{2}[\s|+:=-]*")

_LONGEST_DRAWN = 10_000  # characters


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


def announced_delimiter(line: str) -> str | None:
    """Return the delimiter that a first line announces to Excel.

    >>> announced_delimiter("sep=;"), announced_delimiter("step=;")
    (';', None)
    """
    found = _ANNOUNCED.fullmatch(line.strip("\r\n"))
    return found[1] if found else None


def surplus(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Say where every row has one cell more than the header: "first" or "last", or nowhere ("").

    R writes the names of rows without one for their column; others end each row with a delimiter.

    >>> surplus(["from", "to"], [["1", "a", "b"], ["2", "b", "c"]]), surplus(["p"], [["1", ""]])
    ('first', 'last')
    """
    if not rows or any(len(row) != len(header) + 1 for row in rows):
        return ""
    return "first" if any(row[-1].strip() for row in rows) else "last"


def refuse_drawn_line(name: str, line: int, text: bytes) -> None:
    """Refuse a table that was printed with lines of dashes, as psql and Markdown do."""
    drawn = text.decode("utf-8", "replace").strip()
    if len(drawn) <= _LONGEST_DRAWN and _DRAWN.fullmatch(drawn):
        raise InputError(
            f"{name}, line {line}: {short(drawn)} is a drawn line of a printed table; export the "
            "table as CSV instead (psql: \\copy ... csv header)"
        )


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
            f"{name}, line {line - 1}: {short(filled[0])} is alone in its line, and the next line "
            f"has {len(cells)} cells; if it is a title, remove it, so that the file begins with "
            "the names of its columns"
        )
