from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from processes import is_alive
from web.conftest import HERE, use_obedient_workers, wait_for

from heterophily.web.folder import WorkFolder
from heterophily.web.jobs import INTERRUPTED, KINDS, Jobs
from heterophily.web.process import MAKES_WAY
from heterophily.web.refusal import RefusedError
from heterophily.web.settings import WebSettings

SLOW = {"steps": 1000, "seconds": 0.02}
DEAF = {"steps": 1, "seconds": 600}


def pid_of(job: object) -> int:
    return next(int(data["pid"]) for event, data in job.events if event == "step")  # type: ignore[attr-defined]


def wait_for_step(job: object) -> int:
    deadline = time.monotonic() + 120
    while not any(event == "step" for event, _ in job.events):  # type: ignore[attr-defined]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return pid_of(job)


def test_a_job_runs_in_another_process_and_tells_what_it_does(jobs: Jobs) -> None:
    job = jobs.submit("playground", {"steps": 2})
    assert wait_for(job, "done") == "done"
    assert [data.get("number", data.get("state")) for _, data in job.events] == [
        *("waiting", "running"),
        *(0, 1),
        "done",
    ]
    assert pid_of(job) != os.getpid()
    assert job.result == {"value": 1.5, "cwd_is_known": True}


def test_what_is_not_a_finite_number_arrives_as_nothing(jobs: Jobs) -> None:
    job = jobs.submit("playground", {"nan": True})
    wait_for(job, "done")
    assert job.result["value"] is None


def test_the_same_process_serves_the_next_job(jobs: Jobs) -> None:
    pids = set()
    for _ in range(2):
        job = jobs.submit("playground", {})
        wait_for(job, "done")
        pids.add(pid_of(job))
    assert len(pids) == 1


def test_a_task_that_changes_the_folder_leaves_none_to_the_next(jobs: Jobs) -> None:
    places = []
    for _ in range(2):
        job = jobs.submit("playground", {"chdir": True})
        wait_for(job, "done")
        places.append(next(data["place"] for event, data in job.events if event == "step"))
    assert places[0] == places[1]


