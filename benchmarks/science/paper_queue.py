"""Train what the tables and figures of the paper still lack, one command after the other.

    python benchmarks/science/paper_queue.py --store runs.sqlite --until 06:00

The commands are the lines of ``paper_queue.txt``, most valuable first; STORE in a line is the store
(tables take it from the environment, figures by option). Each is resumable, so this
script may be stopped and started at any moment; what is finished is noted in ``STORE.done``. The
list is read anew after every command: lines can be added, moved or removed while it runs.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

ENTRY = "import sys; from heterophily.cli.app import main; sys.exit(main())"
LIST = Path(__file__).with_suffix(".txt")


def commands(path: Path) -> list[str]:
    """Return the commands of a list, without remarks and empty lines."""
    lines = (line.split(" # ")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def words(command: str, store: Path) -> list[str]:
    """Return the words of a command, with the store in its place."""
    return [str(store) if word == "STORE" else word for word in shlex.split(command)]


def main() -> int:
    """Run the first command that is not finished, until there is none or the time is over."""
    parser = shared.parser(__doc__)
    parser.add_argument("--store", type=Path, help="store of finished runs")
    parser.add_argument("--list", type=Path, default=LIST, help="file with one command per line")
    parser.add_argument("--until", help="start no command after this time, HH:MM")
    parser.add_argument(
        "--show", action="store_true", help="print what is finished and what is not"
    )
    given = parser.parse_args()
    if given.quick:
        print("\n".join(commands(given.list)))
        return 0
    if given.store is None:
        parser.error("name the store of finished runs: --store FILE")
    note = Path(f"{given.store}.done")
    while True:
        finished = note.read_text("utf-8").splitlines() if note.exists() else []
        if given.show:
            for command in commands(given.list):
                print("done " if command in finished else "open ", command)
            return 0
        missing = [command for command in commands(given.list) if command not in finished]
        if not missing or (given.until and f"{datetime.now():%H:%M}" >= given.until):
            return 0
        print(f"{datetime.now():%H:%M:%S} {missing[0]}", flush=True)
        start = time.monotonic()
        code = subprocess.run(
            [sys.executable, "-c", ENTRY, *words(missing[0], given.store)],
            env={**os.environ, "HETEROPHILY_STORE": str(given.store), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
        ).returncode
        print(
            f"{datetime.now():%H:%M:%S} exit {code}, {time.monotonic() - start:.0f} s", flush=True
        )
        if code not in (0, 1):  # 1: some runs failed with a sentence; repeating would not help
            return code
        with note.open("a", encoding="utf-8") as file:
            file.write(missing[0] + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
