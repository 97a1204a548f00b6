"""Charts as inline SVG: a frame with axes, and the few marks that the pages use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from heterophily.page.document import COLOURS
from heterophily.page.text import safe

LETTER = 6.1  # width of a letter of the 11 px labels


def colour(number: int) -> str:
    """Return the class of series ``number``."""
    return f"s{number % COLOURS}"


def ticks(low: float, high: float, *, about: int = 5) -> list[float]:
    """Return round numbers in a range, about so many.

    >>> ticks(0, 1), ticks(0.43, 0.61)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.45, 0.5, 0.55, 0.6])
    """
    span = (high - low) or 1.0
    raw = span / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


class Chart:
    """A frame from data to pixels; marks are added, :meth:`html` closes it.

    >>> chart = Chart(x=(0, 1), y=(0, 1), across="share", up="count")
    >>> chart.dot(0.5, 0.5, "middle")
    >>> "<title>middle</title>" in chart.html("one dot")
    True
    """

    def __init__(
        self,
        *,
        x: tuple[float, float],
        y: tuple[float, float],
        across: str = "",
        up: str = "",
        width: int = 460,
        height: int = 260,
        left: int = 58,
        x_text: Callable[[float], str] | None = None,
        y_text: Callable[[float], str] | None = None,
    ) -> None:
        self.width, self.height = width, height
        self.left, self.top = left, 10
        self.right, self.bottom = width - 12, height - (42 if across else 24)
        self._x, self._y = x, y
        self.marks: list[str] = []
        self._axes(across, up, x_text or _plain, y_text or _plain)

    def x(self, value: float) -> float:
        """Return the pixel of a value on the horizontal axis."""
        low, high = self._x
        return self.left + (value - low) / ((high - low) or 1.0) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Return the pixel of a value on the vertical axis."""
        low, high = self._y
        return self.bottom - (value - low) / ((high - low) or 1.0) * (self.bottom - self.top)

    def _axes(
        self, across: str, up: str, x_text: Callable[[float], str], y_text: Callable[[float], str]
    ) -> None:
        for value in ticks(*self._y, about=4):
            at, text = self.y(value), y_text(value)
            if text:
                self.line(self.left, at, self.right, at, "grid")
                self.text(self.left - 6, at + 4, text, "end")
        for value in ticks(*self._x):
            self.text(self.x(value), self.bottom + 15, x_text(value), "middle")
        self.line(self.left, self.bottom, self.right, self.bottom, "axis")
        if across:
            self.text((self.left + self.right) / 2, self.height - 8, across, "middle")
        if up:
            middle = (self.top + self.bottom) / 2
            self.marks.append(
                f"<text text-anchor='middle' transform='translate(11 {middle:.0f}) rotate(-90)'>"
                f"{safe(up)}</text>"
            )

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Draw a line between pixels."""
        self.marks.append(
            f"<line class='{kind}' x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}'/>"
        )

    def text(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> None:
        """Write at pixels."""
        named = f" class='{kind}'" if kind else ""
        where = "" if anchor == "start" else f" text-anchor='{anchor}'"
        self.marks.append(f"<text{named}{where} x='{x:.1f}' y='{y:.1f}'>{safe(text)}</text>")

    def bar(
        self, x: tuple[float, float], value: float, title: str, kind: str = "fill mark"
    ) -> None:
        """Draw a bar from the bottom over a range of the horizontal axis."""
        left, right, top = self.x(x[0]) + 0.5, self.x(x[1]) - 0.5, self.y(value)
        self.rectangle(left, top, right - left, self.bottom - top, title, kind)

    def rectangle(
        self, left: float, top: float, width: float, height: float, title: str, kind: str
    ) -> None:
        """Draw a rectangle given in pixels; the title shows on hovering."""
        self.marks.append(
            f"<rect class='{kind}' x='{left:.1f}' y='{top:.1f}' width='{max(width, 0):.1f}' "
            f"height='{max(height, 0):.1f}'><title>{safe(title)}</title></rect>"
        )

    def dot(
        self, x: float, y: float, title: str, kind: str = "fill mark", radius: float = 3.5
    ) -> None:
        """Draw a point at values; the title shows on hovering."""
        self.marks.append(
            f"<circle class='{kind}' cx='{self.x(x):.1f}' cy='{self.y(y):.1f}' r='{radius:g}'>"
            f"<title>{safe(title)}</title></circle>"
        )

    def path(
        self, points: Iterable[tuple[float, float]], kind: str, *, is_stepped: bool = False
    ) -> None:
        """Join values by a line; stepped: horizontal, then vertical."""
        words, before = [], None
        for x, y in points:
            at = (self.x(x), self.y(y))
            if is_stepped and before is not None:
                words.append(f"H{at[0]:.1f}V{at[1]:.1f}")
            else:
                words.append(f"{'L' if before else 'M'}{at[0]:.1f} {at[1]:.1f}")
            before = at
        self.marks.append(f"<path class='stroke {kind}' d='{''.join(words)}'/>")

    def html(self, alternative: str) -> str:
        """Return the SVG element with its alternative text."""
        return picture(self.width, self.height, "".join(self.marks), alternative)


def picture(
    width: float, height: float, inside: str, alternative: str, *, attributes: str = ""
) -> str:
    """Return an SVG element that shrinks with its column."""
    return (
        f"<svg role='img' aria-label='{safe(alternative)}' viewBox='0 0 {width:g} {height:g}' "
        f"width='{width:g}'{attributes}>{inside}</svg>"
    )


def cloud(points: Iterable[tuple[float, float]], kind: str) -> str:
    """Return many dots as one path: ten bytes each, and they print well."""
    dots = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in points)
    return f"<path class='cloud {kind}' d='{dots}'/>" if dots else ""


def clouds(groups: Mapping[str, Sequence[tuple[float, float]]], *, parts: int = 4) -> str:
    """Return clouds of several colours, a part of each at a time: none hides the others."""
    return "".join(
        cloud(points[part::parts], kind) for part in range(parts) for kind, points in groups.items()
    )


def legend(names: Sequence[str], kinds: Sequence[str] | None = None) -> str:
    """Return the key of a chart: a coloured mark before each name."""
    classes = kinds or [colour(number) for number in range(len(names))]
    items = "".join(
        f"<span><svg width='12' height='12' aria-hidden='true'><rect class='fill {kind}' y='1' "
        f"width='11' height='11'/></svg>{safe(name)}</span>"
        for name, kind in zip(names, classes, strict=True)
    )
    return f"<p class='legend'>{items}</p>"


def figure(inside: str, caption: str) -> str:
    """Return a figure with its caption (escaped)."""
    return f"<figure>{inside}<figcaption>{safe(caption)}</figcaption></figure>"


def strip(value: float | None, others: dict[str, float] | None = None, spread: float = 0.0) -> str:
    """Draw a value on a line from 0 to 1; others are grey ticks, hovering names them."""

    def at(share: float) -> float:
        return 200 * min(max(share, 0.0), 1.0)

    marks = "".join(
        f"<line class='stroke grey' x1='{at(x):.1f}' x2='{at(x):.1f}' y1='3' y2='15'>"
        f"<title>{safe(name)}: {x:.3f}</title></line>"
        for name, x in (others or {}).items()
    )
    if value is not None:
        low, high = at(value - spread), at(value + spread)
        marks += (
            f"<rect class='fill mark' x='0' y='7' width='{at(value):.1f}' height='4'/>"
            f"<line class='stroke ink' x1='{low:.1f}' x2='{high:.1f}' y1='9' y2='9'/>"
            f"<circle class='fill mark' cx='{at(value):.1f}' cy='9' r='4'/>"
        )
    return (
        "<svg viewBox='-5 0 210 18' width='210' height='18' aria-hidden='true'>"
        f"<line class='axis' x1='0' x2='200' y1='9' y2='9'/>{marks}</svg>"
    )


class PointLabels:
    """Finds a free place for the label of a point: right, left, below or above it."""

    def __init__(self, left: float, right: float, *, letter: float = LETTER) -> None:
        self.left, self.right, self.letter = left, right, letter
        self.taken: list[tuple[float, float, float]] = []  # start, end, baseline

    def place(self, x: float, y: float, letters: int) -> tuple[float, float]:
        """Return start and baseline of a label for the point at these pixels."""
        width = self.letter * letters
        places = [
            (x + 8, y + 4),
            (x - 8 - width, y + 4),
            (x - width / 2, y + 16),
            (x - width / 2, y - 8),
        ]
        for start, baseline in places:
            is_inside = self.left <= start and start + width <= self.right
            if is_inside and self._is_free(start, start + width, baseline):
                break
        else:
            start, baseline = places[0]
        self.taken.append((start, start + width, baseline))
        return start, baseline

    def _is_free(self, start: float, end: float, baseline: float) -> bool:
        return all(
            start > other_end or end < other_start or abs(baseline - line) > 10
            for other_start, other_end, line in self.taken
        )


def _plain(value: float) -> str:
    return f"{value:g}"
