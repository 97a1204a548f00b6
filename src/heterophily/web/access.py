"""Who is let in where others can reach the server: a token, kept by the browser as a cookie."""

from __future__ import annotations

import hmac
import time
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from heterophily.web.settings import WebSettings

QUERY = "token"
MAX_CLIENTS = 10_000


class Bucket:
    """Lets a client do something ``burst`` times at once and ``per_second`` times in the long run.

    >>> bucket = Bucket(burst=2, per_second=0.0)
    >>> [bucket.take("client") for _ in range(3)], bucket.take("another")
    ([True, True, False], True)
    """

    def __init__(self, *, burst: int, per_second: float) -> None:
        self._burst, self._per_second = burst, per_second
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, client: str) -> bool:
        """Take one of a client; False when none is left."""
        left, now = self.left(client), time.monotonic()
        if len(self._left) >= MAX_CLIENTS and client not in self._left:
            del self._left[next(iter(self._left))]  # the one seen longest ago
        self._left.pop(client, None)
        self._left[client] = (left - 1 if left >= 1 else left, now)
        return left >= 1

    def left(self, client: str) -> float:
        """Return how many a client has left."""
        left, seen = self._left.get(client, (float(self._burst), 0.0))
        return min(self._burst, left + self._per_second * (time.monotonic() - seen))


class Access:
    """Compares tokens, and counts requests and wrong tokens of each client."""

    def __init__(self, settings: WebSettings) -> None:
        self.token = settings.token
        self.cookie = f"heterophily-{settings.port}"
        self._requests = Bucket(burst=400, per_second=50.0)
        self._wrong = Bucket(burst=10, per_second=0.1)

    def refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Return status and sentence of a request that is not let in, or None."""
        if self.token is None:
            return None
        client = (scope.get("client") or ("unknown", 0))[0]
        if self._wrong.left(client) < 1:
            return 429, "too many wrong tokens; wait a minute"
        if not self._requests.take(client):
            return 429, "too many requests; wait a moment"
        if any(self._is_right(given) for given in self._given(scope, headers)):
            return None
        if any(True for _ in self._given(scope, headers)):
            self._wrong.take(client)
        return 401, (
            "this page needs its token; open the address with ?token= that heterophily serve "
            "printed"
        )

    def welcome(self, scope: Scope) -> Response | None:
        """Answer the address with the token: keep it as a cookie and show the address without."""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if self.token is None or scope["method"] != "GET" or QUERY not in dict(pairs):
            return None
        rest = urlencode([(key, value) for key, value in pairs if key != QUERY])
        path = "/" + scope["path"].lstrip("/\\")  # never another host
        answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return answer

    def _given(self, scope: Scope, headers: Headers) -> list[str]:
        """Return every token of a request: in its address, its cookie, or its header."""
        query = scope["query_string"].decode("latin-1")
        found = [value for key, value in parse_qsl(query) if key == QUERY]
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            cookies.clear()
        if self.cookie in cookies:
            found.append(cookies[self.cookie].value)
        kind, _, value = headers.get("authorization", "").partition(" ")
        return [*found, value.strip()] if kind.lower() == "bearer" else found

    def _is_right(self, given: str) -> bool:
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())
