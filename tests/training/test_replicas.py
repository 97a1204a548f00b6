import os
import signal
import sys
import textwrap
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from fresh import fresh_start
from processes import is_alive

from heterophily.errors import InputError
from heterophily.learning.seeding import replica_seed
from heterophily.training.config import TrainConfig
from heterophily.training.fit import fit
from heterophily.training.replica import Replica
from heterophily.training.replicas import fit_replicas

CONFIG = TrainConfig(lr=0.05, weight_decay=1e-3, max_epochs=40, window=10)


def replicas_of(problem, build, count=4):
    return [
        Replica(build, problem.splits[number % 4], CONFIG, replica_seed(0, number))
        for number in range(count)
    ]


def assert_identical(first, second):
    assert first.seed == second.seed
    assert all(torch.equal(first.state[name], second.state[name]) for name in second.state)
    assert np.array_equal(first.history.validation_loss, second.history.validation_loss)
    assert np.array_equal(first.predictions, second.predictions)


@pytest.fixture(scope="module")
def outcome(problem, models, tmp_path_factory):
    """Four replicas over two workers; one kills its worker once, one always."""
    build, marker = partial(models.TinyMlp, 6, 3), tmp_path_factory.mktemp("marker") / "died"
    replicas = replicas_of(problem, build, 4)
    replicas[1] = replace(replicas[1], build=partial(models.dies_once, str(marker)))
    replicas[2] = replace(replicas[2], build=models.dies_always)
    seen = []
    results = fit_replicas(
        replicas, problem.inputs, problem.labels, workers=2, progress=lambda *n: seen.append(n)
    )
    assert marker.exists()
    return results, seen


def test_replica_alone_equals_among_others_equals_in_a_worker(problem, models, outcome):
    replicas = replicas_of(problem, partial(models.TinyMlp, 6, 3))
    together = list(fit_replicas(replicas, problem.inputs, problem.labels, workers=1))
    for number, result in outcome[0].by_replica.items():
        replica = replicas[number]
        alone = fit(
            replica.build, problem.inputs, problem.labels, replica.split, CONFIG, seed=replica.seed
        )
        assert_identical(result, alone)
        assert_identical(together[number], alone)


def test_dead_worker_is_replaced_and_its_replica_run_again(outcome):
    assert sorted(outcome[0].by_replica) == [0, 1, 3]


def test_replica_whose_worker_dies_twice_is_given_up_in_one_sentence(outcome):
    assert outcome[0].failures == {
        2: "replica 2 was given up: its worker process died 2 times (signal SIGKILL); "
        "if memory is short, use fewer workers"
    }


def test_results_come_in_replica_order_and_progress_counts_them(outcome):
    results, seen = outcome
    assert [result.seed for result in results] == [replica_seed(0, n) for n in (0, 1, 3)]
    assert seen == [(1, 4), (2, 4), (3, 4)]


@pytest.mark.parametrize("workers", [1, 2])
def test_error_inside_a_replica_is_raised_here(problem, models, workers):
    replicas = replicas_of(problem, models.Exploding, 2)
    with pytest.raises(RuntimeError, match="no such thing"):
        fit_replicas(replicas, problem.inputs, problem.labels, workers=workers)


def test_builder_that_cannot_travel_is_refused(problem, models):
    lock = threading.Lock()

    def build():
        with lock:
            return models.TinyMlp(6, 3)

    replicas = replicas_of(problem, build, 2)
    with pytest.raises(InputError, match=r"cannot be sent to a worker process .*pass workers=1"):
        fit_replicas(replicas, problem.inputs, problem.labels, workers=2)
    assert len(fit_replicas(replicas, problem.inputs, problem.labels, workers=1)) == 2


def test_no_workers_is_refused(problem):
    with pytest.raises(InputError, match="workers=0"):
        fit_replicas([], problem.inputs, problem.labels, workers=0)


def test_ctrl_c_returns_what_is_finished(problem, models):
    def press(finished, total):
        if finished == 2:
            raise KeyboardInterrupt

    replicas = replicas_of(problem, partial(models.TinyMlp, 6, 3))
    results = fit_replicas(replicas, problem.inputs, problem.labels, workers=1, progress=press)
    assert results.interrupted
    assert sorted(results.by_replica) == [0, 1]


SCRIPT = """
    import signal, sys, threading, time, torch
    sys.path.insert(0, sys.argv[1])
    import tiny_models
    from functools import partial
    from heterophily.data.splits import random_splits
    from heterophily.training.config import TrainConfig
    from heterophily.training.replica import Replica
    from heterophily.training.replicas import fit_replicas

    # A shell that starts the tests in the background makes them, and us, ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "elsewhere" in sys.argv:  # the system hands the signal to another thread than ours
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    inputs, labels = torch.randn(60, 6), (torch.arange(60) % 3).numpy()
    split = random_splits(labels, repeats=1, seed=0)[0]
    config = TrainConfig(max_epochs=5)
    quick = Replica(partial(tiny_models.TinyMlp, 6, 3), split, config, 0)
    slow = Replica(partial(tiny_models.reports_and_sleeps, sys.argv[2]), split, config, 0)
    def note(finished, total):
        open(sys.argv[3], "w").close()

    results = fit_replicas([slow, quick], inputs, labels, workers=2, progress=note)
    print(sorted(results.by_replica), results.interrupted)
"""


@pytest.fixture
def sleeper(tmp_path, logs, request):
    """A script with one finished and one sleeping replica; gives the script and the worker id."""
    marker, done = tmp_path / "worker", tmp_path / "done"
    words = (Path(__file__).parent, marker, done, *getattr(request, "param", ()))
    process = fresh_start(textwrap.dedent(SCRIPT), words=words, folder=tmp_path, logs=logs)
    deadline = time.monotonic() + 180
    while not (done.exists() and marker.exists() and marker.read_text()):
        assert time.monotonic() < deadline, "the script did not get going"
        time.sleep(0.05)
    yield process, int(marker.read_text())
    if is_alive(process.pid):
        process.wait(timeout=0)


def wait_until_gone(pid):
    deadline = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_alive(pid)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("sleeper", [(), ("elsewhere",)], indirect=True)
def test_ctrl_c_on_the_process_group_keeps_finished_replicas_and_prints_no_traceback(sleeper):
    process, worker = sleeper
    os.killpg(process.pid, signal.SIGINT)
    ended = process.wait(60)
    assert ended.stdout.strip() == "[1] True"
    assert ended.stderr == ""
    assert wait_until_gone(worker)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_workers_die_with_their_parent(sleeper):
    process, worker = sleeper
    assert is_alive(worker)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert wait_until_gone(worker)
