"""Tables: text to the left, numbers to the right, and columns that sort."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heterophily.page.text import safe


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell: HTML, whether it is a number, and what it is sorted by (else its text)."""

    html: str
    is_number: bool = False
    order: float | None = None

    def __str__(self) -> str:
        """Return the element."""
        kind = " class='number'" if self.is_number else ""
        order = "" if self.order is None else f" data-order='{self.order:.12g}'"
        return f"<td{kind}{order}>{self.html}</td>"


def number(value: float | None, text: str) -> TableCell:
    """Return a cell with a number; without a value it sorts last."""
    return TableCell(safe(text), is_number=True, order=float("-inf") if value is None else value)


def table(
    header: Sequence[str], rows: Sequence[Sequence[TableCell | str]], *, is_sorted: bool = False
) -> str:
    """Return a table; plain strings are escaped. ``is_sorted``: a click on a head sorts it."""
    heads = []
    for place, text in enumerate(header):
        is_number = any(isinstance(row[place], TableCell) and row[place].is_number for row in rows)  # type: ignore[union-attr]
        kind = " class='number'" if is_number else ""
        inside = safe(text)
        if is_sorted and text:
            inside = f"<button type='button'>{inside}</button>"
        heads.append(f"<th scope='col'{kind}>{inside}</th>")
    body = "\n".join(
        "<tr>"
        + "".join(str(c if isinstance(c, TableCell) else TableCell(safe(c))) for c in row)
        + "</tr>"
        for row in rows
    )
    kind = " class='sorts'" if is_sorted else ""
    return (
        f"<div class='wide'><table{kind}><thead><tr>{''.join(heads)}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )
