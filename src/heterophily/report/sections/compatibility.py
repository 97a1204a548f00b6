"""Class compatibility as a heat map with the class sizes."""

from __future__ import annotations

from typing import Any

from heterophily.page.svg import figure, picture
from heterophily.page.text import safe, short
from heterophily.report.figures.compatibility import alternative

_WRITTEN = 12  # up to so many classes the numbers stand in the cells
_LETTERS = 18


def compatibility_part(found: dict[str, Any]) -> str:
    """Draw the matrix of :func:`~heterophily.report.figures.compatibility.matrix`."""
    names, shares = found["classes"], found["shares"]
    count = len(names)
    side = 46 if count <= _WRITTEN else 20
    longest = min(_LETTERS, max(map(len, map(str, names))))
    left, top = 12 + 6.4 * longest, 10
    marks = []
    for row, values in enumerate(shares):
        y = top + side * row
        marks.append(
            f"<text text-anchor='end' x='{left - 6:.0f}' y='{y + side / 2 + 4:.0f}'>"
            f"{short(names[row], _LETTERS)}</text>"
        )
        for column, value in enumerate(values):
            x = left + side * column
            title = (
                f"class {names[row]} to class {names[column]}: {100 * value:.1f} % of the "
                "neighbours"
            )
            marks.append(
                f"<rect class='cell' x='{x:.0f}' y='{y}' width='{side - 1}' height='{side - 1}' "
                f"style='fill:rgba(var(--heat),{0.06 + 0.94 * value:.3f})'>"
                f"<title>{safe(title)}</title></rect>"
            )
            if count <= _WRITTEN:
                marks.append(
                    f"<text class='ink quiet' text-anchor='middle' x='{x + side / 2:.0f}' "
                    f"y='{y + side / 2 + 4:.0f}'>{value:.2f}</text>"
                )
    bottom = top + side * count
    for column, name in enumerate(names):
        x = left + side * (column + 0.5)
        marks.append(
            f"<text text-anchor='end' transform='translate({x + 4:.0f} {bottom + 8}) rotate(-90)'>"
            f"{short(name, _LETTERS)}</text>"
        )
    height = bottom + 16 + 6.4 * longest
    sizes = ", ".join(
        f"{name} ({size:,})" for name, size in zip(names, found["sizes"], strict=True)
    )
    return figure(
        picture(left + side * count + 10, height, "".join(marks), alternative({"panels": [found]})),
        "Row: class of the node; column: class of its neighbour; shares of each row add up to 1. "
        f"The diagonal is homophily within the class. Nodes per class: {sizes}.",
    )
