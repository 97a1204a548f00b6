"""Jobs: each runs in a process of its own, a few at a time, the others wait in line."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any

from heterophily.errors import InputError
from heterophily.runs.stores.url import absolute_url
from heterophily.web.folder import ID, WorkFolder, read_json, write_json
from heterophily.web.process import WorkerProcess
from heterophily.web.refusal import RefusedError
from heterophily.web.settings import WebSettings

FINAL = ("done", "failed", "stopped")
STATES = ("waiting", "running", *FINAL)
GRACE_SECONDS = 1.5  # after which a job that was asked to stop is ended
QUICK_SECONDS = 2.0  # after which reading makes way for the files of others
JOBS_PER_WORKER = 20
MAX_IDLE = 2
MAX_IMPORTS = 4
MAX_FORGETTABLE = 100
INTERRUPTED = "the server ended while this job was at work; resume it"


@dataclass(frozen=True, slots=True)
class Kind:
    """How jobs of a kind are treated.

    ``lane`` names the line in which they wait: the playground never waits for a comparison.
    Jobs that are kept are on disk and survive the server; they can be resumed. Every job is ended
    when it takes too long or too much memory; one that reads files of strangers, earlier.
    """

    lane: str = "work"
    is_kept: bool = False
    is_reading: bool = False

    def limits(self, settings: WebSettings) -> tuple[float, int]:
        """Return the most seconds and bytes of a job."""
        if self.is_reading:
            return settings.import_seconds, settings.import_mb * 2**20
        return 60 * settings.job_minutes, settings.job_mb * 2**20


KINDS = {
    "preview": Kind(lane="import", is_reading=True),
    "import": Kind(lane="import", is_reading=True),
    "diagnosis": Kind(is_kept=True),
    "comparison": Kind(is_kept=True),
    "playground": Kind(lane="playground"),
    "study": Kind(),
}


@dataclass(eq=False)
class PageJob:
    """One piece of work, its state and everything it told so far."""

    id: str
    kind: str
    request: dict[str, Any]
    graph: str | None = None
    state: str = "waiting"
    error: str | None = None
    result: dict[str, Any] = field(default_factory=dict)
    created: float = field(default_factory=time.time)
    folder: Path | None = None
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    worker: WorkerProcess | None = None
    starts: int = 0
    timer: threading.Timer | None = None

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen, unless it is resumed."""
        return self.state in FINAL

    def to_dict(self) -> dict[str, Any]:
        """Return what is told about it and kept on disk."""
        names = ("id", "kind", "request", "graph", "state", "error", "result", "created")
        return {name: getattr(self, name) for name in names}