def test_no_more_jobs_run_than_allowed_and_no_more_wait_than_allowed(
    settings: WebSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_obedient_workers(monkeypatch)
    small = WebSettings(settings.work_folder, settings.store, max_jobs=1, max_waiting=1)
    folder = WorkFolder(small.work_folder)
    jobs = Jobs(small, folder)
    try:
        first, second = (jobs.submit("comparison", SLOW) for _ in range(2))
        wait_for_step(first)
        assert (first.state, second.state) == ("running", "waiting")
        with pytest.raises(RefusedError, match="1 job is waiting already") as refused:
            jobs.submit("comparison", SLOW)
        assert refused.value.status == 429
        jobs.stop(first.id)
        assert wait_for(second, "running") == "running"
    finally:
        jobs.close()
        folder.close()


def test_the_playground_does_not_wait_for_comparisons(jobs: Jobs) -> None:
    long = [jobs.submit("comparison", SLOW) for _ in range(3)]
    quick = jobs.submit("playground", {})
    assert wait_for(quick, "done") == "done"
    assert not any(job.is_final for job in long)


def test_a_job_that_listens_stops_and_its_process_goes_on_to_the_next(jobs: Jobs) -> None:
    job = jobs.submit("playground", SLOW)
    pid = wait_for_step(job)
    jobs.stop(job.id)
    assert wait_for(job, "stopped", "done", "failed") == "stopped"
    after = jobs.submit("playground", {})
    wait_for(after, "done")
    assert pid_of(after) == pid


def test_a_job_that_does_not_listen_is_ended_by_force(jobs: Jobs) -> None:
    job = jobs.submit("comparison", DEAF)
    pid = wait_for_step(job)
    jobs.stop(job.id)
    assert wait_for(job, "stopped", "failed") == "stopped"
    deadline = time.monotonic() + 120
    while is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_waiting_job_can_be_stopped_and_stopping_twice_is_harmless(jobs: Jobs) -> None:
    running = [jobs.submit("comparison", SLOW) for _ in range(2)]
    waiting = jobs.submit("comparison", SLOW)
    assert all(not job.is_final for job in running)
    for _ in range(2):
        assert jobs.stop(waiting.id).state == "stopped"


def test_a_stopped_job_can_be_resumed_and_a_finished_one_cannot(jobs: Jobs) -> None:
    job = jobs.submit("comparison", {"steps": 30, "seconds": 0.02})
    wait_for_step(job)
    jobs.stop(job.id)
    wait_for(job, "stopped")
    told = len(job.events)
    assert jobs.resume(job.id) is job
    wait_for(job, "done")
    assert len(job.events) > told  # numbers go on: a reader misses nothing
    with pytest.raises(RefusedError, match="the job is done") as refused:
        jobs.resume(job.id)
    assert refused.value.status == 409


def test_an_error_on_purpose_is_its_sentence_and_a_fault_says_where_to_look(jobs: Jobs) -> None:
    refused = jobs.submit("comparison", {"refuse": "edges.csv is empty"})
    faulty = jobs.submit("comparison", {"fault": "x"})
    wait_for(refused, "failed")
    wait_for(faulty, "failed")
    assert refused.error == "edges.csv is empty"
    assert faulty.error is not None
    assert "KeyError" in faulty.error
    assert "worker.log" in faulty.error
    assert "Traceback" in jobs.folder.log.read_text()


def test_a_process_that_dies_fails_its_job_and_no_other(jobs: Jobs) -> None:
    dying, other = jobs.submit("comparison", {"exit": 3}), jobs.submit("comparison", {"steps": 5})
    assert wait_for(dying, "failed") == "failed"
    assert dying.error == "the process of this job ended (exit code 3); memory may be short"
    assert wait_for(other, "done") == "done"


def test_a_full_disk_does_not_hold_up_a_job(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("heterophily.web.jobs.write_json", full)
    job = jobs.submit("comparison", {"steps": 2})
    assert wait_for(job, "done", "failed") == "done"


def test_an_equal_job_is_shared_until_it_fails(jobs: Jobs) -> None:
    first = jobs.shared("study", {"name": "a"})
    assert jobs.shared("study", {"name": "a"}) is first
    assert jobs.shared("study", {"name": "b"}) is not first
    failed = jobs.shared("study", {"refuse": "no"})
    wait_for(failed, "failed")
    assert jobs.shared("study", {"refuse": "no"}) is not failed


def test_jobs_of_an_earlier_server_are_there_and_those_at_work_can_be_resumed(
    settings: WebSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_obedient_workers(monkeypatch)
    folder = WorkFolder(settings.work_folder)
    before = Jobs(settings, folder)
    finished = before.submit("comparison", {"steps": 2}, graph="0" * 16)
    wait_for(finished, "done")
    halted = before.submit("comparison", {"steps": 20, "seconds": 0.05})
    wait_for_step(halted)
    before.close()
    folder.close()
    folder = WorkFolder(settings.work_folder)
    after = Jobs(settings, folder)
    try:
        assert after.get(finished.id).to_dict() == finished.to_dict()
        assert after.get(finished.id).events == finished.events
        found = after.get(halted.id)
        assert (found.state, found.error) == ("stopped", INTERRUPTED)
        after.resume(halted.id)
        assert wait_for(found, "done") == "done"
        assert found.error is None
    finally:
        after.close()
        folder.close()


def test_a_graph_is_not_forgotten_while_a_job_works_on_it(jobs: Jobs) -> None:
    job = jobs.submit("comparison", SLOW, graph="a" * 16)
    assert jobs.busy_graphs() == {"a" * 16}
    with pytest.raises(RefusedError, match="stop it first"):
        jobs.forget("a" * 16)
    jobs.stop(job.id)
    wait_for(job, "stopped")
    jobs.forget("a" * 16)
    with pytest.raises(RefusedError, match="there is no job"):
        jobs.get(job.id)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_no_worker_survives_a_server_that_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time\nfrom pathlib import Path\n"
        "import heterophily.web.process as process\nprocess.MODULE = 'obedient_worker'\n"
        "from heterophily.web.folder import WorkFolder\nfrom heterophily.web.jobs import Jobs\n"
        "from heterophily.web.settings import WebSettings\n"
        "settings = WebSettings(Path(sys.argv[1]), Path(sys.argv[1]) / 's')\n"
        "jobs = Jobs(settings, WorkFolder(settings.work_folder))\n"
        "job = jobs.submit('comparison', {'steps': 1, 'seconds': 600})\n"
        "while not any(e == 'step' for e, _ in job.events): time.sleep(0.02)\n"
        "print(job.worker.pid, flush=True)\ntime.sleep(600)\n"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "work")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])},
    )
    try:
        assert server.stdout is not None
        worker = int(server.stdout.readline())
        assert is_alive(worker)
    finally:
        server.send_signal(signal.SIGKILL)
        server.wait()
        server.stdout.close()  # type: ignore[union-attr]
    deadline = time.monotonic() + 120
    while is_alive(worker):
        assert time.monotonic() < deadline, "the worker lives on"
        time.sleep(0.05)


# --- files of strangers and damaged folders ---------------------------------------------------


def test_reading_is_listed_while_it_reads(jobs: Jobs) -> None:
    job = jobs.submit("import", DEAF)
    assert job in jobs.all()
    jobs.stop(job.id)
    assert wait_for(job, "stopped") == "stopped"
    assert job not in jobs.all()


