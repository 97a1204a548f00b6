"""A real server on the loopback, with real worker processes, for all tests of the page."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra [web] is not installed")
pytest.importorskip("uvicorn", reason="the extra [web] is not installed")

import requests
import uvicorn

from heterophily.web.app import create_app
from heterophily.web.folder import WorkFolder
from heterophily.web.jobs import Jobs, PageJob
from heterophily.web.settings import WebSettings

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Live:
    """A running server and a few ways to ask it."""

    settings: WebSettings
    app: Any

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.settings.port}"

    def get(self, path: str, **how: Any) -> requests.Response:
        return requests.get(self.url + path, timeout=120, **how)

    def post(self, path: str, **how: Any) -> requests.Response:
        return requests.post(self.url + path, timeout=120, **how)

    def events(self, job: str, **how: Any) -> list[tuple[str, dict[str, Any]]]:
        """Follow a job to its end; return its events without the numbers."""
        return [(event, data) for _, event, data in parsed(self.follow(job, **how).text)]

    def follow(self, job: str, **how: Any) -> requests.Response:
        return self.get(f"/api/jobs/{job}/events", **how)

    def stop_all(self) -> None:
        """Stop every job, the short ones too."""
        jobs: Jobs = self.app.state.server.jobs
        for name, job in list(jobs._jobs.items()):
            if not job.is_final:
                jobs.stop(name)

    def done(self, job: str) -> dict[str, Any]:
        """Follow a job to its end and return what is told about it then."""
        self.events(job)
        told: dict[str, Any] = self.get(f"/api/jobs/{job}").json()
        assert told["state"] == "done", told
        return told


def parsed(text: str) -> list[tuple[int, str, dict[str, Any]]]:
    """Return number, name and data of the events of a stream."""
    import json

    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "id" in fields:
            found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(settings: WebSettings, **how: Any) -> Iterator[Live]:
    """Serve the page from a thread of this process."""
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=settings.port,
        log_level="error",
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=2,  # streams that nobody reads any more
        **how,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 120
    while not server.started:
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.02)
    try:
        yield Live(settings, app)
    finally:
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """One server for all tests that ask it; small limits."""
    folder = tmp_path_factory.mktemp("page")
    settings = WebSettings(
        work_folder=folder / "work",
        store=folder / "runs.sqlite",
        port=free_port(),
        max_upload_mb=2,
        max_rows=20_000,
        max_waiting=30,
    )
    with running(settings) as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path) -> WebSettings:
    return WebSettings(tmp_path / "work", tmp_path / "runs.sqlite")


@pytest.fixture
def jobs(settings: WebSettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    """Jobs whose worker processes do what the request says (see obedient_worker.py)."""
    use_obedient_workers(monkeypatch)
    folder = WorkFolder(settings.work_folder)
    made = Jobs(settings, folder)
    yield made
    made.close()
    folder.close()


def use_obedient_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heterophily.web.process.MODULE", "obedient_worker")
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    assert sys.executable


def wait_for(job: PageJob, *states: str, seconds: float = 120) -> str:
    """Wait until a job is in one of the states."""
    deadline = time.monotonic() + seconds
    while job.state not in states:
        assert time.monotonic() < deadline, f"still {job.state}"
        time.sleep(0.01)
    return job.state
