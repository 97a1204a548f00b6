"""Executors under kills, company and errors; the training itself is a nap (see pretend.py)."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from processes import children, is_alive
from runs.pretend import PretendJob, some_record, some_run

from heterophily.errors import InputError
from heterophily.runs import complete as completion
from heterophily.runs import job as job_module
from heterophily.runs.complete import Completion, complete_with
from heterophily.runs.executors.base import Execution, Tick
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.executors.local import LocalProcesses
from heterophily.runs.job import Job, Trained
from heterophily.runs.run import Run
from heterophily.runs.stores.base import Store, StoreError
from heterophily.runs.stores.url import open_store

DRIVER = Path(__file__).with_name("pretend_driver.py")
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def start_driver(store: Path, runs: int, workers: int = 2) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, str(DRIVER), str(store), str(runs), str(workers)]
    paths = [str(DRIVER.parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.Popen(arguments, stderr=subprocess.DEVNULL, env=environment)


def orphans_after(pids: list[int], seconds: float) -> list[int]:
    deadline = time.monotonic() + seconds
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [pid for pid in pids if is_alive(pid)]


def wait_for_workers(driver: subprocess.Popen[bytes]) -> None:
    while driver.poll() is None and len(children(driver.pid)) < 2:  # a tracker, and workers
        time.sleep(0.01)


def finish(store: Path, runs: int) -> None:
    for _ in range(5):  # a driver gives a run up when its worker was killed twice
        if start_driver(store, runs).wait() == 0:
            return
    raise AssertionError("the undisturbed command did not finish")


def answers_of(store: Path, runs: int) -> str:
    with open_store(store) as opened:
        assert len(opened) == runs
        return opened.answers()


def reference(path: Path, runs: int) -> str:
    with open_store(path) as store:
        store.add_all(map(some_record, range(runs)))
        return store.answers()


def check_no_finished_run_was_repeated(store: Path, runs: int, kills: int, workers: int) -> None:
    with open_store(store) as opened:
        starts = opened.starts()
    for key, number, finished, _ in starts:
        assert finished is not None
        assert number <= finished, f"{key} was started again after it was finished"
    assert len(starts) <= runs + kills * workers


@LINUX
def test_ten_kills_change_nothing_repeat_nothing_and_leave_no_orphan(tmp_path: Path) -> None:
    """``benchmarks/faults/kill_campaign.py`` kills more often."""
    store, runs, rng = tmp_path / "runs.sqlite", 120, random.Random(0)
    killed: Counter[str] = Counter()
    driver = start_driver(store, runs)
    while sum(killed.values()) < 10 or min(killed["driver"], killed["worker"]) < 3:
        if rng.random() < 0.8:  # else perhaps before the first worker is there
            wait_for_workers(driver)
        time.sleep(rng.uniform(0.0, 0.4))
        workers = children(driver.pid)
        if driver.poll() is not None:
            driver = start_driver(store, runs)
        elif workers and rng.random() < 0.6:
            with contextlib.suppress(ProcessLookupError):
                os.kill(rng.choice(workers), signal.SIGKILL)
                killed["worker"] += 1
        else:
            driver.kill()
            driver.wait()
            killed["driver"] += 1
            assert orphans_after(workers, 10.0) == []
            driver = start_driver(store, runs)
    driver.kill()
    driver.wait()
    finish(store, runs)
    assert answers_of(store, runs) == reference(tmp_path / "reference.sqlite", runs)
    check_no_finished_run_was_repeated(store, runs, killed.total() + 1, workers=2)


@LINUX
def test_two_commands_share_the_work_and_one_takes_over_when_the_other_is_killed(
    tmp_path: Path,
) -> None:
    store, runs = tmp_path / "runs.sqlite", 120
    first, second = start_driver(store, runs, workers=1), start_driver(store, runs, workers=1)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        time.sleep(0.1)
        if store.exists() and len(open_store(store, is_checked=False)) > 30:
            break
    first.kill()
    first.wait()
    assert second.wait() == 0
    assert answers_of(store, runs) == reference(tmp_path / "reference.sqlite", runs)
    check_no_finished_run_was_repeated(store, runs, kills=1, workers=1)


def pretend(
    path: Path, numbers: Iterable[int], store: Store, kind: type[Job] = PretendJob, **how: Any
) -> Completion:
    runs = [some_run(number) for number in numbers]
    return complete_with(kind(str(path)), runs, store=store, **{"executor": InProcess(), **how})


def test_a_finished_run_is_not_trained_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        store.add_all(map(some_record, range(3)))
        pretend(path, range(5), store)
        assert [key for key, *_ in store.starts()] == [some_run(3).key, some_run(4).key]


def test_a_run_finished_between_plan_and_claim_is_known(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        store.add(some_record(0))
        reply = PretendJob(str(path))(some_run(0))
        assert (reply.key, reply.what) == (some_run(0).key, "known")
        assert store.starts() == []


def test_a_claimed_run_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store, store.claims.claim(some_run(0).key):
        reply = PretendJob(str(path))(some_run(0))
        assert (reply.key, reply.what) == (some_run(0).key, "busy")


class PickyJob(PretendJob):
    """Refuses run 1, and cannot write run 2."""

    def train(self, run: Run, threads: int = 1) -> Trained:
        if run.seed == 1:
            raise InputError("one is refused")
        if run.seed == 2:
            raise StoreError("the disk is full")
        return super().train(run, threads)


def test_a_run_that_fails_is_reported_and_the_others_go_on(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        done = pretend(path, (0, 1, 3), store, kind=PickyJob)
        assert done.failures == {some_run(1).key: "one is refused"}
        assert len(store) == 2


def test_a_store_that_cannot_be_written_ends_the_command(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        with pytest.raises(StoreError, match="the disk is full"):
            pretend(path, (0, 2, 3), store, kind=PickyJob)
        assert len(store) == 1
        assert not store.claims.is_taken(some_run(2).key)


def test_threads_that_begin_together_open_the_store_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    together = threading.Barrier(3)

    def slowly(url: str, **options: Any) -> Store:
        opened.append(url)
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(0.1)  # all three come here unless they wait for each other
        return open_store(url, **options)

    monkeypatch.setattr(job_module, "open_store", slowly)
    job = PretendJob(f"sqlite:///{tmp_path / 'runs.sqlite'}")
    runs = [some_run(number) for number in range(3)]
    assert not InProcess(3).execute(job, runs, lambda: None).failures
    assert len(opened) == 1


def test_progress_counts_what_is_finished(tmp_path: Path) -> None:
    path, seen = tmp_path / "runs.sqlite", []
    with open_store(path) as store:
        store.add(some_record(0))
        pretend(
            path,
            range(4),
            store,
            watch=lambda finished, total: seen.append((len(finished), total)),
        )
    assert seen[0] == (1, 4)
    assert seen[-1] == (4, 4)


def test_a_long_list_is_handed_out_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Counting(InProcess):
        sizes: ClassVar[list[int]] = []

        def execute(self, job: Job, runs: Sequence[Run], tick: Tick) -> Execution:
            self.sizes.append(len(runs))
            return super().execute(job, runs, tick)

    monkeypatch.setattr(completion, "_CHUNK", 4)
    monkeypatch.setattr(PretendJob, "seconds", 0.0)
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        pretend(path, range(10), store, executor=Counting())
        assert len(store) == 10
    assert Counting.sizes == [4, 4, 2]


def test_worker_processes_commit_what_a_single_process_commits(tmp_path: Path) -> None:
    """The classes of this file cannot travel: a real job without runs to train is enough."""
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        store.add_all(map(some_record, range(4)))
        job = Job(str(path))
        execution = LocalProcesses(2).execute(job, [some_run(n) for n in range(4)], lambda: None)
        assert (execution.busy, execution.failures) == ([], {})
        assert store.starts() == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_processes_are_kept_in_a_block_until_the_job_changes(tmp_path: Path) -> None:
    path, other = tmp_path / "runs.sqlite", tmp_path / "other.sqlite"
    for place in (path, other):
        with open_store(place) as store:
            store.add_all(map(some_record, range(2)))
    runs, before = [some_run(n) for n in range(2)], set(children(os.getpid()))
    seen = []
    with LocalProcesses(1) as executor:
        for place in (path, path, other):
            execution = executor.execute(Job(str(place)), runs, lambda: None)
            assert (execution.busy, execution.failures) == ([], {})
            seen.append({pid for pid in children(os.getpid()) if is_alive(pid)} - before)
    assert seen[0] == seen[1]
    assert seen[0] - seen[2]
    workers = seen[2] - seen[1]
    assert workers
    assert not any(map(is_alive, workers))


def test_an_executor_without_processes_has_nothing_to_keep() -> None:
    executor = InProcess()
    with executor as kept:
        assert kept is executor
