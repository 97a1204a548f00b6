"""Command lines of a clumsy or hostile user: one clear sentence and exit code 2, never a traceback.

All run in this process, in one folder of odd files; a command that waits for something that never
comes is ended by an alarm and fails.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from heterophily.cli.app import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes, links and alarms of POSIX")

SECONDS = 60  # of the clock, for one command on a busy machine
TABLES = ["--edges", "e.csv", "--nodes", "n.csv"]
TRAIN = ["train", "gcn", *TABLES, "--workers", "1"]

FILES = (
    "missing", "empty", "empty.csv", "empty.npz", "bin.csv", "bin.npz", "bin.toml", "folder",
    "folder.npz", "folder.csv", "loop", "loop.csv", "dangling.csv", "fifo.csv", "fifo.npz",
    "fifo.toml", "/dev/null", "/dev/zero", "deep.json", "deep.toml", "dots.toml", "long.csv",
    "nul.csv", "pipe.disk", "", "-",
    "x" * 300, "a/../../..", "texas,cora", "~nobody/x.csv", "lone\udcff.csv",
)  # fmt: skip
NUMBERS = {
    "repeats": ("0", "-1", "nan", "9" * 20, "1e3"),
    "max-epochs": ("0", "-5", "nan", "inf"),
    "seed": ("-1", "nan"),
    "workers": ("0", "-3", "x"),
    "lr": ("nan", "-1", "inf"),
    "memory": ("-1", "nan", "1XB"),
    "option": ("lr", "=3", "hidden=-1", "hidden=nan", "hidden=1e99", "dropout=2", "dropout=nan"),
    "splits": ("nope", "fixed"),
    "label": ("nope",),
    "store": ("e.csv", "folder", "/dev/null", "mysql://x", "sqlite:///", "loop"),
    "out": ("e.csv", "/proc/nope", "/dev/null", "folder"),
    "settings": ("deep.toml", "fifo.toml", "missing", "bin.toml"),
    "engine": ("nope",),
    "batches": ("nope",),
    "edges": ("folder.csv",),
}
OTHER = [
    ["train"],
    ["train", "nope", *TABLES],
    ["train", "", *TABLES],
    ["train", "gcn"],
    ["train", "gcn", "e.csv", "n.csv"],
    ["train", "gcn", "texas", "--edges", "e.csv"],
    ["train", "gcn", "--nodes", "n.csv"],
    *(["train", "auto", *TABLES, "--minutes", n] for n in ("0", "-1", "nan", "inf", "1e999")),
    *(["predict", path, *TABLES] for path in ("missing", "empty", "folder", "loop", "fifo.npz")),
    *(["explain", path, *TABLES, "--node", "0"] for path in ("missing", "/dev/null", "e.csv", "")),
    *(["compare", *TABLES, "--models", m] for m in ("", ",", "gcn", "gcn,gcn", "gcn,nope")),
    *(["tune", "gcn", *TABLES, "--trials", n] for n in ("0", "-1", "nan")),
    *(["tune", "gcn", *TABLES, "--space", p] for p in ("deep.toml", "bin.toml", "fifo.toml")),
    *(["generate", "x.npz", "--degree", n] for n in ("nan", "-1", "1e18", "inf")),
    *(["generate", "x.npz", "--nodes", n] for n in ("0", "-1", "9" * 14, "nan")),
    *(["generate", "x.npz", "--homophily", n] for n in ("2", "nan", "-0.1", "")),
    *(["generate", "x.npz", "--classes", n] for n in ("0", "-2", "x")),
    *(["generate", out] for out in ("folder.npz", "/proc/x.npz", "x.nope")),
    *(["serve", "--port", n] for n in ("-1", "0", "99999999", "nan")),
    *(["serve", "--import-seconds", n] for n in ("0", "nan", "inf")),
    ["serve", "--host", "999.1.1.1", "--no-open"],
    ["serve", "--work-folder", "e.csv", "--no-open", "--port", "18761"],
    *(["runs", "list", "--store", p] for p in ("missing", "e.csv", "folder", "fifo.csv", "loop")),
    *(["runs", "merge", p] for p in ("missing", "empty", "fifo.json", "/dev/null", "deep.json")),
    *(["convert", *TABLES, "--out", p] for p in ("x.nope", "/proc/x.npz", "fifo.npz")),
    ["convert", "--recipe", "fifo.toml", "--out", "q.npz"],
    *(["diagnose", *TABLES, "--delimiter", d] for d in ("", "ab")),
    *(["diagnose", *TABLES, f"--{o}", "nope"] for o in ("source", "node-id", "edge-type")),
    ["diagnose", *TABLES, "--column", "age=nope"],
    *(["report", *TABLES, "--label", "label", "--results", p] for p in ("fifo.json", "deep.json")),
    ["report", *TABLES, "--label", "label", "--results", "bin.json"],
    *(["paper", "figure", "nope"], ["paper", "table", "nope"], ["data", "fetch", "nope"]),
]
COMMANDS = [
    *(["diagnose", path, "--offline", "--no-report"] for path in FILES),
    *(["convert", path, "--out", "out.npz"] for path in FILES),
    *([*TRAIN, f"--{option}", value] for option, values in NUMBERS.items() for value in values),
    *(OTHER),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("odd")
    before = os.getcwd()
    os.chdir(folder)
    ring = [f"n{k},n{(k * 7 + 3) % 30}" for k in range(30)]
    rows = [f"n{k},{'ab'[k % 2]},{20 + k % 9}" for k in range(30)]
    Path("e.csv").write_text("\n".join(["source,target", *ring]) + "\n")
    Path("n.csv").write_text("\n".join(["id,label,age", *rows]) + "\n")
    for name in ("empty", "empty.csv", "empty.npz"):
        Path(name).touch()
    for name in ("bin.csv", "bin.npz", "bin.toml", "bin.json"):
        Path(name).write_bytes(bytes(range(256)) * 4)
    Path("deep.json").write_text("[" * 100_000)
    Path("deep.toml").write_text("a=" + "[" * 100_000)
    Path("dots.toml").write_text("a" + ".b" * 5_000 + "=1")
    Path("long.csv").write_text("source,target\n" + "x" * 200_000 + ",b\n")
    Path("nul.csv").write_bytes(b"source,target\na\0b,c\n")
    for name in ("loop", "loop.csv"):
        Path(name).symlink_to(name)
    Path("dangling.csv").symlink_to("nowhere")
    for name in ("folder", "folder.npz", "folder.csv", "pipe.disk"):
        Path(name).mkdir()
    for name in ("fifo.csv", "fifo.npz", "fifo.toml", "fifo.json", "pipe.disk/manifest.json"):
        os.mkfifo(name)
    yield folder
    os.chdir(before)


def _too_long(*_: object) -> None:
    pytest.fail("the command waits")


@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda c: " ".join(c)[:60].encode("ascii", "replace").decode()
)
def test_it_is_one_sentence(
    command: list[str],
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HETEROPHILY_STORE", str(place / "runs.sqlite"))
    kept = Path("e.csv").read_bytes()
    before = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        code = main(command)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    printed = capsys.readouterr()
    assert code == 2, printed
    errors = [line for line in printed.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, printed.err
    assert len(errors[0]) > 15
    assert "Traceback" not in printed.err
    assert Path("e.csv").read_bytes() == kept  # nothing of the user's is written over


@pytest.mark.parametrize("option", ["hidden=8"])
def test_the_last_of_two_equal_options_counts(option: str, place: Path) -> None:
    given = [*TRAIN, "--store", "memory:", "--repeats", "1", "--max-epochs", "2"]
    assert main([*given, "--option", "hidden=4", "--option", option, "--json"]) == 0
