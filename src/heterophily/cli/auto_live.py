"""The leaderboard of ``train auto`` while it runs: a live table on a terminal, else silence."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from heterophily.report.live import duration

if TYPE_CHECKING:
    from heterophily.prediction.leaderboard import BoardRow, Standing

SHOWN = 6
_EVERY = 0.5  # seconds between two drawings


@contextmanager
def live_leaderboard(
    graph: str, splits: int, *, is_shown: bool | None = None
) -> Iterator[Callable[[Standing], None] | None]:
    """Give a callback that draws the leaderboard on stderr, or None when it is not a terminal."""
    if is_shown is None:
        is_shown = sys.stderr.isatty()
    if not is_shown:
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, force_terminal=True)
    with Live(console=console, transient=True, auto_refresh=False) as screen:
        drawn = [0.0]

        def draw(standing: Standing) -> None:
            if time.monotonic() - drawn[0] > _EVERY:
                drawn[0] = time.monotonic()
                screen.update(_table(graph, splits, standing), refresh=True)

        yield draw


def headline(graph: str, standing: Standing) -> str:
    """Say how far a search is.

    >>> from heterophily.prediction.leaderboard import Standing
    >>> headline("cora", Standing(0.25, 135.0, 17, list))
    'auto on cora: 25 % of the time, at most 2 min left, 17 trainings'
    """
    return (
        f"auto on {graph}: {min(100, int(100 * standing.share))} % of the time, at most "
        f"{duration(standing.left)} left, {standing.trainings} trainings"
    )


def _table(graph: str, splits: int, standing: Standing) -> Any:
    from heterophily.prediction.auto_text import cells
    from heterophily.report.tables import terminal

    found = standing.rows()
    rows: list[BoardRow] = [*found[:SHOWN], *(row for row in found[SHOWN:] if row.is_baseline)]
    head = ["model", "setting", "splits", "validation", "95 % interval"]
    return terminal(head, [cells(row, splits) for row in rows], title=headline(graph, standing))
