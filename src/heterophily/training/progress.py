"""A progress bar with the time left, for people; silent when nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from heterophily.learning.progress import Progress


@contextmanager
def progress_bar(description: str, *, is_shown: bool | None = None) -> Iterator[Progress | None]:
    """Give a ``progress`` callback that draws on stderr, or None when it is not a terminal."""
    if is_shown is None:
        is_shown = sys.stderr.isatty()
    if not is_shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True, force_terminal=True), transient=True) as bar:
        task = bar.add_task(description, total=None)

        def advance(finished: int, total: int) -> None:
            bar.update(task, completed=finished, total=total)

        yield advance