class Jobs:
    """All jobs of a server. Every method may be called from any thread."""

    def __init__(self, settings: WebSettings, folder: WorkFolder) -> None:
        self.settings, self.folder = settings, folder
        self._lanes = {"work": settings.max_jobs, "playground": 1, "import": MAX_IMPORTS}
        self._lock = threading.RLock()
        self._jobs: dict[str, PageJob] = {}
        self._waiting: deque[PageJob] = deque()
        self._idle: list[WorkerProcess] = []
        self._working: dict[WorkerProcess, PageJob] = {}
        self.is_closed = False
        self.damaged: list[Path] = []
        self._load()

    # --- asked by the page --------------------------------------------------------------------

    def submit(self, kind: str, request: dict[str, Any], *, graph: str | None = None) -> PageJob:
        """Start a job, or let it wait; refuse it when too many wait."""
        with self._lock:
            self._make_room()
            name, folder = self.folder.make("jobs")
            job = PageJob(name, kind, request, graph, folder=folder)
            self._jobs[job.id] = job
            self._enqueue(job)
        return job

    def shared(self, kind: str, request: dict[str, Any]) -> PageJob:
        """Return the job that does or did exactly this, or start it."""
        with self._lock:
            same = [j for j in self._jobs.values() if (j.kind, j.request) == (kind, request)]
            usable = [job for job in same if job.state not in ("failed", "stopped")]
            return usable[-1] if usable else self.submit(kind, request)

    def get(self, name: str) -> PageJob:
        """Return a job by its id."""
        with self._lock:
            if name not in self._jobs:
                raise RefusedError(404, f"there is no job {name!r:.40}; it may have been removed")
            return self._jobs[name]

    def all(self) -> list[PageJob]:
        """Return the jobs that are kept and those that read a file now, the newest first."""
        with self._lock:
            shown = [
                job
                for job in self._jobs.values()
                if KINDS[job.kind].is_kept or (KINDS[job.kind].is_reading and not job.is_final)
            ]
        return sorted(shown, key=lambda job: -job.created)

    def stop(self, name: str) -> PageJob:
        """Stop a job: at its next word, or by force a moment later."""
        with self._lock:
            job = self.get(name)
            if job in self._waiting:
                self._waiting.remove(job)
                self._finish(job, "stopped", {})
            elif job.worker is not None:
                job.worker.send({"stop": job.id})
                _after(GRACE_SECONDS, self._end_by_force, job)
        return job

    def resume(self, name: str) -> PageJob:
        """Start a job again that was stopped or failed; finished runs are not trained again."""
        with self._lock:
            job = self.get(name)
            if job.state not in ("stopped", "failed"):
                raise RefusedError(
                    409, f"the job is {job.state}; only a stopped one can be resumed"
                )
            self._make_room()
            job.error = None
            self._enqueue(job)
        return job

    def forget(self, graph: str) -> None:
        """Remove the jobs of a graph; refuse while one of them is at work."""
        with self._lock:
            found = [job for job in self._jobs.values() if job.graph == graph]
            if any(not job.is_final for job in found):
                raise RefusedError(409, "a job of this graph is running; stop it first")
            for job in found:
                self._remove(job)

    def busy_graphs(self) -> set[str]:
        """Return the graphs that a job is at work on."""
        with self._lock:
            return {job.graph for job in self._jobs.values() if job.graph and not job.is_final}

    # --- the life of the server ---------------------------------------------------------------

    def warm_up(self) -> None:
        """Start a worker before anybody asks: loading the libraries takes seconds."""
        with self._lock:
            if not self._idle and not self.is_closed:
                self._idle.append(self._new_worker())

    def close(self) -> None:
        """End all workers; what they did is on disk, and the jobs can be resumed."""
        with self._lock:
            self.is_closed = True
            workers = [*self._idle, *self._working]
            self._idle.clear()
            self._waiting.clear()
        for worker in workers:
            worker.close()

    def _load(self) -> None:
        """Take over the jobs of an earlier server; those that were at work are stopped."""
        for name in self.folder.ids("jobs"):
            folder = self.folder.find("jobs", name)
            if not any((folder / file).exists() for file in ("job.json", "events.jsonl")):
                self.folder.remove("jobs", name)  # it was not to be kept
                continue
            job = _read_job(name, folder)
            if job is None:  # damaged, or of another version: left as it is
                self.damaged.append(folder)
                continue
            if not job.is_final:
                self._finish(job, "stopped", {"error": INTERRUPTED})
            self._jobs[job.id] = job

    # --- from here on with the lock held ------------------------------------------------------

    def _make_room(self) -> None:
        if self.is_closed:
            raise RefusedError(503, "the server is shutting down")
        if len(self._waiting) >= self.settings.max_waiting:
            raise RefusedError(
                429,
                f"{len(self._waiting)} {'job is' if len(self._waiting) == 1 else 'jobs are'} "
                "waiting already; wait until one is finished, or stop one",
            )
        forgettable = [j for j in self._jobs.values() if j.is_final and not KINDS[j.kind].is_kept]
        for job in forgettable[:-MAX_FORGETTABLE]:
            self._remove(job)

    def _remove(self, job: PageJob) -> None:
        del self._jobs[job.id]
        self.folder.remove("jobs", job.id)

    def _enqueue(self, job: PageJob) -> None:
        self._waiting.append(job)
        self._change(job, "waiting")
        self._dispatch()

    def _dispatch(self) -> None:
        """Give every job that may run a worker."""
        for job in list(self._waiting):
            lane = KINDS[job.kind].lane
            used = sum(KINDS[other.kind].lane == lane for other in self._working.values())
            if used >= self._lanes[lane] or self.is_closed:
                continue
            self._waiting.remove(job)
            worker = self._idle.pop() if self._idle else self._new_worker()
            worker.jobs += 1
            job.starts += 1
            job.worker = worker
            self._working[worker] = job
            self._change(job, "running")
            request = {**job.request, **self._places(job)}
            message: dict[str, Any] = {"job": job.id, "kind": job.kind, "request": request}
            seconds, message["memory"] = KINDS[job.kind].limits(self.settings)
            job.timer = _after(seconds, self._end_over_time, job)
            worker.send(message)
            if KINDS[job.kind].is_reading:  # the next upload must not wait for this one
                self.warm_up()
                _after(QUICK_SECONDS, self._make_way, job)

    def _places(self, job: PageJob) -> dict[str, str | None]:
        """Return where a job reads and writes: never part of what a client sent or is told."""
        settings = self.settings
        return {
            "folder": str(job.folder),
            "graph_folder": str(self.folder.path / "graphs" / job.graph) if job.graph else None,
            "store": absolute_url(settings.store),
            "data_folder": str(settings.data_folder.absolute()) if settings.data_folder else None,
        }

    def _new_worker(self) -> WorkerProcess:
        return WorkerProcess(self._hear, log=self.folder.log)

    def _hear(self, worker: WorkerProcess, message: dict[str, Any] | None) -> None:
        """Note what a worker says; called on its thread."""
        with self._lock:
            job = self._working.get(worker)
            if job is None:
                if worker in self._idle:
                    self._idle.remove(worker)  # it ended by itself
            elif message is None:
                del self._working[worker]
                cause = f"the process of this job ended ({worker.cause()}); memory may be short"
                self._finish(job, "failed", {"error": cause})
            elif message["event"] == "end":
                del self._working[worker]
                self._retire(worker)
                self._finish(job, message["data"]["state"], message["data"]["result"])
            else:
                self._tell(job, message["event"], message["data"])
            self._dispatch()

    def _end_by_force(self, job: PageJob, start: int) -> None:
        """End the process of a job that still runs since that start."""
        with self._lock:
            if job.worker is not None and job.starts == start:
                del self._working[job.worker]
                job.worker.kill()
                self._finish(job, "stopped", {})
                self._dispatch()

    def _make_way(self, job: PageJob, start: int) -> None:
        """Let the files of others be read first while a job takes long."""
        with self._lock:
            if job.worker is not None and job.starts == start:
                job.worker.make_way()

    def _end_over_time(self, job: PageJob, start: int) -> None:
        """End the process of a job that reached its time limit."""
        with self._lock:
            if job.worker is not None and job.starts == start:
                del self._working[job.worker]
                job.worker.kill()
                kind = KINDS[job.kind]
                seconds = kind.limits(self.settings)[0]
                told = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
                what = "reading" if kind.is_reading else "the job"
                cause = f"{what} took longer than {told} and was stopped; use the command line"
                self._finish(job, "failed", {"error": cause})
                self._dispatch()

    def _retire(self, worker: WorkerProcess) -> None:
        """Keep a worker for the next job, unless it served long or enough of them wait."""
        is_fresh = worker.jobs < JOBS_PER_WORKER and not worker.makes_way
        if len(self._idle) < MAX_IDLE and is_fresh and not self.is_closed:
            self._idle.append(worker)
        else:
            worker.kill()

    def _finish(self, job: PageJob, state: str, result: dict[str, Any]) -> None:
        job.worker = None
        if job.timer is not None:
            job.timer.cancel()
        if self.is_closed and state == "failed":  # ended with the server, not by a fault
            state, result = "stopped", {"error": INTERRUPTED}
        job.error = result.pop("error", None)
        job.result = result
        self._change(job, state)

    def _change(self, job: PageJob, state: str) -> None:
        self._tell(job, "state", {"state": state, "error": job.error})
        job.state = state  # after it was told: a stream ends when it sees the final state
        if job.folder is not None and KINDS[job.kind].is_kept:
            with contextlib.suppress(OSError, InputError):  # a full disk: it goes on in memory
                write_json(job.folder / "job.json", job.to_dict())

    def _tell(self, job: PageJob, event: str, data: dict[str, Any]) -> None:
        job.events.append((event, data))
        if job.folder is not None and KINDS[job.kind].is_kept:
            with (
                contextlib.suppress(OSError),
                (job.folder / "events.jsonl").open("a", encoding="utf-8") as stream,
            ):
                stream.write(json.dumps([event, data]) + "\n")


