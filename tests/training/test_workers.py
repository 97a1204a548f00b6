import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from heterophily.training.workers import WorkerPool


class Tells:
    """A job that tells which process did it; the task "die" ends that process."""

    def __call__(self, task):
        if task == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return task, os.getpid()


JOB = pickle.dumps(Tells())


def tasks(*values):
    return [pickle.dumps(value) for value in values]


def test_processes_stay_between_runs_inside_a_block_and_end_with_it():
    with WorkerPool(JOB, 1) as pool:
        first = pool.run(tasks("a", "b")).results
        second = pool.run(tasks("c")).results
        assert pool.run([]).results == {}
    (a, process), (b, _) = first[0], first[1]
    assert (a, b) == ("a", "b")
    assert second == {0: ("c", process)}
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_process_that_dies_between_two_runs_is_replaced():
    with WorkerPool(JOB, 1) as pool:
        _, first = pool.run(tasks("a")).results[0]
        os.kill(first, signal.SIGKILL)
        outcome = pool.run(tasks("b", "die"))
    assert outcome.results[0][0] == "b"
    assert outcome.results[0][1] != first
    assert "died 2 times (signal SIGKILL)" in outcome.failures[1]


ORPHAN = """
    import os, sys, time
    from multiprocessing import get_context, parent_process
    from pathlib import Path

    def late(folder):
        Path(folder, "started").write_text(str(os.getpid()))
        while os.getppid() == parent_process().pid:  # until the parent is gone
            time.sleep(0.01)
        from heterophily.training import worker
        if "sentinel" in sys.argv:
            worker.sys = type("", (), {"platform": "elsewhere"})
        worker.end_with_parent()
        time.sleep(600)

    if __name__ == "__main__":
        get_context("spawn").Process(target=late, args=(sys.argv[1],)).start()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("how", ["kernel", "sentinel"])
def test_a_worker_whose_parent_died_before_it_could_ask_ends(tmp_path, how):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(ORPHAN))
    parent = subprocess.Popen([sys.executable, script, tmp_path, how])
    started = tmp_path / "started"
    wait_for(lambda: started.exists() and started.read_text())
    parent.kill()
    parent.wait()
    assert wait_for(lambda: not is_running(started.read_text()))


def is_running(pid):
    try:
        return Path("/proc", pid, "stat").read_text().split(") ")[1][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(is_so):
    deadline = time.monotonic() + 60
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    return is_so()
