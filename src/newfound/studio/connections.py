"""Connections: how many there may be, and how long one may take to say what it wants."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from newfound.studio.limits import ServiceLimits


class Connection(H11Protocol):
    """HTTP on one connection. h11 limits the size of headers; here are the other two limits.

    What comes after the headers is the business of `Guard`.
    """

    # most: connections that may be open. patience: seconds for the headers of a request.
    # _timer: runs while a request has begun and its headers are not complete.

    most = ServiceLimits().connections
    patience = 10.0

    def __init__(self, *values: Any, **options: Any) -> None:
        super().__init__(*values, **options)
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or end it if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
        else:
            self._timer = self.loop.call_later(self.patience, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and see whether a request is complete but for its body."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.patience, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of a connection."""
        self._stop()
        super().connection_lost(exc)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
