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
    assert "died 2 times (signal SIGKILL)" in str(outcome.failures[1])


ORPHAN = """
    import os, sys, time
    from multiprocessing.connection import Connection
    from pathlib import Path

    folder, how, parent, pipe = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    Path(folder, "started").write_text(str(os.getpid()))
    while os.getppid() == parent:
        time.sleep(0.01)
    from heterophily.training import worker
    if how == "pipe":
        worker.sys = type("", (), {"platform": "elsewhere"})
    worker.end_with(parent, Connection(pipe))
    time.sleep(600)
"""
PARENT = """
    import os, subprocess, sys, time
    from multiprocessing import Pipe
    here, there = Pipe()
    orphan = [sys.executable, *sys.argv[1:], str(os.getpid()), str(there.fileno())]
    subprocess.Popen(orphan, pass_fds=[there.fileno()])
    time.sleep(600)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("how", ["kernel", "pipe"])
def test_a_worker_whose_parent_died_before_it_could_ask_ends(tmp_path, how):
    scripts = {"orphan.py": ORPHAN, "parent.py": PARENT}
    for name, text in scripts.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    program = [tmp_path / "parent.py", tmp_path / "orphan.py", tmp_path, how]
    parent = subprocess.Popen([sys.executable, *program])
    started = tmp_path / "started"
    wait_for(lambda: started.exists() and started.read_text())
    parent.kill()
    parent.wait()
    assert wait_for(lambda: not is_running(started.read_text()))


SCRIPT = """
    import numpy as np
    import torch
    from heterophily import Replica, TrainConfig, fit_replicas, random_splits

    print("once")

    class Mine(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Linear(2, 2)

        def forward(self, inputs):
            return self.weight(inputs)

    labels = np.arange(40) % 2
    splits = random_splits(labels, repeats=2, seed=0)
    config = TrainConfig(max_epochs=2)
    replicas = [Replica(lambda: Mine(), split, config, 0) for split in splits]
    found = fit_replicas(replicas, torch.ones(40, 2), labels, workers=2)
    print(len(found))
"""


@pytest.mark.parametrize("as_file", [True, False], ids=["script", "python -c"])
def test_a_script_without_a_guard_runs_once_and_its_own_classes_travel(tmp_path, as_file):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    (tmp_path / "random.py").write_text("raise SystemExit('a file beside the script was run')")
    program = [script] if as_file else ["-c", script.read_text()]
    flags = ["-P"]  # the file random.py is bait for the workers alone
    done = subprocess.run(
        [sys.executable, *flags, *program], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("once\n2\n", "")


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
