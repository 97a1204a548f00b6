"""What the benchmarks share: options, interleaved timing, processes of their own, tables, records.

Every script that measures takes its options from :func:`parser` and so has ``--quick``: the same
code on small graphs, in seconds; what it prints then is no measurement, and no record is kept.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pickle
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS, DOCS, TESTS = ROOT / "results", ROOT / "docs", ROOT / "tests"
SCIENCE = Path(__file__).parent / "science"

NINE = (
    "cornell", "wisconsin", "texas", "film", "chameleon", "squirrel", "cora", "citeseer", "pubmed",
)  # fmt: skip
"""The datasets of the paper with ten fixed splits."""


# --- options --------------------------------------------------------------------------------------


def parser(doc: str | None, **options: Any) -> argparse.ArgumentParser:
    """Return a parser with ``--quick``; the docstring of the script is its help."""
    found = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, **options
    )
    found.add_argument(
        "--quick", action="store_true", help="a small graph, in seconds; keeps no record"
    )
    return found


def names(text: str) -> list[str]:
    """Return names that are separated by commas.

    >>> names("cora,texas")
    ['cora', 'texas']
    """
    return [name for name in text.split(",") if name]


def count(text: str) -> int:
    """Return a whole number, which may be written as ``1e7``.

    >>> count("1e3")
    1000
    """
    return int(float(text))


# --- time -----------------------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Spent:
    """Seconds by the clock, and of the processors: other programs do not lengthen these."""

    wall: float
    cpu: float

    @classmethod
    def on(cls, action: Callable[[], Any]) -> Spent:
        """Return what an action takes; what it returns is dropped."""
        wall, cpu = time.perf_counter(), time.process_time()
        action()
        return cls(time.perf_counter() - wall, time.process_time() - cpu)

    def less(self, other: Spent, *, by: float = 1.0) -> Spent:
        """Return the difference to another time, divided.

        >>> Spent(5.0, 4.0).less(Spent(1.0, 2.0), by=2)
        Spent(wall=2.0, cpu=1.0)
        """
        return Spent((self.wall - other.wall) / by, (self.cpu - other.cpu) / by)

    def __str__(self) -> str:
        return f"{self.wall:7.3f} s wall, {self.cpu:7.3f} s CPU"


Ways = Mapping[str, Callable[[], Any]]


def interleaved(
    ways: Ways, rounds: int, *, seconds: float = math.inf, warm: bool = True
) -> dict[str, list[Spent]]:
    """Let the ways take turns, so that all see the same machine; return their times.

    A way that returns :class:`Spent` has measured itself. The first turn is not counted (``warm``).
    After ``seconds`` no round beyond the fifth begins.
    """
    if warm:
        for way in ways.values():
            way()
    found: dict[str, list[Spent]] = {name: [] for name in ways}
    start = time.perf_counter()
    for done in range(rounds):
        if done >= 5 and time.perf_counter() - start > seconds:
            break
        for name, way in ways.items():
            own: list[Any] = []
            around = Spent.on(lambda way=way, own=own: own.append(way()))  # type: ignore[misc]
            found[name].append(own[0] if isinstance(own[0], Spent) else around)
    return found


def median_ms(turns: Iterable[Spent]) -> float:
    """Return the median of the CPU milliseconds."""
    return 1000 * statistics.median(turn.cpu for turn in turns)


def best(turns: Iterable[Spent]) -> Spent:
    """Return the shortest time by the clock and the shortest of the processors.

    >>> best([Spent(2.0, 1.0), Spent(1.5, 1.2)])
    Spent(wall=1.5, cpu=1.0)
    """
    kept = list(turns)
    return Spent(min(turn.wall for turn in kept), min(turn.cpu for turn in kept))


def times(slow: float, fast: float) -> str:
    """Return a ratio in words of the tables.

    >>> times(6.0, 2.0)
    '3.0x'
    """
    return f"{slow / fast:.1f}x"


# --- processes of their own -----------------------------------------------------------------------


@dataclass(frozen=True)
class Apart:
    """What a function in a process of its own returned, and what the process took."""

    value: Any
    spent: Spent
    peak_mb: float

    def facts(self) -> dict[str, float]:
        """Return the numbers of a record."""
        return {
            "seconds": round(self.spent.wall, 1),
            "cpu_seconds": round(self.spent.cpu, 1),
            "peak_gb": round(self.peak_mb / 1000, 2),
        }


def apart(work: Callable[..., Any], *given: Any, **named: Any) -> Apart:
    """Run a function in a process of its own, so that its memory is its own.

    The process is a fork of this one: import what the function needs inside it, or its peak is
    that of this process too. Ends the script when the function fails.
    """
    sys.stdout.flush()
    receive, send = os.pipe()
    start = time.perf_counter()
    process = os.fork()
    if process == 0:
        os.close(receive)
        _end_with(lambda: work(*given, **named), send)
    os.close(send)
    with os.fdopen(receive, "rb") as stream:
        answer = stream.read()
    _, status, used = os.wait4(process, 0)
    if status or not answer:
        raise SystemExit(f"{getattr(work, '__name__', 'the work')} failed in its own process")
    spent = Spent(time.perf_counter() - start, used.ru_utime + used.ru_stime)
    return Apart(pickle.loads(answer), spent, used.ru_maxrss / 1000)


def _end_with(work: Callable[[], Any], send: int) -> None:
    """Send what the work returns and end this process."""
    code = 1
    try:
        answer = pickle.dumps(work())
        with os.fdopen(send, "wb") as stream:
            stream.write(answer)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def heterophily(*words: object) -> str:
    """Give a command of ours in this process; return what it printed. A failure ends the script."""
    import contextlib
    import io

    from heterophily.cli.app import main

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main([str(word) for word in words])
    if code not in (0, 1):  # 1: a table with cells that are not there yet
        raise SystemExit(f"heterophily {' '.join(map(str, words))[:200]}: exit {code}")
    return printed.getvalue()


def memory_mb(field: str) -> float:
    """Return memory of this process: ``VmRSS`` (now) or ``VmHWM`` (largest so far); Linux."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise SystemExit(f"the kernel does not report {field}")


