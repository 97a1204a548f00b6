"""Ray: the answers of a sequential run, whatever dies. One cluster serves the whole file."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from runs.pretend import PretendJob, some_record, some_run

from heterophily.comparison.compare import compare
from heterophily.errors import InputError
from heterophily.runs.complete import complete_with
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.executors.ray import ENVIRONMENT, RayCluster, _check_reachable
from heterophily.runs.stores.base import Store, StoreError
from heterophily.runs.stores.url import open_store

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed (extra cluster)"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kill -9 and /proc"),
    pytest.mark.filterwarnings("ignore"),  # of Ray
]
DRIVER = Path(__file__).resolve().parents[1] / "pretend_driver.py"


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with RayCluster(workers=2) as executor:
        executor._connect(2)  # before any test imports Ray, which reads its environment then
        yield executor


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "runs.sqlite") as opened:
        yield opened


def expected(count: int) -> str:
    with open_store("memory:") as reference:
        reference.add_all(map(some_record, range(count)))
        return reference.answers()


def test_a_comparison_on_ray_equals_the_sequential_one_bit_for_bit(
    cluster: RayCluster, store: Store, tmp_path: Path
) -> None:
    with open_store(tmp_path / "sequential.sqlite") as sequential:
        for kept, executor in ((store, cluster), (sequential, InProcess())):
            compare("karate", ["gcn", "acm-gcn"], store=kept, repeats=2, executor=executor)
        assert len(store) == len(sequential) > 0
        assert store.answers() == sequential.answers()
    assert str(os.getpid()) not in {start.place.partition(":")[2] for start in store.starts()}


def test_a_block_inside_a_block_keeps_the_cluster(cluster: RayCluster, store: Store) -> None:
    import ray

    with cluster:
        complete_with(PretendJob(store.url), [some_run(0)], store=store, executor=cluster)
    assert ray.is_initialized()


class SlowJob(PretendJob):
    seconds = 0.2


def test_a_killed_worker_loses_nothing_and_no_finished_run_is_repeated(
    cluster: RayCluster, store: Store
) -> None:
    killed: list[int] = []

    def kill() -> None:
        with open_store(store.url, is_checked=False) as watched:
            while not watched.starts():
                time.sleep(0.02)
            killed.append(int(watched.starts()[-1].place.partition(":")[2]))
            os.kill(killed[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    job = SlowJob(store.url)
    failures = complete_with(
        job, [some_run(n) for n in range(12)], store=store, executor=cluster
    ).failures
    killer.join()
    assert not failures
    assert len(killed) == 1
    assert store.answers() == expected(12)
    assert not any(start.is_repeated for start in store.starts())
    assert len(store.starts()) <= 12 + 1


def test_a_killed_driver_is_started_again_on_the_same_cluster(
    cluster: RayCluster, store: Store
) -> None:
    import ray

    complete_with(PretendJob(store.url), [some_run(0)], store=store, executor=cluster)
    address = ray.get_runtime_context().gcs_address
    command = [sys.executable, str(DRIVER), store.url, "60", "2", f"ray://{address}"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(command, env=environment) as first:
        deadline = time.monotonic() + 120
        while len(store) < 10 and time.monotonic() < deadline:
            time.sleep(0.05)
        first.kill()
    assert 10 <= len(store) < 60
    assert subprocess.run(command, env=environment, timeout=120, check=False).returncode == 0
    assert store.answers() == expected(60)
    assert not any(start.is_repeated for start in store.starts())


def test_safe_defaults(cluster: RayCluster, store: Store) -> None:
    """No statistics go out, every connection needs a token, and no dashboard runs."""
    import ray

    complete_with(PretendJob(store.url), [some_run(0)], store=store, executor=cluster)
    assert ENVIRONMENT["RAY_USAGE_STATS_ENABLED"] == "0"
    assert ENVIRONMENT["RAY_AUTH_MODE"] == "token"
    assert all(os.environ[name] == value for name, value in ENVIRONMENT.items())
    assert len(os.environ["RAY_AUTH_TOKEN"]) >= 32
    assert not ray._private.worker._global_node.webui_url


def test_a_store_that_other_machines_do_not_reach_is_refused(cluster: RayCluster) -> None:
    far = RayCluster("head:6379")
    with pytest.raises(StoreError, match=r"cannot all reach memory:.*--store postgresql://"):
        far._check_store("memory:1")
    far._check_store("postgresql://db/runs")


def test_an_address_without_a_cluster_is_one_sentence() -> None:
    with pytest.raises(InputError, match="write ray://HOST:PORT"):
        _check_reachable("head")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
    with pytest.raises(InputError, match=f"ray://127.0.0.1:{port} does not answer"):
        _check_reachable(f"127.0.0.1:{port}")
