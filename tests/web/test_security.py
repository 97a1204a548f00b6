from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.datastructures import Headers
from web.conftest import Live

from heterophily.web.security import CONTENT_POLICY, host_refusal, site_refusal
from heterophily.web.settings import WebSettings


def settings(host: str = "127.0.0.1", port: int = 8765) -> WebSettings:
    return WebSettings(Path("w"), Path("s"), host=host, port=port)


@pytest.mark.parametrize(
    ("listens_on", "host", "is_known"),
    [
        ("127.0.0.1", "127.0.0.1:8765", True),
        ("127.0.0.1", "localhost:8765", True),
        ("127.0.0.1", "[::1]:8765", True),
        ("127.0.0.1", "127.0.0.1", False),  # port 80 is another server
        ("127.0.0.1", "127.0.0.1:8766", False),
        ("127.0.0.1", "evil.example:8765", False),  # a name that points here
        ("127.0.0.1", "localhost.evil.example:8765", False),
        ("127.0.0.1", "192.168.1.5:8765", False),
        ("127.0.0.1", "user@127.0.0.1:8765", False),
        ("127.0.0.1", "127.0.0.1:8765/x", False),
        ("127.0.0.1", "127.0.0.1:99999999", False),
        ("127.0.0.1", "", False),
        ("192.168.1.5", "192.168.1.5:8765", True),
        ("192.168.1.5", "192.168.1.6:8765", False),
        ("0.0.0.0", "192.168.1.5:8765", True),
        ("0.0.0.0", "evil.example:8765", False),
    ],
)
def test_a_host_header_must_name_this_server(listens_on: str, host: str, is_known: bool) -> None:
    assert (host_refusal([host], settings(listens_on)) is None) is is_known


def test_no_host_header_or_two_are_refused() -> None:
    assert host_refusal([], settings()) is not None
    assert host_refusal(["127.0.0.1:8765", "127.0.0.1:8765"], settings()) is not None


@pytest.mark.parametrize(
    ("method", "path", "headers", "is_allowed"),
    [
        ("POST", "/api/graphs", {}, True),  # no browser: curl, scripts
        ("POST", "/api/graphs", {"origin": "http://127.0.0.1:8765"}, True),
        ("POST", "/api/graphs", {"origin": "http://evil.example"}, False),
        ("POST", "/api/graphs", {"origin": "https://127.0.0.1:8765"}, False),
        ("POST", "/api/graphs", {"origin": "null"}, False),  # a sandboxed page, a local file
        ("POST", "/api/graphs", {"origin": ""}, False),
        ("POST", "/api/graphs", {"sec-fetch-site": "same-site"}, False),  # another port
        ("POST", "/elsewhere", {"sec-fetch-site": "cross-site"}, False),
        ("GET", "/api/jobs/1/events", {"sec-fetch-site": "cross-site"}, False),
        ("GET", "/api/jobs/1/events", {"origin": "http://evil.example"}, False),
        ("GET", "/api/jobs/1/events", {"sec-fetch-site": "same-origin"}, True),
        ("GET", "/api/graphs/1/report.html", {"sec-fetch-site": "none"}, True),
        ("GET", "/", {"sec-fetch-site": "cross-site"}, True),  # a link to the page
    ],
)
def test_requests_of_other_sites_are_refused(
    method: str, path: str, headers: dict[str, str], is_allowed: bool
) -> None:
    found = Headers({"host": "127.0.0.1:8765", **headers})
    assert (site_refusal(found, method, path) is None) is is_allowed


def test_the_server_refuses_a_foreign_host_and_a_foreign_site(live: Live) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        for answer in (
            live.post("/api/playground/graph", json={}, headers=headers),
            live.get("/api/jobs/0123456789abcdef/events", headers=headers),
        ):
            assert answer.status_code == 403
            assert set(answer.json()) == {"error"}


@pytest.mark.parametrize(
    "path", ["/", "/app.js", "/api/known", "/api/nothing", "/api/openapi.json"]
)
def test_every_answer_is_marked_and_none_invites_other_sites(live: Live, path: str) -> None:
    headers = live.get(path, headers={"Origin": live.url}).headers
    assert headers["content-security-policy"] == CONTENT_POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_a_preflight_of_another_site_gets_no_permission(live: Live) -> None:
    import requests

    answer = requests.options(
        live.url + "/api/graphs",
        headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"},
        timeout=30,
    )
    assert answer.status_code == 403
    assert not any(name.lower().startswith("access-control") for name in answer.headers)


def chunks(count: int) -> Iterator[bytes]:
    head = b'--x\r\nContent-Disposition: form-data; name="edges"; filename="e.csv"\r\n\r\n'
    yield head
    for _ in range(count):
        yield b"1" * 2**20


def test_a_body_without_a_length_is_cut_off_at_the_limit(live: Live) -> None:
    answer = live.post(
        "/api/graphs", data=chunks(3), headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert answer.status_code == 413
    assert "larger than 2 MB" in answer.json()["error"]


def test_a_body_that_is_no_upload_has_a_small_limit(live: Live) -> None:
    answer = live.post("/api/playground/graph", data=b"[" * 70_000)
    assert answer.status_code == 413
    assert "larger than 64 kB" in answer.json()["error"]


def test_paths_do_not_leave_the_static_folder(live: Live) -> None:
    import http.client

    for path in (
        "/../app.py",
        "/%2e%2e/app.py",
        "/..%2fapp.py",
        "//etc/passwd",
        "/.%2e/web/app.py",
    ):
        connection = http.client.HTTPConnection("127.0.0.1", live.settings.port, timeout=30)
        connection.request("GET", path)
        assert connection.getresponse().status in (400, 404), path
        connection.close()
