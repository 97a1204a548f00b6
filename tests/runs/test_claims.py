"""Claims: one holder at a time, dropped on death."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from runs.pretend import some_run

from heterophily.errors import InputError
from heterophily.runs.claims import claims_of

HOLDER = """
import sys, time
from heterophily.runs.claims import claims_of
with claims_of(sys.argv[1]).claim(sys.argv[2]) as is_ours:
    print(is_ours, flush=True)
    time.sleep(60)
"""


def holder(store: Path, key: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(store), key], stdout=subprocess.PIPE, text=True
    )


def test_a_claim_of_another_process_is_refused_and_dropped_when_it_is_killed(
    tmp_path: Path,
) -> None:
    store, key = tmp_path / "runs.sqlite", some_run(0).key
    with holder(store, key) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        claims = claims_of(store)
        assert claims.is_taken(key)
        assert not claims.is_taken(some_run(1).key)
        other.send_signal(signal.SIGKILL)
        other.wait()
        with claims.claim(key) as is_ours:
            assert is_ours


def test_a_claim_is_refused_a_second_time_within_one_process(tmp_path: Path) -> None:
    claims = claims_of(tmp_path / "runs.sqlite")
    with claims.claim("a" * 64) as first, claims_of(tmp_path / "runs.sqlite").claim("a" * 64) as no:
        assert (first, no) == (True, False)
    assert not claims.is_taken("a" * 64)


def test_a_folder_that_cannot_be_written_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"cannot write /proc/runs\.sqlite-claims: "):
        claims_of("/proc/runs.sqlite")


def test_windows_has_its_own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without fcntl, one byte is locked through msvcrt at the place of the key."""
    asked: list[tuple[int, int, int]] = []

    def locking(handle: int, mode: int, count: int) -> None:
        asked.append((os.lseek(handle, 0, os.SEEK_CUR), mode, count))

    fake = SimpleNamespace(LK_NBLCK=2, LK_UNLCK=0, locking=locking)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    claims = claims_of(tmp_path / "runs.sqlite")
    with claims.claim("0" * 64) as is_ours:
        assert is_ours
    (first, second) = asked
    assert first[0] == second[0]
    assert (first[1:], second[1:]) == ((2, 1), (0, 1))
