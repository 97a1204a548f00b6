"""kill -9 and refused writes at random moments of convert, channels and training on disk.

    python benchmarks/faults/disk_kills.py --kills 60 --folder FOLDER --record results/scale/faults.jsonl
    python benchmarks/faults/disk_kills.py --kills 60 --small-disk          # as root
    python benchmarks/faults/disk_kills.py --kills 6 --edges 1e5 --only training

Each kind of work is done once without disturbance. Then it is begun again and again in child
processes that are killed at random moments, or whose writes are refused: their files may not grow
beyond a random size or, with --small-disk, the disk they write to (a tmpfs of its own) is full at
a random moment and larger again afterwards. The command must then end with one sentence, not with
a traceback. A process that had ended before its disturbance does not count. After every third
disturbance the work may finish. What it leaves must then be the same, to the last bit, as without
disturbance, and no temporary file may be left.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

from heterophily.channels.precompute import compute_channels
from heterophily.channels.recipe import ChannelRecipe
from heterophily.cli.app import main as heterophily
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.synthetic.stream import StreamedGraph
from heterophily.errors import InputError

Work = Callable[[Path], int]


def convert(place: Path) -> int:
    """Convert the tables."""
    tables = [
        "--edges",
        str(place.parent / "edges.parquet"),
        "--nodes",
        str(place.parent / "nodes.parquet"),
    ]
    return heterophily(["convert", *tables, "--out", str(place / "g.disk"), "--memory", "128MB"])


def channels(place: Path) -> int:
    """Compute three powers of a graph that is there."""
    graph = DiskGraph.open(place.parent / "whole" / "g.disk")
    try:
        compute_channels(graph, ChannelRecipe(hops=3), folder=place / "channels")
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def training(place: Path) -> int:
    """Train on channels, with a store."""
    graph = str(place.parent / "whole" / "g.disk")
    os.environ["HETEROPHILY_CHANNELS"] = str(place.parent / "trained-channels")
    store = ["--store", f"sqlite:///{place / 'runs.sqlite'}", "--out", str(place / "model")]
    how = ["--batches", "channels", "--max-epochs", "12", "--batch-size", "256", "--workers", "1"]
    return heterophily(["train", "acm-sgc-1", graph, *how, *store, "--overwrite"])


def left(place: Path) -> dict[str, str]:
    """Return the checksum of every file that the work leaves; not of logs, stores and dates."""
    found = {}
    for path in sorted(place.rglob("*")):
        if (
            path.is_file()
            and path.name not in ("runs.sqlite", "card.json")
            and "runs.sqlite" not in path.name
        ):
            found[str(path.relative_to(place))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def child(work: Work, place: Path, limit: int | None) -> int:
    """Start the work in a process of its own, its output in a file; return its number."""
    number = os.fork()
    if number:
        return number
    code = 70
    try:
        os.setsid()
        with open(place.parent / "output.txt", "wb") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        code = work(place)
    finally:
        os._exit(code)


class SmallDisk:
    """A tmpfs of its own whose size can be changed while files are on it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._mount("-t", "tmpfs", "-o", "size=1g", "tmpfs")

    def _mount(self, *words: str) -> None:
        subprocess.run(["mount", *words, str(self.place)], check=True)

    def leave(self, free: int) -> None:
        """Leave so many bytes free."""
        used = shutil.disk_usage(self.place).used
        self._mount("-o", f"remount,size={(used + free) // 4096 * 4096}")

    def close(self) -> None:
        """Take the disk away, with all files."""
        subprocess.run(["umount", "-l", str(self.place)], check=True)


