"""The door: connections are counted when they come, and ended when they keep others out."""

import asyncio
import errno
import logging
import math
import socket
import ssl
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from newfound.studio.connections import Connection
from newfound.studio.limits import LONGEST_UNREAD, ServiceLimits

log = logging.getLogger("newfound.studio")
# What the system says if there are no more files, or no memory for them, and seconds to wait then.
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
PAUSE = 0.2
# Connections that may wait until they are taken.
BACKLOG = 2048
# Connections that an address may have like any other: a browser opens six at once.
USUAL = 8


@dataclass(eq=False)
class Guest:
    """A connection that was taken: its socket, what speaks on it, and who came."""

    connection: Connection
    socket: socket.socket
    address: str
    greeting: "asyncio.Task[None]"

    @property
    def has_gone(self) -> bool:
        """Whether its file is closed."""
        return self.socket.fileno() == -1

    @property
    def may_go(self) -> bool:
        """Whether it may be ended in favour of another: it keeps us waiting, without a token."""
        connection = self.connection
        if connection.is_trusted:
            return False
        if connection.transport is not None and connection.transport.is_closing():
            return True  # a WebSocket that was refused, for one
        return connection.deadline < math.inf

    def end(self) -> None:
        """Close it at once, whatever it does."""
        if self.connection.transport is None:  # TLS has not begun, or is not through
            self.greeting.cancel()
        else:
            self.connection.transport.abort()


class Door:
    """Takes connections on sockets, at most so many.

    They are counted before TLS. If there are too many, the one ends that has kept us waiting
    for longest: of the address that has most of them if one has more than is usual, else of all.
    So whoever comes gets in. Those that brought the token, WebSockets, and those that the service
    works for stay.

    Parameters
    ----------
    sockets : iterable of sockets
        They are bound, and not closed here.
    make : callable
        Makes what speaks on a connection.
    limits : ServiceLimits
    tls : SSLContext, optional
    """

    # most: connections that may be open. _guests: those that were not seen to end, oldest first.

    def __init__(
        self,
        sockets: Iterable[socket.socket],
        make: Callable[[], Connection],
        limits: ServiceLimits,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.most = min(limits.connections, most_files() // 2)
        self._loop = asyncio.get_running_loop()
        self._make = make
        self._tls: dict[str, Any] = {}
        if tls is not None:
            self._tls = {"ssl": tls, "ssl_shutdown_timeout": LONGEST_UNREAD}
        self._guests: list[Guest] = []
        self._tasks = []
        for each in sockets:
            each.setblocking(False)
            each.listen(BACKLOG)
            self._tasks.append(self._loop.create_task(self._take_all(each)))

    def sweep(self) -> None:
        """End connections that are past their deadline; it is to be called again and again."""
        self._forget_gone()
        now = self._loop.time()
        for guest in self._guests:
            if guest.connection.deadline < now:
                guest.end()

    def close(self) -> None:
        """Take no more connections; those that are through TLS go on."""
        for task in self._tasks:
            task.cancel()
        for guest in self._guests:
            guest.greeting.cancel()

    async def wait_closed(self) -> None:
        """Wait until no more connections are taken."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _take_all(self, listening: socket.socket) -> None:
        while True:
            try:
                taken, address = await self._loop.sock_accept(listening)
            except OSError as error:
                if error.errno in EXHAUSTED:
                    log.warning("no connection can be taken: %s", error.strerror)
                    self._make_room(len(self._guests))
                    await asyncio.sleep(PAUSE)
            else:
                self._take(taken, str(address[0]))
            await asyncio.sleep(0)  # others have their turn, however many come

    def _take(self, taken: socket.socket, address: str) -> None:
        if not self._make_room(self.most):
            taken.close()
            return
        connection = self._make()
        greeting = self._loop.create_task(self._greet(connection, taken))
        # Also if it was cancelled before it began.
        greeting.add_done_callback(lambda _: _close_unless(connection.transport, taken))
        self._guests.append(Guest(connection, taken, address, greeting))

    async def _greet(self, connection: Connection, taken: socket.socket) -> None:
        with suppress(OSError):  # which errors of TLS are, too
            await self._loop.connect_accepted_socket(lambda: connection, taken, **self._tls)

    def _make_room(self, most: int) -> bool:
        """Have fewer connections than `most`; return False if none of them may end."""
        self._forget_gone()
        if len(self._guests) < most:
            return True
        guests = [guest for guest in self._guests if guest.may_go]
        if not guests:
            return False
        crowds = Counter(guest.address for guest in guests)
        last = min(guests, key=lambda one: (-max(crowds[one.address], USUAL), one.connection.since))
        last.end()
        self._guests.remove(last)
        return True

    def _forget_gone(self) -> None:
        self._guests = [guest for guest in self._guests if not guest.has_gone]


def _close_unless(transport: asyncio.Transport | None, taken: socket.socket) -> None:
    """Close a socket that no transport has taken over."""
    if transport is None:
        taken.close()


def most_files() -> int:
    """Return how many files this process may have open.

    Examples
    --------
    >>> most_files() > 8
    True
    """
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
