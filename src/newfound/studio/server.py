"""The server: a socket, uvicorn on it, and an end that loses nothing."""

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from newfound.common.errors import InputError
from newfound.common.extras import imported_from

with imported_from("studio"):
    import uvicorn
    import websockets as websockets  # which uvicorn needs for them

from newfound.studio.connections import Connection
from newfound.studio.door import Door
from newfound.studio.limits import LONGEST_UNREAD, MB

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
# Seconds for lessons that wait when the service is told to stop, and for connections to end.
LONGEST_DRAIN, LONGEST_END = 60.0, 5
# What uvicorn exits with if the application does not start.
NOT_STARTED = 3


def is_local(host: str) -> bool:
    """Tell whether only this machine reaches a host.

    Examples
    --------
    >>> is_local("127.0.0.1"), is_local("0.0.0.0")
    (True, False)
    """
    return host.lower() in LOCAL_HOSTS


def bind(host: str, port: int, or_free: bool = False) -> socket.socket:
    """Return a socket bound to an address, or to a free port if that one is taken.

    Raises
    ------
    InputError
        If it cannot be bound; the message says why.
    """
    name = "127.0.0.1" if host.lower() == "localhost" else host
    try:
        return _bound(name, port)
    except socket.gaierror as error:
        raise InputError(f"{host} is no address of this machine: {error.strerror}") from error
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise InputError(f"cannot listen on {host}, port {port}: {error.strerror}") from error
        if or_free:
            return _bound(name, 0)
        raise InputError(
            f"port {port} is taken by another program: choose one with --port"
        ) from error


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = socket.socket(family, kind, protocol)
    try:
        if hasattr(socket, "SO_REUSEADDR") and hasattr(socket, "SO_REUSEPORT"):  # not on Windows
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * LONGEST_UNREAD)
        bound.bind(address)
    except BaseException:
        bound.close()
        raise
    return bound


def address_of(bound: socket.socket, tls: bool, token: str | None) -> str:
    """Return the address of a service, with its token where it has one."""
    host, port = bound.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    name = f"[{host}]" if ":" in host else host
    secret = "" if token is None else f"#token={token}"
    return f"http{'s' if tls else ''}://{name}:{port}/{secret}"


class Server(uvicorn.Server):
    """Uvicorn's server, which finishes lessons before it ends, and ends without the signal.

    Its `run` serves until a signal comes. Lessons that were taken are finished and answered first.
    A second Ctrl-C does not wait for clients any more.

    Parameters
    ----------
    app : FastAPI
        What `create_app` returns.
    certificate, key : path, optional
        Files of a certificate and of its key, to serve over https.
    ready : callable, optional
        Called when the server answers.

    Attributes
    ----------
    signal : int
        What ended it; 0 if no signal did.
    """

    def __init__(
        self,
        app: Any,
        certificate: Path | None = None,
        key: Path | None = None,
        ready: Callable[[], None] | None = None,
    ) -> None:
        config = uvicorn.Config(
            app,
            http=Connection,
            ws="websockets-sansio",
            # Who sends a little too much is told so; who sends more is cut off.
            ws_max_size=app.state.service.limits.message + MB,
            ws_per_message_deflate=False,
            lifespan="on",
            log_config=None,
            log_level="critical",  # what matters is logged by the service itself
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=LONGEST_END,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
        super().__init__(config)
        self.signal = 0
        self._service, self._ready = app.state.service, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, with a door of our own in place of uvicorn's."""
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            raise SystemExit(NOT_STARTED)
        limits = self._service.limits
        make = partial(
            Connection,
            limits,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        self.door = Door(sockets or (), make, limits, self.config.ssl)
        self.servers = [self.door]  # type: ignore[list-item]  # as far as uvicorn uses it
        self.started = True
        if self._ready is not None:
            self._ready()

    async def on_tick(self, counter: int) -> bool:
        """Do what is done ten times a second."""
        self.door.sweep()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, finish what was taken, and end."""
        for server in self.servers:
            server.close()
        drained = asyncio.create_task(self._service.drain())
        end = asyncio.get_running_loop().time() + LONGEST_DRAIN
        while not (drained.done() or self.force_exit):
            await asyncio.wait([drained], timeout=0.1)
            if asyncio.get_running_loop().time() > end:
                break
        self.force_exit = False  # the model is written in any case
        await super().shutdown(sockets)
        with suppress(Exception):
            await drained

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take signals for the end of the service, and for nothing else."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        try:
            before = {number: signal.signal(number, self._stop) for number in numbers}
        except ValueError:  # not in the main thread: somebody else ends it
            before = {}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or number
        self.force_exit = self.should_exit and number == signal.SIGINT
        self.should_exit = True