def forget_peak() -> None:
    """Set the largest memory of this process back to the present; Linux."""
    Path("/proc/self/clear_refs").write_text("5")


def machine() -> dict[str, Any]:
    """Return what a time depends on: processors, load, versions, instructions."""
    from heterophily.runs.record import versions

    return {"processors": os.cpu_count(), "load": round(os.getloadavg()[0], 1), **versions()}


def command() -> str:
    """Return the command of this process, as it stands in the docs."""
    from heterophily.runs.record import command_line

    folder = Path(sys.argv[0]).resolve().parent
    return f"python {folder.relative_to(ROOT).as_posix()}/{command_line()}"


# --- tables and records ---------------------------------------------------------------------------


def line(cells: Iterable[object]) -> str:
    """Return a line of a Markdown table.

    >>> line(["cora", 3])
    '| cora | 3 |'
    >>> line(["", "cora"])
    '| | cora |'
    """
    return "|" + "|".join(f" {cell} " if cell != "" else " " for cell in cells) + "|"


def head(titles: Iterable[str], *, numbers: bool = False) -> str:
    """Return the first two lines of a table; ``numbers``: all columns but the first are numbers."""
    kept = list(titles)
    rest = "---:|" if numbers else "---|"
    return f"{line(kept)}\n|---|{rest * (len(kept) - 1)}"


def shown(path: Path) -> str:
    """Return the path of a file as the docs have it: from the root of the repository.

    >>> shown(RESULTS / "tables" / "sota.json")
    'results/tables/sota.json'
    """
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def read_json(path: Path) -> Any:
    """Return what a file of JSON holds."""
    return json.loads(path.read_text("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write a record, whole or not at all."""
    from heterophily.data.atomic import write_text

    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(value, indent=1) + "\n")


def tell(record: Any, file: Path | None) -> None:
    """Print a record as a line of JSON, and add it to a file if there is one."""
    text = json.dumps(record)
    print(text, flush=True)
    if file is not None:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(text + "\n")


def filled(page: str, begin: str, text: str, end: str) -> str:
    """Return a page with another text between two comments.

    >>> filled("a <!-- x --> b <!-- y --> c", "<!-- x -->", "!", "<!-- y -->")
    'a <!-- x -->!<!-- y --> c'
    """
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"the page has no place for the section: {begin} and {end}")
    return f"{before}{begin}{text}{end}{after}"
