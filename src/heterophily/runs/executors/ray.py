"""Tasks of a Ray cluster (extra ``cluster``): one machine, or many that share a PostgreSQL store.

Ray schedules; every worker claims its run and commits its own record, so nothing is lost when a
worker, a machine or this process dies. Our defaults: no usage statistics, no dashboard, a token
for every connection, a new temporary folder for each local cluster. ``docs/cluster.md`` says which
addresses Ray listens on.
"""

from __future__ import annotations

import copy
import ctypes
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heterophily.errors import HeterophilyError, InputError, MissingExtraError
from heterophily.runs.executors.base import Execution, Tick
from heterophily.runs.job import Job
from heterophily.runs.sources import Sources
from heterophily.runs.stores.base import StoreError
from heterophily.runs.stores.url import file_of

if TYPE_CHECKING:
    from heterophily.data.graph import Graph
    from heterophily.runs.run import Run

ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token"}
"""Set for Ray unless the user has set them."""

HANDED_ON = ("HETEROPHILY_ARTEFACTS", "HETEROPHILY_ENGINE_ISA")
"""Environment variables that workers on other machines need as they are here."""

_OURS: dict[str, str] = {}
"""What Ray was told when this module imported it: it is told the same whenever it starts again."""

CONNECT_SECONDS = 60.0
_ATTEMPTS = 5  # a run whose worker dies is given to another one so often
_STARTS = 2  # a busy machine may be too slow for Ray once
_LOOK_SECONDS = 0.5
_PR_SET_PDEATHSIG = 1


