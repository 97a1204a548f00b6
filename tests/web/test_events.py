from __future__ import annotations

import asyncio
import time

import pytest
from web.conftest import Live, parsed, wait_for

from heterophily.web.events import stream
from heterophily.web.jobs import Jobs


def text(jobs: Jobs, name: str, after: int) -> str:
    async def collect() -> str:
        return "".join([part async for part in stream(jobs, jobs.get(name), after)])

    return asyncio.run(collect())


def test_events_are_numbered_from_one_and_the_stream_ends_with_the_job(jobs: Jobs) -> None:
    job = jobs.submit("playground", {"steps": 3, "seconds": 0.05})
    events = parsed(text(jobs, job.id, 0))
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    assert events[-1][2]["state"] == "done"


def test_the_end_is_never_missed_however_slow_the_disk(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heterophily.web.jobs.write_json", lambda *_: time.sleep(0.3))
    monkeypatch.setattr("heterophily.web.events.LOOK_SECONDS", 0.001)
    job = jobs.submit("comparison", {"steps": 2})
    assert parsed(text(jobs, job.id, 0))[-1][2] == {"state": "done", "error": None}


def test_a_reader_that_was_cut_off_gets_exactly_what_it_missed(jobs: Jobs) -> None:
    job = jobs.submit("playground", {"steps": 5})
    wait_for(job, "done")
    whole = parsed(text(jobs, job.id, 0))
    for seen in range(len(whole) + 1):
        assert parsed(text(jobs, job.id, seen)) == whole[seen:]
    assert parsed(text(jobs, job.id, 10**9)) == []


def test_the_server_goes_on_after_the_last_event_id(live: Live) -> None:
    job = live.post("/api/graphs/examples", json={"name": "davis"}).json()["job"]["id"]
    whole = parsed(live.follow(job).text)
    part = live.follow(job, headers={"Last-Event-ID": "2"})
    assert part.headers["content-type"].startswith("text/event-stream")
    assert parsed(part.text) == whole[2:]


def test_a_last_event_id_that_is_no_number_is_refused(live: Live) -> None:
    answer = live.follow("0" * 16, headers={"Last-Event-ID": "x"})
    assert answer.status_code == 422