def campaign(
    name: str,
    work: Work,
    disturbances: int,
    folder: Path,
    seed: int,
    *,
    small_disk: bool,
    latest: float,
) -> dict[str, object]:
    """Disturb one kind of work, within this share of its time; return what happened."""
    rng = random.Random(f"{name} {seed}")
    whole = folder / ("whole" if name == "convert" else f"whole-{name}")
    whole.mkdir(exist_ok=True)
    start = time.monotonic()
    _, status = os.waitpid(child(work, whole, None), 0)
    if status:
        raise SystemExit(f"{name} failed undisturbed: {(folder / 'output.txt').read_text()}")
    seconds, expected = time.monotonic() - start, left(whole)
    largest = max(path.stat().st_size for path in whole.rglob("*") if path.is_file())
    counts = {"killed": 0, "refused": 0, "too_late": 0, "finished": 0}
    everything = sum(path.stat().st_size for path in whole.rglob("*") if path.is_file())
    place = folder / f"disturbed-{name}"
    place.mkdir()
    number = 0
    own = contextlib.closing(SmallDisk(place)) if small_disk else contextlib.nullcontext()
    with own as disk:
        while number < disturbances:
            is_kill = number % (2 if disk else 5) != (1 if disk else 4)
            limit = None
            if not is_kill and disk is not None:
                disk.leave(rng.randrange(4096, max(everything, 8192)))
            elif not is_kill:
                limit = rng.randrange(4096, max(largest, 8192))
            process = child(work, place, limit)
            if is_kill:
                time.sleep(rng.random() * seconds * latest)
                os.killpg(process, signal.SIGKILL) if _is_group(process) else os.kill(
                    process, signal.SIGKILL
                )
            _, status = os.waitpid(process, 0)
            told = (folder / "output.txt").read_text("utf-8", "replace")
            if disk is not None:
                disk.leave(2**30)
            is_late = not os.WIFSIGNALED(status) if is_kill else status == 0
            if is_late:
                counts["too_late"] += 1
            elif is_kill:
                counts["killed"] += 1
            else:
                counts["refused"] += 1
                if "Traceback" in told or "error:" not in told:
                    raise SystemExit(f"{name}: a refused write gave no sentence:\n{told}")
            number += not is_late
            if is_late or number % 3 == 0 or number == disturbances:
                _, status = os.waitpid(child(work, place, None), 0)
                told = (folder / "output.txt").read_text("utf-8", "replace")
                exists = (
                    name == "convert" and "exists; choose another name" in told
                )  # it was finished before
                if (status and not exists) or left(place) != expected:
                    gone = {key for key in expected if left(place).get(key) != expected[key]}
                    raise SystemExit(
                        f"{name}: not the same after disturbance {number}: {gone}\n{told}"
                    )
                counts["finished"] += 1
                for rest in place.iterdir():
                    shutil.rmtree(rest) if rest.is_dir() else rest.unlink()
    return {
        "work": name,
        "full_disk": "tmpfs" if small_disk else "size of files",
        "seconds": round(seconds, 2),
        **counts,
        "files": len(expected),
    }


def _is_group(process: int) -> bool:
    try:
        return os.getpgid(process) == process
    except ProcessLookupError:
        return False


def main() -> int:
    """Run the campaign."""
    parser = shared.parser(__doc__)
    parser.add_argument("--kills", type=int, default=60, help="disturbances in all")
    parser.add_argument("--only", choices=["convert", "channels", "training"])
    parser.add_argument("--small-disk", action="store_true", help="fill a tmpfs; needs root")
    parser.add_argument("--edges", type=shared.count, default=10**6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--record", type=Path, default=None)
    told = parser.parse_args()
    if told.quick:
        told.kills, told.edges, told.record = 3, 2_000, None
    folder = Path(tempfile.mkdtemp(dir=told.folder))
    try:
        nodes = told.edges // 10
        plan = StreamedGraph(num_nodes=nodes, num_edges=told.edges, homophily=0.3, features=20)
        plan.write(folder / "edges.parquet", folder / "nodes.parquet", threads=1)
        every = {"convert": convert, "channels": channels, "training": training}
        for name, work in every.items():
            if told.only not in (None, name):  # the graph alone
                if name == "convert":
                    (folder / "whole").mkdir()
                    convert(folder / "whole")
                continue
            found = campaign(
                name,
                work,
                told.kills if told.only else told.kills // 3,
                folder,
                told.seed,
                small_disk=told.small_disk,
                latest=0.5 if told.quick else 1.0,
            )
            shared.tell({"edges": told.edges, **found}, told.record)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