def test_a_file_that_takes_long_makes_way_for_others(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(os, "getpriority"):
        pytest.skip("this system has no priorities of processes")
    monkeypatch.setattr("heterophily.web.jobs.QUICK_SECONDS", 0.05)
    before = os.getpriority(os.PRIO_PROCESS, 0)
    slow = jobs.submit("import", {"steps": 1, "seconds": 0.4})
    quick = jobs.submit("import", {"steps": 0, "seconds": 0})
    worker = slow.worker
    assert worker is not None
    assert wait_for(quick, "done") == "done"
    deadline = time.monotonic() + 120
    while not worker.makes_way and time.monotonic() < deadline:
        time.sleep(0.01)
    assert os.getpriority(os.PRIO_PROCESS, worker.pid) == max(before, MAKES_WAY)
    assert wait_for(slow, "done") == "done"
    deadline = time.monotonic() + 120
    while is_alive(worker.pid) and time.monotonic() < deadline:  # it would stay slow
        time.sleep(0.01)
    assert not is_alive(worker.pid)


def test_reading_is_ended_at_its_memory_limit(
    settings: WebSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux limits the memory of a process")
    use_obedient_workers(monkeypatch)
    folder = WorkFolder(settings.work_folder)
    made = Jobs(replace(settings, import_mb=100), folder)
    try:
        job = made.submit("import", {"allocate": 300 * 2**20})
        assert wait_for(job, "failed", "done") == "failed"
        assert "not enough memory" in (job.error or "")
        small = made.submit("import", {"allocate": 30 * 2**20})
        assert wait_for(small, "failed", "done") == "done"
        other = made.submit("study", {"allocate": 300 * 2**20})  # the same process, other limits
        assert wait_for(other, "failed", "done") == "done"
    finally:
        made.close()
        folder.close()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_job_has_a_memory_and_a_time_limit(
    kind: str, settings: WebSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_obedient_workers(monkeypatch)
    folder = WorkFolder(settings.work_folder)
    few = {"import_seconds": 0.3, "job_minutes": 0.005, "import_mb": 64, "job_mb": 64}
    made = Jobs(replace(settings, **few), folder)
    try:
        endless = made.submit(kind, DEAF)
        assert wait_for(endless, "failed", "done") == "failed"
        assert "took longer than 0 s and was stopped" in (endless.error or "")
    finally:
        made.close()
        folder.close()
    if sys.platform != "linux":
        return
    folder = WorkFolder(settings.work_folder)
    made = Jobs(replace(settings, import_mb=64, job_mb=64), folder)
    try:
        greedy = made.submit(kind, {"allocate": 300 * 2**20})
        assert wait_for(greedy, "failed", "done") == "failed"
        assert "not enough memory" in (greedy.error or "")
    finally:
        made.close()
        folder.close()


def test_a_slow_upload_blocks_neither_other_uploads_nor_work(jobs: Jobs) -> None:
    slow = [jobs.submit("import", {"steps": 1, "seconds": 60}) for _ in range(2)]
    for kind in ("import", "comparison", "playground"):
        assert wait_for(jobs.submit(kind, {}), "done") == "done"
    for job in slow:
        jobs.stop(job.id)
        assert wait_for(job, "stopped") == "stopped"


DAMAGE: list[bytes | dict[str, Any]] = [
    *(b"", b"{", b"[1]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"id": 5}'),
    *({"kind": "of another version"}, {"state": "asleep"}, {"request": None}),
    *({"created": 10**400}, {"created": float("nan")}, {"result": []}),
    *({"kind": []}, {"state": {}}, {"graph": 5}),
    *({"graph": "../../etc"}, {"created": "today"}, {"id": "0123456789abcdef"}),
]


def test_damaged_jobs_neither_stop_the_server_nor_are_deleted(
    settings: WebSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_obedient_workers(monkeypatch)
    folder = WorkFolder(settings.work_folder)
    before = Jobs(settings, folder)
    good, bad = (before.submit("comparison", {"steps": 2}) for _ in range(2))
    for job in (good, bad):
        wait_for(job, "done")
    before.close()
    assert bad.folder is not None
    path = bad.folder / "job.json"
    whole = json.loads(path.read_text())
    try:
        for damage in DAMAGE:
            is_key = isinstance(damage, dict)
            content = json.dumps({**whole, **damage}).encode() if is_key else damage  # type: ignore[dict-item]
            path.write_bytes(content)  # type: ignore[arg-type]
            after = Jobs(settings, folder)
            assert [job.id for job in after.all()] == [good.id], damage
            assert after.damaged == [bad.folder]
            assert path.read_bytes() == content
            after.close()
    finally:
        folder.close()


def test_unknown_keys_and_stray_lines_are_passed_over(
    settings: WebSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_obedient_workers(monkeypatch)
    folder = WorkFolder(settings.work_folder)
    before = Jobs(settings, folder)
    job = before.submit("comparison", {"steps": 2})
    wait_for(job, "done")
    before.close()
    assert job.folder is not None
    path, events = job.folder / "job.json", job.folder / "events.jsonl"
    path.write_text(json.dumps({**json.loads(path.read_text()), "colour": "blue"}))
    lines = events.read_text().splitlines()
    stray = ["5", "[1, 2, 3]", "null", '["a"]', "{", '{"a": 1}', "[3, {}]"]
    events.write_text("\n".join([*stray, *lines, *stray]))
    after = Jobs(settings, folder)
    try:
        assert [found.id for found in after.all()] == [job.id]
        assert after.get(job.id).events == [(e, d) for e, d in map(json.loads, lines)]
    finally:
        after.close()
        folder.close()