def _after(seconds: float, act: Callable[[PageJob, int], None], job: PageJob) -> threading.Timer:
    """Act on a job some time from now; ``act`` is told which start of the job was meant."""
    timer = threading.Timer(seconds, act, (job, job.starts))
    timer.daemon = True
    timer.start()
    return timer


def _read_job(name: str, folder: Path) -> PageJob | None:
    """Return a job from its folder; None when its file is damaged or of another version."""
    content = read_json(folder / "job.json")
    if content is None or content.get("id") != name or not {"graph", "error"} <= content.keys():
        return None
    expected: dict[str, tuple[type, ...]] = {
        "kind": (str,),
        "request": (dict,),
        "graph": (str, NoneType),
        "error": (str, NoneType),
        "result": (dict,),
        "created": (int, float),
    }
    if content.get("state") not in STATES or not all(
        isinstance(content.get(key), kinds) for key, kinds in expected.items()
    ):
        return None
    if content["kind"] not in KINDS or not abs(content["created"]) < 1e15:
        return None
    if content["graph"] is not None and not re.fullmatch(ID, content["graph"]):
        return None
    return PageJob(
        name,
        content["kind"],
        content["request"],
        content["graph"],
        state=content["state"],
        error=content["error"],
        result=content["result"],
        created=float(content["created"]),
        folder=folder,
        events=_read_events(folder / "events.jsonl"),
    )


def _read_events(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of a file; lines that are no event are left out."""
    events: list[tuple[str, dict[str, Any]]] = []
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return events
    for line in lines:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        match found:
            case [str(event), dict(data)]:
                events.append((event, data))
    return events
