"""The slow second reading of a text table that finds the line to name in a message."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from heterophily.data.labels import NUMBER
from heterophily.data.wording import short

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


def line_of_row(lines: Lines, delimiter: str, row: int) -> int:
    """Return the line of the file on which data row ``row`` (from 0) begins.

    >>> line_of_row((b"a,b\\n\\nc,d\\n", 2), ",", 1)
    4
    """
    for index, (line, _) in enumerate(_records(lines, delimiter)):
        if index == row:
            return line
    return lines[1] + row


def unclosed_quote(lines: Lines, delimiter: str) -> int | None:
    """Return the line of the row in which the file ends inside a quoted value, if it does."""
    last = lines[1]
    try:
        for line, cells in _records(lines, delimiter, strict=True):
            last = line + 1 + sum(cell.count("\n") for cell in cells)
    except csv.Error as error:
        return last if "unexpected end" in str(error) else None
    return None


def find_problem(
    lines: Lines, delimiter: str, columns: Sequence[str], numbers: Sequence[str], advice: str
) -> str | None:
    """Describe the first row that is not text, has too many cells, or a cell that is no number."""
    places = [(columns.index(name), name) for name in numbers]
    row = 0
    try:
        for row, (line, cells) in enumerate(_records(lines, delimiter), start=1):
            place = f"line {line} (data row {row})"
            if not "".join(cells).isascii():
                try:
                    "".join(cells).encode("utf-8")
                except UnicodeEncodeError:
                    return f"{place}: not UTF-8 text; save the file as UTF-8"
            if len(cells) != len(columns):
                return (
                    f"{place}: {len(cells)} cells, expected {len(columns)} "
                    f"(columns separated by {delimiter!r}); quote a value that contains it, or "
                    "pass another delimiter"
                )
            for index, name in places:
                if cells[index] and not NUMBER.fullmatch(cells[index]):
                    return (
                        f"{place}, column {short(name)}: {short(cells[index])} is not a number; "
                        f"{advice}"
                    )
    except csv.Error as error:
        return f"after data row {row}: {error}"
    return None
