"""The slow second reading of a text table that finds the line to name in a message."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from heterophily.data.labels import NUMBER
from heterophily.data.tables.encoding import AS_UTF8
from heterophily.data.wording import short

SHOWN = 20  # problems of a file that are named at once
Lines = tuple[bytes, int]  # the data rows, and the line of the file on which they begin


def _records(
    lines: Lines, delimiter: str, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of each row; undecodable bytes become surrogates."""
    data, line = lines
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8", errors="surrogateescape", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=strict)
    before = 0
    for cells in reader:
        if cells:  # an empty line is no row
            yield line + before, cells
        before = reader.line_num


def first_rows(data: bytes, delimiter: str, *, is_cut: bool, limit: int = 1000) -> list[list[str]]:
    """Return the cells of the first rows; the last row of data that is cut off is left out.

    >>> first_rows(b"a,b\\nc,d\\ne", ",", is_cut=True)
    [['a', 'b'], ['c', 'd']]
    """
    rows: list[list[str]] = []
    try:
        for _, cells in _records((data, 1), delimiter):
            rows.append([cell.encode("utf-8", "replace").decode() for cell in cells])
            if len(rows) > limit:
                break
    except csv.Error:  # reading the columns says why
        return rows
    return rows[:limit] if len(rows) > limit else rows[: len(rows) - is_cut]


def lines_of_rows(lines: Lines, delimiter: str, rows: Sequence[int]) -> list[int | None]:
    """Return the lines of the file on which data rows (from 0) begin, in one reading.

    ``None`` where that cannot be told.

    >>> lines_of_rows((b"a,b\\n\\nc,d\\n", 2), ",", [1, 0])
    [4, 2]
    """
    found: dict[int, int] = {}
    last, wanted = max(rows, default=-1), set(rows)
    try:
        for index, (line, _) in enumerate(_records(lines, delimiter)):
            if index > last:
                break
            if index in wanted:
                found[index] = line
    except csv.Error:  # a cell longer than the csv module takes
        return [found.get(row) for row in rows]
    return [found.get(row, lines[1] + row) for row in rows]


def unclosed_quote(lines: Lines, delimiter: str) -> int | None:
    """Return the line of the row in which the file ends inside a quoted value, if it does."""
    last = lines[1]
    try:
        for line, cells in _records(lines, delimiter, strict=True):
            last = line + 1 + sum(cell.count("\n") for cell in cells)
    except csv.Error as error:
        reasons = ("unexpected end", "field larger")  # a quote that is never closed gives both
        return last if any(reason in str(error) for reason in reasons) else None
    return None


def find_problems(
    lines: Lines, delimiter: str, columns: Sequence[str], numbers: Sequence[str], advice: str
) -> list[str]:
    """Describe the rows that are not text, have too many cells, or a cell that is no number.

    The first SHOWN of them; the first one says what to do.
    """
    places = [(columns.index(name), name) for name in numbers]
    found: list[str] = []
    row = 0
    try:
        for row, (line, cells) in enumerate(_records(lines, delimiter), start=1):
            if len(found) >= SHOWN:
                break
            place = f"line {line} (data row {row})"
            if not "".join(cells).isascii() and not _is_utf8(cells):
                found.append(place if found else f"{place}: not UTF-8 text; {AS_UTF8}")
                continue
            if len(cells) != len(columns):
                remedy = f"(columns separated by {delimiter!r}); " + (
                    "write one edge per line, or pass another delimiter"
                    if delimiter == " "
                    else "quote a value that contains it, or pass another delimiter"
                )
                expected = f"{place}: {len(cells)} cells, expected {len(columns)}"
                found.append(f"{expected} {remedy}" if not found else expected)
                continue
            for index, name in places:
                if cells[index] and not NUMBER.fullmatch(cells[index]):
                    text = f"{place}, column {short(name)}: {short(cells[index])} is not a number"
                    found.append(_with(text, advice, found))
    except csv.Error as error:
        found.append(f"after data row {row}: {error}")
    return found[:SHOWN]


def _with(text: str, remedy: str, found: Sequence[str]) -> str:
    """Add what to do to the first of several problems."""
    return text if found else f"{text}; {remedy}"


def _is_utf8(cells: Sequence[str]) -> bool:
    try:
        "".join(cells).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
