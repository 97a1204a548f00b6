"""Fuzz every reader: ``python tests/fuzz/run.py [--share 0.1] [--only NAME] [--seed 0]``.

Every input is read in a process with limited memory and an alarm. Refused means: one of our errors.
Failed means: any other exception, a reading beyond ten seconds, more than one gigabyte beyond what
the process had, an answer that an independent reading contradicts, or the end of the process.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

SECONDS = 10  # of processor time
WALL_SECONDS = 60  # of the clock: other programs may be at work
ROOM = 2**30


class SlowError(BaseException):
    """An input took too long."""


def _alarm(*_: object) -> None:
    raise SlowError


def seed_of(name: str, seed: int) -> int:
    """Return a seed for a kind of input that does not depend on the others."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:4])


def fuzz(name: str, count: int, *, seed: int = 0, keep: Path | None = None) -> dict[str, int]:
    """Draw inputs of a kind; return how many had which end."""
    import resource

    from fuzz.targets import TARGETS

    from heterophily.errors import HeterophilyError

    attempt = TARGETS[name][0]()
    ends: collections.Counter[str] = collections.Counter()
    signal.signal(signal.SIGALRM, _alarm)
    signal.signal(signal.SIGPROF, _alarm)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    for number in range(count):
        rng = np.random.default_rng([seed_of(name, seed), number])
        place = Path(tempfile.mkdtemp(prefix="fuzz-"))
        held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (held + ROOM, before[1]))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
        end, why = "failed", ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                end = attempt(rng, place)
        except HeterophilyError:
            end = "refused"
        except SlowError:
            why = "slow"
        except Exception:
            why = traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.setitimer(signal.ITIMER_PROF, 0)
            resource.setrlimit(resource.RLIMIT_DATA, before)
        ends[end] += 1
        if end in ("failed", "wrong"):
            print(f"--- {name}, input {number}: {end}\n{why}", file=sys.stderr)
            if keep is not None:
                shutil.copytree(place, keep / f"{name.replace(' ', '-')}-{number}")
        shutil.rmtree(place, ignore_errors=True)
    return dict(ends)


def _in_child(name: str, count: int, seed: int, keep: Path | None) -> Iterator[tuple[str, int]]:
    """Run a kind of input in a process of its own, so that a crash is seen and costs nothing."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            ends = fuzz(name, count, seed=seed, keep=keep)
            os.write(writing, "\n".join(f"{end} {n}" for end, n in ends.items()).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if status:
        yield "failed", 1
        print(f"--- {name}: the process ended with status {status}", file=sys.stderr)
    for line in text.splitlines():
        end, number = line.split()
        yield end, int(number)


def main() -> int:
    """Print a table; return 1 when anything failed."""
    from fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="part of the full run")
    parser.add_argument("--only", help="one kind of input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for inputs that failed")
    given = parser.parse_args()
    columns = ("inputs", "right", "accepted", "refused", "wrong", "failed")
    print(
        f"{'input':18}"
        + "".join(f"{column:>10}" for column in columns)
        + f"{'seconds':>10}{'CPU':>7}"
    )
    total: collections.Counter[str] = collections.Counter()
    start = time.monotonic()
    for name, (_, count) in TARGETS.items():
        if given.only not in (None, name):
            continue
        begin, spent, ends = time.monotonic(), _cpu(), collections.Counter[str]()
        for end, number in _in_child(name, int(count * given.share), given.seed, given.keep):
            ends[end] += number
        ends["inputs"] = sum(ends.values())
        total += ends
        _print(name, ends, columns, time.monotonic() - begin, _cpu() - spent)
    _print("all", total, columns, time.monotonic() - start, _cpu())
    return int(bool(total["wrong"] or total["failed"]))


def _cpu() -> float:
    """Return the processor seconds of all kinds that are done."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _print(
    name: str, ends: collections.Counter[str], columns: tuple[str, ...], took: float, cpu: float
) -> None:
    cells = "".join(f"{ends[column]:>10,}" for column in columns)
    print(f"{name:18}{cells}{took:>10.0f}{cpu:>7.0f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
