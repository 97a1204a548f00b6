"""``train`` and ``train auto`` lose nothing: killed, they go on; asked to end, they report."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from fresh import Started, fresh_start
from processes import is_alive
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


def wait_for_runs(store: Path, count: int, process: Started) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and is_alive(process.pid):
        if store.exists() and store.stat().st_size:
            with open_store(store, is_checked=False) as opened:
                if len(opened) >= count:
                    return
        time.sleep(0.02)
    raise AssertionError(f"no {count} runs: {process.wait(timeout=0).stderr}")


def test_auto_killed_twice_goes_on_and_repeats_no_finished_training(
    tmp_path: Path, graph: Path, logs: Path
) -> None:
    store = tmp_path / "runs.sqlite"

    def search() -> Started:
        return fresh_start(SEARCH, words=(graph, store), folder=tmp_path, logs=logs)

    for count in (4, 10):
        process = search()
        wait_for_runs(store, count, process)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    whole = search().wait(SECONDS)
    assert whole.returncode == 0, whole.stderr
    with open_store(store) as opened:
        starts = opened.starts()
        finished = len(opened)
    assert not [each for each in starts if each.is_repeated]
    assert finished >= 10
    assert len(starts) <= finished + 2  # of each kill, the training at work
    again = search().wait(SECONDS)
    assert json.loads(again.stdout) == json.loads(whole.stdout)
    with open_store(store) as opened:
        assert len(opened.starts()) == len(starts)


def test_a_command_that_is_asked_to_end_reports_what_is_finished(
    tmp_path: Path, graph: Path, logs: Path
) -> None:
    store = tmp_path / "runs.sqlite"
    words = (
        "train",
        "mlp-1",
        graph,
        "--repeats",
        3000,
        "--max-epochs",
        40,
        "--workers",
        1,
        "--json",
        "--store",
        store,
    )
    process = fresh_start(COMMAND, words=words, folder=tmp_path, logs=logs)
    wait_for_runs(store, 3, process)
    os.kill(process.pid, signal.SIGTERM)
    ended = process.wait(SECONDS)
    assert ended.returncode == 143, ended.stderr
    found = json.loads(ended.stdout)
    assert any("stopped early" in remark for remark in found["remarks"])
    with open_store(store) as opened:
        assert len(opened) == len(found["test_accuracy"]["values"]) >= 3
