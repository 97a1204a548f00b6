"""``train`` and ``train auto`` lose nothing: killed, they go on; asked to end, they report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_study import small_graph

from heterophily.data.npz import write_npz
from heterophily.runs.stores.url import open_store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
COMMAND = "import sys; from heterophily.cli.app import main; sys.exit(main(sys.argv[1:]))"
SEARCH = """
import json, sys
from heterophily import auto, open_store, read_npz

with open_store(sys.argv[2]) as store:  # limits alone end the search: the clock stands still
    limits = {"max_trials": 4, "seeds": 2, "clock": lambda: 0.0, "config": {"max_epochs": 30}}
    found = auto(read_npz(sys.argv[1]), store=store, workers=1, **limits)
print(json.dumps(found.to_dict()["test"]))
"""
SECONDS = 240.0  # for a machine with much to do


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    write_npz(small_graph(), tmp_path / "small.npz")
    return tmp_path / "small.npz"


def start(code: str, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_runs(store: Path, count: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if store.exists() and store.stat().st_size:
            with open_store(store, is_checked=False) as opened:
                if len(opened) >= count:
                    return
        time.sleep(0.02)
    process.kill()
    raise AssertionError(f"no {count} runs: {process.communicate()[1]}")


def test_auto_killed_twice_goes_on_and_repeats_no_finished_training(
    tmp_path: Path, graph: Path
) -> None:
    store = tmp_path / "runs.sqlite"
    for count in (4, 10):
        process = start(SEARCH, graph, store)
        wait_for_runs(store, count, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    whole = start(SEARCH, graph, store)
    out, error = whole.communicate(timeout=SECONDS)
    assert whole.returncode == 0, error
    with open_store(store) as opened:
        starts = opened.starts()
        finished = len(opened)
    assert not [each for each in starts if each.is_repeated]
    assert finished >= 10
    assert len(starts) <= finished + 2  # of each kill, the training at work
    again = start(SEARCH, graph, store)
    repeated, _ = again.communicate(timeout=SECONDS)
    assert json.loads(repeated) == json.loads(out)
    with open_store(store) as opened:
        assert len(opened.starts()) == len(starts)


def test_a_command_that_is_asked_to_end_reports_what_is_finished(
    tmp_path: Path, graph: Path
) -> None:
    store = tmp_path / "runs.sqlite"
    words = ("--repeats", 3000, "--max-epochs", 40, "--workers", 1, "--json", "--store", store)
    process = start(COMMAND, "train", "mlp-1", graph, *words)
    wait_for_runs(store, 3, process)
    process.send_signal(signal.SIGTERM)
    out, error = process.communicate(timeout=SECONDS)
    assert process.returncode == 143, error
    found = json.loads(out)
    assert any("stopped early" in remark for remark in found["remarks"])
    with open_store(store) as opened:
        assert len(opened) == len(found["test_accuracy"]["values"]) >= 3
