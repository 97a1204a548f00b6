from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra [web] is not installed")
pytest.importorskip("uvicorn", reason="the extra [web] is not installed")

import requests

from heterophily.cli.serve import listen, serve
from heterophily.errors import InputError, MissingExtraError

COMMAND = "import typer; from heterophily.cli.serve import serve; typer.run(serve)"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_port_in_use_is_one_sentence() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1 port {port} .*--port"):
            listen("127.0.0.1", port)


def test_a_host_that_does_not_exist_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"--host no\.such\.host\.invalid: no such address"):
        listen("no.such.host.invalid", 8765)


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let nothing listen: note what would be served."""
    served: list[Any] = []
    monkeypatch.setattr("heterophily.cli.serve.listen", lambda *_: socket.socket())
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: served.append(self.config.app))
    monkeypatch.setattr("typer.launch", served.append)
    return served


def run(tmp_path: Path, **options: Any) -> None:
    given: dict[str, Any] = {"host": "127.0.0.1", "port": 8765, "is_opened": False}
    given |= {"work_folder": tmp_path / "work", "store": tmp_path / "s.sqlite"}
    serve(**given | {"max_upload_mb": 7, "max_jobs": 1, "data_folder": None} | options)


def test_the_address_is_said_and_opened_when_asked(
    tmp_path: Path, quiet: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, is_opened=True)
    assert quiet[0] == "http://127.0.0.1:8765/"
    assert quiet[1].state.server.settings.max_upload_mb == 7
    told = capsys.readouterr()
    assert told.out == "heterophily is at http://127.0.0.1:8765/ (Ctrl-C ends it)\n"
    assert told.err == ""


def test_another_host_than_this_machine_is_warned_about(
    tmp_path: Path, quiet: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, host="0.0.0.0")
    assert len(quiet) == 1
    told = capsys.readouterr().err
    assert told.startswith("warning: everybody who can reach 0.0.0.0 and knows this address")
    assert told.count("\n") == 1


def test_without_the_extra_the_sentence_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heterophily\[web\]'"):
        run(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_a_real_server_and_its_workers(tmp_path: Path) -> None:
    port = free_port()
    server = subprocess.Popen(
        [
            *(sys.executable, "-c", COMMAND, "--no-open", "--port", str(port)),
            *("--work-folder", str(tmp_path / "work"), "--store", str(tmp_path / "s.sqlite")),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        assert "heterophily is at" in server.stdout.readline()
        deadline = time.monotonic() + 120
        while True:
            try:
                assert requests.get(f"http://127.0.0.1:{port}/", timeout=5).status_code == 200
                break
            except requests.ConnectionError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
        workers = children.read_text().split() if children.exists() else []
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=30)
    finally:
        server.kill()
        server.wait()
    assert "Traceback" not in errors
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
