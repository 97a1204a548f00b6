"""A server that others can reach asks for its token; connections that say nothing are closed."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import requests
from web.conftest import Live, free_port, running

from heterophily.web import connections, security
from heterophily.web.settings import WebSettings

TOKEN = "a-token&of=mine"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("guarded")
    settings = WebSettings(
        folder / "work", folder / "runs.sqlite", host="0.0.0.0", port=free_port(), token=TOKEN
    )
    with running(settings) as server:
        yield server


def test_nothing_is_answered_without_the_token(guarded: Live) -> None:
    for path in ("/", "/app.js", "/api/jobs", "/api/openapi.json", "/api/graphs"):
        answer = guarded.get(path)
        assert answer.status_code == 401, path
        assert "needs its token" in answer.json()["error"]
        assert "set-cookie" not in answer.headers
    assert guarded.post("/api/graphs/examples", json={"name": "karate"}).status_code == 401


def test_the_address_with_the_token_gives_a_cookie_that_scripts_cannot_read(guarded: Live) -> None:
    session = requests.Session()
    answer = session.get(
        guarded.url + "/", params={"token": TOKEN, "tab": "a b"}, allow_redirects=False, timeout=20
    )
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?tab=a+b"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert session.get(guarded.url + "/api/jobs", timeout=20).json() == []
    assert session.get(guarded.url + "/", timeout=20).status_code == 200


def test_a_program_sends_the_token_in_a_header(guarded: Live) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/api/jobs", headers=headers).status_code == 200


def test_an_address_never_leads_to_another_host(guarded: Live) -> None:
    answer = guarded.get("//elsewhere.example/", params={"token": TOKEN}, allow_redirects=False)
    assert answer.headers.get("location", "/").startswith("/")
    assert not answer.headers.get("location", "/").startswith("//")


def test_guessing_is_slowed_down(tmp_path: Path) -> None:
    settings = WebSettings(
        tmp_path / "work", tmp_path / "runs.sqlite", host="0.0.0.0", port=free_port(), token=TOKEN
    )
    with running(settings) as server:
        found = [server.get("/", params={"token": f"x{k}"}).status_code for k in range(14)]
        assert found[:10] == [401] * 10
        assert found[11:] == [429] * 3
        right = server.get("/api/jobs", headers={"authorization": f"Bearer {TOKEN}"})
        assert right.status_code == 429


def test_this_machine_alone_needs_no_token(live: Live) -> None:
    assert live.settings.token is None
    assert live.get("/api/jobs").status_code == 200


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n"])
def test_half_a_request_is_ended(
    sent: bytes, settings: WebSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.5)
    with (
        running(replace(settings, port=free_port()), http=connections.TimedProtocol) as server,
        socket.create_connection(("127.0.0.1", server.settings.port), timeout=15) as client,
    ):
        client.sendall(sent)
        while client.recv(1000):  # ends with an error where nobody closes within 15 seconds
            pass
        with requests.Session() as ordinary:
            for _ in range(3):
                assert ordinary.get(server.url + "/api/jobs", timeout=10).status_code == 200
                time.sleep(0.3)


def test_half_a_body_is_ended(settings: WebSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "BODY_SECONDS", 0.5)
    with running(replace(settings, port=free_port())) as server:
        port = server.settings.port
        with socket.create_connection(("127.0.0.1", port), timeout=15) as client:
            client.sendall(
                b"POST /api/graphs/examples HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{" % port
            )
            client.recv(1000)  # ends with an error where nobody answers within 15 seconds
