"""Connections that trickle, never finish, or never begin: none keeps the owner out."""

import asyncio
import contextlib
import errno
import itertools
import logging
import re
import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx
import pytest

from newfound.studio import door
from newfound.studio.door import Door
from newfound.studio.limits import ServiceLimits
from newfound.studio.log_limit import BURST, RATE, LogLimit
from tests.studio.conftest import Serve, Served, certificate, png, started

TOKEN = "a-token-of-our-own-0123456789"
BEARER = {"authorization": f"Bearer {TOKEN}"}
HEAD = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
# Connections that may be open in tests of how many there may be.
FEW = 6


class Stranger:
    """A connection of somebody's, byte by byte."""

    def __init__(self, served: Served, data: bytes = b"", address: str = "127.0.0.1") -> None:
        place = ("127.0.0.1", served.port)
        self.socket = socket.create_connection(place, timeout=20, source_address=(address, 0))
        self.socket.sendall(data)

    def trickle(self, data: bytes) -> bytes:
        """Send something again and again until the service ends it; return what it answered."""
        found = b""
        self.socket.settimeout(0.01)
        with contextlib.suppress(ConnectionError):
            for _ in range(2000):
                self.socket.sendall(data)
                with contextlib.suppress(TimeoutError):
                    part = self.socket.recv(65536)
                    if not part:
                        return found
                    found += part
            pytest.fail("it goes on for ever")
        return found

    def answer(self) -> bytes:
        """Return the next answer, which is a JSON object."""
        found = b""
        while not found.endswith(b"}"):
            part = self.socket.recv(65536)
            assert part, "it was cut off"
            found += part
        return found

    def wait_for_end(self) -> None:
        """Wait until the service ends it."""
        with contextlib.suppress(ConnectionError):
            while self.socket.recv(65536):
                pass

    def is_open(self) -> bool:
        """Whether the service has not ended it."""
        self.socket.setblocking(False)
        try:
            while self.socket.recv(65536):
                pass
        except BlockingIOError:
            return True
        except ConnectionError:
            pass
        return False


Come = Callable[..., Stranger]


@pytest.fixture
def come() -> Iterator[Come]:
    """Open connections, and close them in the end."""
    with contextlib.ExitStack() as stack:

        def opened(served: Served, data: bytes = b"", address: str = "127.0.0.1") -> Stranger:
            stranger = Stranger(served, data, address)
            stack.enter_context(stranger.socket)
            return stranger

        yield opened


# Time.


@pytest.mark.parametrize(("begin", "more"), [(b"", b""), (b"GET / HTTP/1.1\r\nX: ", b"x")])
def test_headers_that_do_not_come_to_an_end_are_cut_off(
    come: Come, serve: Serve, begin: bytes, more: bytes
) -> None:
    served = serve(limits=ServiceLimits(head_seconds=0.2))
    assert come(served, begin).trickle(more) == b""
    health = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    second = come(served, health + begin).trickle(more)  # which is not treated better
    assert second.startswith(b"HTTP/1.1 200 ")
    assert second.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    ("path", "status"),
    [(b"/api/state", b"401"), (b"/nowhere", b"401"), (b"/api/session", b"408")],
)
def test_a_body_that_goes_on_after_its_answer_is_cut_off(
    come: Come, serve: Serve, path: bytes, status: bytes
) -> None:
    served = serve(token=TOKEN, limits=ServiceLimits(body_seconds=0.1, farewell_seconds=0.1))
    answer = come(served, HEAD % path).trickle(b"1\r\nx\r\n")
    assert answer.startswith(b"HTTP/1.1 " + status)


def test_a_body_that_ends_soon_after_its_answer_may_be_followed_by_another(
    come: Come, serve: Serve
) -> None:
    served = serve(token=TOKEN)
    stranger = come(served, HEAD % b"/api/state")
    for _ in range(3):
        assert stranger.answer().startswith(b"HTTP/1.1 401 ")
        stranger.socket.sendall(b"1\r\nx\r\n0\r\n\r\n" + HEAD % b"/api/state")


