"""Server-sent events: what a job tells, numbered, so that a reader goes on where it was cut off."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

from heterophily.web.jobs import Jobs, PageJob
from heterophily.web.refusal import RefusedError

LOOK_SECONDS = 0.1
BEAT_SECONDS = 10.0


def line(number: int, event: str, data: dict[str, Any]) -> str:
    r"""Return one event as it is sent.

    >>> line(3, "state", {"state": "done"})
    'id: 3\nevent: state\ndata: {"state": "done"}\n\n'
    """
    return f"id: {number}\nevent: {event}\ndata: {json.dumps(data)}\n\n"


async def stream(jobs: Jobs, job: PageJob, after: int) -> AsyncIterator[str]:
    """Send the events of a job beyond number ``after``; end when the job does.

    A comment is sent now and then, so that a reader that went away is noticed.
    """
    number, last = after, time.monotonic()
    yield "retry: 1000\n\n"
    while True:
        is_final = job.is_final  # before the events: none is missed
        for number, (event, data) in enumerate(job.events[number:], start=number + 1):  # noqa: B020
            yield line(number, event, data)
            last = time.monotonic()
        if is_final or jobs.is_closed:
            yield "event: end\ndata: {}\n\n"
            return
        if time.monotonic() - last > BEAT_SECONDS:
            yield ": still here\n\n"
            last = time.monotonic()
        await asyncio.sleep(LOOK_SECONDS)


async def finished(jobs: Jobs, job: PageJob, *, seconds: float) -> PageJob:
    """Wait for the end of a job; refuse when it takes too long or failed."""
    deadline = time.monotonic() + seconds
    while not job.is_final:
        if time.monotonic() > deadline or jobs.is_closed:
            raise RefusedError(503, f"no answer within {seconds:.0f} s; ask again in a moment")
        await asyncio.sleep(0.02)
    if job.state != "done":
        raise RefusedError(400, job.error or "the job was stopped")
    return job
