"""Watch a study grow: a live table on a terminal, one line per finished cell elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heterophily.report.tables import NOTHING, cell_text, printed, terminal

if TYPE_CHECKING:
    from rich.console import Group

    from heterophily.runs.cell import CellResult


@dataclass(frozen=True)
class Watched:
    """A cell to watch: where it stands, its keys, and how to read it once they are finished."""

    row: str
    dataset: str
    keys: frozenset[str]
    result: Callable[[], CellResult]


def duration(seconds: float) -> str:
    """Write a duration for people.

    >>> duration(8), duration(125), duration(7300)
    ('8 s', '2 min', '2.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class CellCounts:
    """Counts finished runs, reads each cell once when it is finished, estimates the time left."""

    def __init__(self, cells: Sequence[Watched]) -> None:
        self.cells = [cell for cell in cells if cell.keys]
        self.results: dict[tuple[str, str], CellResult] = {}
        self.began: tuple[float, int] | None = None
        self.line = ""

    def update(self, finished: set[str], total: int) -> list[CellResult]:
        """Take note of what is finished; return the cells that became complete."""
        now = time.monotonic()
        if self.began is None:
            self.began = (now, len(finished))
        self.counts = {(c.row, c.dataset): len(c.keys & finished) for c in self.cells}
        fresh = []
        for cell in self.cells:
            place = (cell.row, cell.dataset)
            if place not in self.results and self.counts[place] == len(cell.keys):
                self.results[place] = cell.result()
                fresh.append(self.results[place])
        self.line = f"{len(finished)} of {total} runs{self._left(now, len(finished), total)}"
        return fresh

    def _left(self, now: float, finished: int, total: int) -> str:
        assert self.began is not None
        start, before = self.began
        if finished == total:
            return f", {duration(now - start)}"
        if finished == before:
            return ""
        left = (now - start) / (finished - before) * (total - finished)
        return f", about {duration(left)} left"

    def text(self, row: str, dataset: str) -> str:
        """Return what a cell shows at the moment."""
        if (row, dataset) in self.results:
            return cell_text(self.results[row, dataset])
        wanted = [c for c in self.cells if (c.row, c.dataset) == (row, dataset)]
        return f"{self.counts[row, dataset]}/{len(wanted[0].keys)}" if wanted else NOTHING


@contextmanager
def watching(
    cells: Sequence[Watched], *, title: str, is_terminal: bool | None = None
) -> Iterator[Callable[[set[str], int], None]]:
    """Give a ``watch`` callback that shows the progress on stderr."""
    progress = CellCounts(cells)
    if not (sys.stderr.isatty() if is_terminal is None else is_terminal):
        yield lambda finished, total: _print_lines(progress, finished, total)
        return
    from rich.console import Console, Group
    from rich.live import Live

    rows = list(dict.fromkeys(cell.row for cell in progress.cells))
    datasets = list(dict.fromkeys(cell.dataset for cell in progress.cells))

    def picture() -> Group:
        texts = [[row, "", *(progress.text(row, d) for d in datasets)] for row in rows]
        return Group(terminal(["model", "", *datasets], texts, title=title), progress.line)

    with Live(console=Console(stderr=True), refresh_per_second=2, transient=True) as live:

        def show(finished: set[str], total: int) -> None:
            progress.update(finished, total)
            live.update(picture())

        yield show


def _print_lines(progress: CellCounts, finished: set[str], total: int) -> None:
    is_first = progress.began is None
    fresh = progress.update(finished, total)
    if is_first:
        print(progress.line, file=sys.stderr, flush=True)
        return
    for cell in fresh:
        beside = f" (paper {printed(cell.published)})" if cell.published else ""
        print(
            f"{cell.dataset}  {cell.row}  {cell_text(cell)}{beside}   {progress.line}",
            file=sys.stderr,
            flush=True,
        )
