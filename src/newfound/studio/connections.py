"""One connection: what is awaited from the other side, and until when."""

import math
from enum import Enum
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from newfound.studio.guard import TRUSTED
from newfound.studio.limits import LONGEST_UNREAD, ServiceLimits


class Phase(Enum):
    """What is awaited."""

    HEAD = "the headers of a request, and TLS before that"
    BODY = "the rest of a body"
    REST = "the rest of a body that is thrown away, because its answer is sent"
    WORK = "nothing: it is our turn"
    UNREAD = "that an answer is read"
    END = "that the other side reads what is left, and sees the end"


class Connection(H11Protocol):
    """HTTP on one connection, with a deadline for whatever the other side has to do.

    Bytes that come do not put the deadline off, but for those of a body, by the time that they
    may take. `Door` ends what is past its deadline. h11 limits the size of headers.

    Parameters
    ----------
    limits : ServiceLimits
    **options
        Those of uvicorn's `H11Protocol`.
    """

    # since: when we began to wait, by the loop's clock; later by what a body brought meanwhile.

    def __init__(self, limits: ServiceLimits, **options: Any) -> None:
        super().__init__(**options)
        farewell = limits.farewell_seconds
        self._rate = limits.body_rate
        self._seconds = {
            Phase.HEAD: limits.head_seconds,
            Phase.BODY: limits.body_seconds + farewell,  # `Body` says so before that
            Phase.REST: farewell,
            Phase.WORK: math.inf,
            Phase.UNREAD: LONGEST_UNREAD,
            Phase.END: LONGEST_UNREAD,
        }
        self._enter(Phase.HEAD)

    @property
    def deadline(self) -> float:
        """By the loop's clock, when it is to be ended; infinite if nothing is awaited."""
        return self.since + self._seconds[self._phase]

    @property
    def is_trusted(self) -> bool:
        """Whether the last request on it brought the token."""
        scope: Any = self.scope
        return scope is not None and scope.get(TRUSTED, False)

    def data_received(self, data: bytes) -> None:
        """Take bytes."""
        super().data_received(data)
        self._follow()
        if self._phase is Phase.BODY:
            self.since += len(data) / self._rate

    def on_response_complete(self) -> None:
        """Wait for the next request, or a while for the rest of this one."""
        super().on_response_complete()
        self._follow()

    def pause_writing(self) -> None:
        """Wait until something of an answer is read."""
        super().pause_writing()
        self._follow()

    def resume_writing(self) -> None:
        """Go on: a good part of an answer was read."""
        super().resume_writing()
        self._follow()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection on, or end it if the request is none that a WebSocket begins with."""
        super().handle_websocket_upgrade(event)
        protocol: Any = self.transport.get_protocol()
        if not protocol.handshake_initiated:  # which would wait for ever
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; where an answer has begun, there is no place for another."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def _follow(self) -> None:
        """Begin to wait anew if something else is awaited than before."""
        phase = self._phase_now()
        if phase is not self._phase:
            self._enter(phase)

    def _enter(self, phase: Phase) -> None:
        self._phase, self.since = phase, self.loop.time()

    def _phase_now(self) -> Phase:
        if self.transport.is_closing():
            return Phase.END
        if self.transport.get_protocol() is not self:  # it is a WebSocket now
            return Phase.WORK
        if self.conn.their_state is h11.IDLE:
            return Phase.HEAD
        if self.conn.their_state is h11.SEND_BODY:
            return Phase.REST if self.cycle.response_complete else Phase.BODY
        return Phase.UNREAD if self.flow.write_paused else Phase.WORK
