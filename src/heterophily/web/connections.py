"""Connections that say nothing are closed: a client cannot hold one open by sending half a request.

uvicorn has a time limit between requests, but none for a request that has begun.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 20.0  # for the first line and the headers


class TimedProtocol(H11Protocol):
    """HTTP whose request must arrive in time, from its first byte to the end of its headers."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a request, unless it is complete."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._cancel()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self._is_served():
            self._cancel()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(REQUEST_SECONDS, self._end)

    def _end(self) -> None:
        self._waiting = None
        if not self._is_served():
            self.transport.close()

    def _is_served(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _cancel(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