class RayCluster:
    """Applies a job to runs as tasks of Ray, one core each.

    Inside a ``with`` block the connection (and a local cluster) stays from one call to the next.

    Parameters
    ----------
    address
        ``HOST:PORT`` of the head of a cluster, as ``ray start --head`` prints it; this machine
        must be a node of it. None starts a cluster on this machine.
    workers
        At most so many runs at once; by default one for each core of the cluster.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self.address, self.workers = address, workers
        self._open: ExitStack | None = None
        self._blocks = 0  # with blocks around us, one in the other
        self._graphs: dict[str, Any] = {}

    def __enter__(self) -> RayCluster:
        """Keep the connection until the end of the block."""
        self._blocks += 1
        return self

    def __exit__(self, *error: object) -> None:
        """End the connection, and the cluster if it is ours."""
        self._blocks -= 1
        if not self._is_kept:
            self._close()

    @property
    def _is_kept(self) -> bool:
        return self._blocks > 0

    def execute(self, job: Job, runs: Sequence[Run], tick: Tick) -> Execution:
        """Apply the job to the runs."""
        try:
            self._connect(len(runs))
            self._check_store(job.store)
            return _Round(job, self._shared(job, runs), self._slots).execute(runs, tick)
        except KeyboardInterrupt:
            return Execution(interrupted=True)
        finally:
            job.close()
            if not self._is_kept:
                self._close()

    # --- the cluster --------------------------------------------------------------------------

    def connect(self, tasks: int) -> None:
        """Connect now, within a ``with`` block, for others that use Ray by themselves."""
        self._connect(tasks)

    def _connect(self, tasks: int) -> None:
        if self._open is not None:
            return
        if "ray" not in sys.modules:  # it reads its environment when it is imported
            _OURS.update(ENVIRONMENT)
            if self.address is None and "RAY_AUTH_TOKEN_PATH" not in os.environ:
                _OURS["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
        for name, value in _OURS.items():
            os.environ.setdefault(name, value)
        ray = _ray()
        if ray.is_initialized():  # by the program around us, which also ends it
            self._open = ExitStack()
            return
        if "RAY_AUTH_MODE" not in os.environ:
            raise InputError(
                "Ray was imported before its token was switched on; set RAY_AUTH_MODE=token and "
                "RAY_AUTH_TOKEN first, or call ray.init yourself"
            )
        self._open = ExitStack()
        how: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
        if self.address is None:
            folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp" if os.path.isdir("/tmp") else None)
            self._open.callback(shutil.rmtree, folder, ignore_errors=True)
            count = min(self.workers or _cores(), tasks) if not self._is_kept else self.workers
            how |= {"address": "local", "num_cpus": count or _cores(), "_temp_dir": folder}
            how |= {"include_dashboard": False}
        else:
            _check_reachable(self.address)
            handed = {name: os.environ[name] for name in HANDED_ON if name in os.environ}
            how |= {"address": self.address}
            how |= {"runtime_env": {"env_vars": handed}} if handed else {}
        self._open.callback(ray.shutdown)
        for attempt in range(_STARTS):
            try:
                with _own_modules(is_needed=self.address is None):
                    ray.init(**how)
                return
            except Exception as error:  # Ray raises that when it is not up after 30 s
                ray.shutdown()
                if attempt == _STARTS - 1:
                    told = " ".join(str(error).split())
                    raise InputError(f"Ray did not start: {told}") from error

    def _close(self) -> None:
        self._graphs.clear()
        if self._open is not None:
            self._open.close()
            self._open = None

    def _slots(self) -> int:
        """Return how many runs may be under way: two for each core, so that none waits for us."""
        return self.workers or 2 * max(1, int(_ray().cluster_resources().get("CPU", 1)))

    def _check_store(self, url: str) -> None:
        """Refuse a store that the other machines of a cluster do not reach."""
        if self.address is None or url.startswith("postgresql:"):
            return
        hosts = {node["NodeManagerHostname"] for node in _ray().nodes() if node["Alive"]}
        if file_of(url) is None or hosts != {socket.gethostname()}:
            raise StoreError(
                f"the machines of {self.address} cannot all reach {url}; name a server with "
                "--store postgresql://USER@HOST/DATABASE"
            )

    def _shared(self, job: Job, runs: Sequence[Run]) -> Any:
        """Put the job into the object store, with graphs that a machine fetches once."""
        ray = _ray()
        found: dict[str, Callable[[], Graph]] = {}
        for name in dict.fromkeys(run.graph.content_hash for run in runs):
            if name in job.sources.graphs:
                if name not in self._graphs:
                    self._graphs[name] = ray.put(job.sources.graphs[name]())
                found[name] = SharedGraph(self._graphs[name])
        told = copy.copy(job)
        told.sources = Sources(found, job.sources.splits, job.sources.models)
        return ray.put(told)


@dataclass(frozen=True)
class SharedGraph:
    """Opens a graph of the object store; its arrays are read where they lie, without a copy."""

    reference: Any

    def __call__(self) -> Graph:
        """Return the graph."""
        graph: Graph = _ray().get(self.reference)
        return graph


class _Round:
    """Hands out runs, hears replies, and hands out again what died."""

    def __init__(self, job: Job, shared: Any, slots: Callable[[], int]) -> None:
        self.ray = _ray()
        self.job, self.shared, self.slots = job, shared, slots
        self.execution = Execution()
        self.attempts: Counter[str] = Counter()
        self.task = self.ray.remote(num_cpus=1, max_retries=0)(work)

    def execute(self, runs: Sequence[Run], tick: Tick) -> Execution:
        waiting, flying = deque(runs), dict[Any, Any]()
        try:
            while waiting or flying:
                while waiting and len(flying) < self.slots():
                    run = waiting.popleft()
                    self.attempts[run.key] += 1
                    flying[self.task.remote([self.shared], run)] = run
                done, _ = self.ray.wait(list(flying), timeout=_LOOK_SECONDS)
                for reference in done:
                    run = flying.pop(reference)
                    if not self._hear(reference, run):
                        waiting.append(run)
                tick()
        except KeyboardInterrupt:
            self.execution.interrupted = True
        finally:
            for reference in flying:
                with suppress(self.ray.exceptions.RayError):
                    self.ray.cancel(reference, force=True)
        return self.execution

    def _hear(self, reference: Any, run: Run) -> bool:
        """Note a reply; return False if the worker died and the run should be given again."""
        try:
            reply = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError:
            raise
        except self.ray.exceptions.RayError as error:
            if self.attempts[run.key] < _ATTEMPTS:
                return False
            place = f"{run.model} on {run.graph.name}, split {run.split.index}"
            self.execution.failures[run.key] = (
                f"{place}: its worker died {_ATTEMPTS} times ({type(error).__name__}); if memory "
                "is short, use fewer workers"
            )
            return True
        if isinstance(reply, HeterophilyError):
            raise reply
        if reply.trained is not None:  # the store is in the memory of this process
            self.job.commit(run, reply.trained)
        self.execution.note(reply)
        return True


_JOBS: dict[Any, Any] = {}


def work(job: list[Any], run: Run) -> Any:
    """Apply a job to a run, in a worker process of Ray, which keeps the last job it was told."""
    reference = job[0]
    if reference not in _JOBS:
        if sys.platform.startswith("linux"):  # a worker outlives a killed raylet otherwise
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for old in _JOBS.values():
            old.close()
        _JOBS.clear()
        _JOBS[reference] = _ray().get(reference)
    try:
        return _JOBS[reference](run)
    except HeterophilyError as error:
        return error


def _check_reachable(address: str) -> None:
    """Refuse an address where no cluster answers: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(f"ray://{address}: write ray://HOST:PORT, as ray start --head prints it")
    try:
        socket.create_connection((host, int(port)), timeout=5.0).close()
    except OSError as error:
        raise InputError(f"ray://{address} does not answer: {error.strerror or error}") from error
    script = "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False); ray.nodes()"
    try:
        done = subprocess.run(
            [sys.executable, "-c", script, address],
            capture_output=True,
            timeout=CONNECT_SECONDS,
            check=False,
        )
        is_there = done.returncode == 0
    except subprocess.TimeoutExpired:
        is_there = False
    if not is_there:
        raise InputError(
            f"ray://{address} refused the connection; check that the port is that of ray start "
            "--head (not of Ray Client or the dashboard), that this machine is a node of the "
            "cluster (ray start --address), and that it has the same token (RAY_AUTH_TOKEN)"
        )


@contextmanager
def _own_modules(*, is_needed: bool) -> Iterator[None]:
    """Let workers on this machine import what this process can, a file beside a script say."""
    before = os.environ.get("PYTHONPATH")
    if is_needed:
        os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONPATH", None)
        else:
            os.environ["PYTHONPATH"] = before


def _cores() -> int:
    from heterophily.training.replicas import usable_cores

    return usable_cores()


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError(
            "the executor ray needs an extra: pip install 'heterophily[cluster]'"
        ) from error
    return ray
