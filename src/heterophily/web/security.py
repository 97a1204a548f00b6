"""The door: who may ask, how much may be sent, and what a browser may do with the answer.

A page of another site can make a browser send requests to this machine. Three checks stop it:
the ``Host`` header must name this server (a foreign name that resolves to this machine is refused),
``Origin`` and ``Sec-Fetch-Site`` must not name another site, and no answer carries a CORS header.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from heterophily.web.access import Access
from heterophily.web.refusal import problem
from heterophily.web.settings import WebSettings, is_loopback

SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
OWN_SITE = {"same-origin", "none"}  # "none": typed, or opened from a bookmark
API = "/api/"
BODY_SECONDS = 60.0  # between two pieces of a body
JSON_BYTES = 64 * 1024  # of a request that is no upload

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
DOCUMENT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)
"""For reports: they may run their own scripts, but as a site of their own, without network."""

HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Refuses foreign hosts, foreign sites and large bodies; marks every answer.

    ``limits`` maps a path to the most bytes of its body; elsewhere :data:`JSON_BYTES` hold.
    """

    def __init__(
        self, app: ASGIApp, *, settings: WebSettings, limits: Mapping[str, int] | None = None
    ) -> None:
        self.app, self.settings, self.limits = app, settings, dict(limits or {})
        self.access = Access(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        marked = _marking(send)
        refusal = host_refusal(headers.getlist("host"), self.settings) or site_refusal(
            headers, scope["method"], scope["path"]
        )
        if refusal is not None:
            await problem(403, refusal)(scope, receive, marked)
            return
        stranger = self.access.refusal(scope, headers)
        if stranger is not None:
            await problem(*stranger)(scope, receive, marked)
            return
        welcome = self.access.welcome(scope)
        if welcome is not None:
            await welcome(scope, receive, marked)
            return
        body = _Body(receive, marked, scope, self.limits.get(scope["path"], JSON_BYTES))
        try:
            await self.app(scope, body.receive, body.send)
        except Exception:
            if body.is_within:
                raise
        await body.finish()


def host_refusal(values: list[str], settings: WebSettings) -> str | None:
    """Return why a ``Host`` header is refused, or None.

    A server on the loopback answers to its names. One on another address answers to that address,
    and one on all addresses to any address in numbers: those cannot be made to point elsewhere.
    """
    host, port = _split(values[0]) if len(values) == 1 else (None, None)
    known = host is not None and (
        host == settings.host
        or is_loopback(host)
        or (settings.host in ("0.0.0.0", "::") and _is_address(host))
    )
    if known and port == settings.port:
        return None
    return "the Host header does not name this server; open the address that heterophily serve says"


def site_refusal(headers: Headers, method: str, path: str) -> str | None:
    """Return why a request that another site caused is refused, or None.

    Guarded are all requests that change something and everything below ``/api/``, event streams
    included. The page itself may be opened by a link from anywhere.
    """
    if method in SAFE_METHODS and not path.startswith(API):
        return None
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    is_foreign = site is not None and site not in OWN_SITE
    if origin is not None:
        parts = urlsplit(origin)
        is_foreign |= parts.scheme != "http" or parts.netloc != headers.get("host")
    return "requests that another site makes are refused" if is_foreign else None


def _split(host: str) -> tuple[str | None, int | None]:
    try:
        parts = urlsplit(f"//{host}")
        is_bare = parts.netloc == host and parts.username is None
        return (parts.hostname, parts.port or 80) if is_bare else (None, None)
    except ValueError:
        return None, None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _marking(send: Send) -> Send:
    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return marked


class _Body:
    """Counts the bytes of a body as they arrive: what a header promises is not trusted."""

    def __init__(self, receive: Receive, send: Send, scope: Scope, limit: int) -> None:
        self._receive, self._send, self._scope, self._limit = receive, send, scope, limit
        self._count = 0
        self._is_whole = False

    @property
    def is_within(self) -> bool:
        return self._count <= self._limit

    async def receive(self) -> Message:
        if self.is_within:
            try:
                # Once the body is whole, the next message is the end of the connection.
                wait = None if self._is_whole else BODY_SECONDS
                message = await asyncio.wait_for(self._receive(), wait)
            except TimeoutError:
                return {"type": "http.disconnect"}
            self._is_whole = not message.get("more_body", False)
            self._count += len(message.get("body", b""))
            if self.is_within:
                return message
        return {"type": "http.disconnect"}  # the route sees a client that went away

    async def send(self, message: Message) -> None:
        if self.is_within:
            await self._send(message)

    async def finish(self) -> None:
        if not self.is_within:
            sentence = (
                f"the request is larger than {_size(self._limit)}; send less, or start "
                "heterophily serve with a larger --max-upload-mb"
            )
            await problem(413, sentence)(self._scope, self._receive, self._send)


def _size(count: int) -> str:
    return f"{count >> 20} MB" if count >= 2**20 else f"{count >> 10} kB"