def test_what_is_no_http_after_an_answer_is_cut_off_without_a_word(
    come: Come, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    stranger = come(serve(token=TOKEN), HEAD % b"/api/state")
    assert stranger.answer().startswith(b"HTTP/1.1 401 ")
    stranger.socket.sendall(b"no number\r\n")
    stranger.wait_for_end()
    assert caplog.records == []


def test_who_does_not_read_an_answer_is_cut_off(
    come: Come, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("newfound.studio.connections.LONGEST_UNREAD", 0.2)
    served = serve()
    served.teach("mug")
    ask = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with contextlib.suppress(ConnectionError):
        stranger = come(served)
        for _ in range(100_000):
            stranger.socket.sendall(ask)  # waits until there is room for it
        pytest.fail("it goes on for ever")
    assert served.http.get("/api/health").status_code == 200


@pytest.mark.parametrize("more", [b"Content-Length: 5\r\n", b"X: y\r\n" * 130])
def test_an_upgrade_that_no_websocket_begins_with_is_cut_off(
    come: Come, serve: Serve, more: bytes
) -> None:
    served = serve(token=TOKEN)
    ask = b"GET /api/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    key = b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    come(served, ask + b"Connection: Upgrade\r\n" + key + more + b"\r\n").wait_for_end()
    assert served.http.get("/api/health").status_code == 401


def test_who_is_refused_is_not_answered_again_on_the_same_connection(
    come: Come, serve: Serve
) -> None:
    ask = b"GET /api/state HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answers = come(serve(token=TOKEN), ask * 100).trickle(b"")
    assert answers.count(b"HTTP/1.1 401 ") == 1


# Number.


def test_whoever_comes_gets_in_and_the_one_ends_that_has_kept_us_waiting_for_longest(
    come: Come,
    serve: Serve,
) -> None:
    served = serve(limits=ServiceLimits(connections=FEW))
    idle = [come(served) for _ in range(FEW)]
    assert served.http.get("/api/health").status_code == 200
    idle[0].wait_for_end()
    assert served.http.get("/api/health").status_code == 200  # on the same connection
    assert all(each.is_open() for each in idle[1:])


@pytest.mark.parametrize("data", [b"", HEAD % b"/api/state", HEAD % b"/api/session", b"GET / HT"])
def test_the_owner_is_not_thrown_out_in_favour_of_strangers(
    come: Come, serve: Serve, data: bytes
) -> None:
    served = serve(token=TOKEN, limits=ServiceLimits(connections=FEW))
    owner = HTTPConnection("127.0.0.1", served.port, timeout=20)
    with served.live(**BEARER) as talk, contextlib.closing(owner):
        for _ in range(3):
            owner.request("GET", "/api/health", headers=BEARER)  # always on the same connection
            with owner.getresponse() as answered:
                assert (answered.status, bool(answered.read())) == (200, True)
            talk.send(type="ping")
            talk.next("pong")
            others = [come(served, data) for _ in range(3 * FEW)]
            answer = httpx.get(f"{served.address}/api/health", headers=BEARER)
            assert answer.status_code == 200
            assert sum(each.is_open() for each in others) <= FEW - 2


def test_who_came_last_stays_also_if_those_before_have_more_time_left(
    come: Come, serve: Serve
) -> None:
    served = serve(token=TOKEN, limits=ServiceLimits(connections=FEW, body_seconds=600))
    ask = partial(httpx.get, f"{served.address}/api/health", headers=BEARER)
    for _ in range(FEW):
        come(served, HEAD % b"/api/session")
    assert ask().status_code == 200  # all of them were taken by now
    late = come(served)
    come(served)
    assert ask().status_code == 200
    assert late.is_open()


def test_where_all_are_the_owner_a_websocket_stays(come: Come, serve: Serve) -> None:
    served = serve(limits=ServiceLimits(connections=FEW))
    with served.live() as talk:
        first, *_ = [come(served) for _ in range(3 * FEW)]
        first.wait_for_end()
        talk.raw.send(png())
        assert talk.next("answer")["frame"] == 1


def test_who_comes_from_elsewhere_stays_where_one_address_has_most_connections(
    come: Come,
    serve: Serve,
) -> None:
    if sys.platform != "linux":
        pytest.skip("127.0.0.2 is this machine's on Linux only")
    served = serve(limits=ServiceLimits(connections=2 * FEW))
    other = come(served, address="127.0.0.2")
    first, *_ = [come(served) for _ in range(2 * FEW)]
    first.wait_for_end()
    other.socket.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert other.answer().startswith(b"HTTP/1.1 200 ")


def test_the_connections_of_a_browser_stay_where_strangers_come_from_everywhere(
    come: Come, serve: Serve
) -> None:
    if sys.platform != "linux":
        pytest.skip("127.0.0.2 is this machine's on Linux only")
    served = serve(limits=ServiceLimits(connections=FEW))
    first, *_ = [come(served, address=f"127.0.0.{2 + place}") for place in range(FEW)]
    browser = [come(served) for _ in range(FEW - 1)]
    first.wait_for_end()
    for one in browser:
        one.socket.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert all(one.answer().startswith(b"HTTP/1.1 200 ") for one in browser)


def test_if_nobody_may_end_the_newest_is_refused(come: Come, serve: Serve) -> None:
    served = serve(limits=ServiceLimits(connections=2))
    with served.live(), served.live() as talk:
        come(served).wait_for_end()
        talk.send(type="ping")
        talk.next("pong")


@pytest.mark.needs("openssl")
def test_connections_that_never_begin_tls_keep_nobody_out(come: Come, tmp_path: Path) -> None:
    limits = ServiceLimits(connections=FEW, head_seconds=600)  # none ends by itself
    tls = certificate(tmp_path, "127.0.0.1")
    context = ssl.create_default_context(cafile=str(tls[0]))
    with started(tmp_path, tls, token=TOKEN, limits=limits) as served:
        address = f"https://127.0.0.1:{served.port}/api/health"
        first, *_ = [come(served) for _ in range(3 * FEW)]
        assert httpx.get(address, verify=context, headers=BEARER).status_code == 200
        first.wait_for_end()


@pytest.mark.needs("openssl")
def test_connections_that_never_begin_tls_are_cut_off(come: Come, tmp_path: Path) -> None:
    tls = certificate(tmp_path, "127.0.0.1")
    with started(tmp_path, tls, limits=ServiceLimits(head_seconds=0.2)) as served:
        come(served).wait_for_end()
        assert come(served, b"\x16").trickle(b"\x03") == b""


# Files.


class Exhausted(socket.socket):
    """A socket that takes no connection at first, because there are no files."""

    def __init__(self) -> None:
        super().__init__()
        self.failures = [errno.EMFILE, errno.ECONNABORTED, errno.ENFILE]

    def accept(self) -> Any:
        """Take a connection, the fourth time."""
        if self.failures:
            raise OSError(self.failures.pop(0), "no")
        return super().accept()


def test_no_files_are_said_in_a_line_and_waited_for(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "PAUSE", 0.0)

    class Said(asyncio.Protocol):
        since, deadline, is_trusted = 0.0, 0.0, False
        transport: Any = None

        def connection_made(self, transport: Any) -> None:
            self.transport = transport
            transport.write(b"hello")
            transport.close()

    async def greet() -> bytes:
        with Exhausted() as listening:
            listening.bind(("127.0.0.1", 0))
            made: Any = Said
            taken = Door([listening], made, ServiceLimits())
            await asyncio.sleep(0)
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            found = await reader.read()
            writer.close()
            taken.close()
            await taken.wait_closed()
            return found

    assert asyncio.run(greet()) == b"hello"
    assert caplog.messages == ["no connection can be taken: no"] * 2


def test_connections_take_half_of_the_files_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "most_files", lambda: 100)

    async def most(limits: ServiceLimits) -> int:
        return Door([], partial(pytest.fail, "nobody comes"), limits).most

    assert asyncio.run(most(ServiceLimits())) == 50
    assert asyncio.run(most(ServiceLimits(connections=10))) == 10


# The log.


def test_a_log_takes_some_messages_at_once_and_then_says_how_many_were_left_out() -> None:
    now = itertools.count()  # a second passes with each
    limit, passed = LogLimit(clock=lambda: float(next(now))), list[str]()
    for _ in range(600):
        record = logging.makeLogRecord({"msg": "%s is full", "args": ("it",)})
        if limit.filter(record):
            passed.append(record.getMessage())
    assert len(passed) == pytest.approx(BURST + 600 * RATE, abs=1)
    first = passed[: int(BURST)]
    assert set(first) == {"it is full"}
    counts = [
        int(re.findall(r"full \((\d+) messages were left out\)", each)[0]) for each in passed[10:]
    ]
    assert len(passed) + sum(counts) + limit.left_out == 600
