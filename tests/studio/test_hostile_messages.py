"""Whatever one client sends, the service answers the others and learns nothing from it."""

import asyncio
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from tests.effort import seed, share_of
from tests.studio.clients import PATIENCE, Client, RefusedError, client
from tests.studio.hostile import hostile_messages
from tests.studio.pictures import picture
from tests.studio.process import Studio, studio

pytestmark = pytest.mark.slow

HOW_MANY = share_of(2000)
# So many go over one connection: more would be too fast, and refused without a look at them.
EACH = 250
# So many hostile messages come between two looks of the client that means well.
BETWEEN = 25
HANDSHAKE = (
    "GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    "Sec-WebSocket-Version: 13\r\n\r\n"
)
# What follows a handshake: frames that break the protocol, or that break off.
FRAMES = {
    "text that is not UTF-8": b"\x81\x82\0\0\0\0\xff\xfe",
    "a frame that is not masked": b"\x81\x02{}",
    "an opcode that is reserved": b"\x83\x80\0\0\0\0",
    "a ping that is too long": b"\x89\xfe\x01\x00\0\0\0\0" + bytes(256),
    "a continuation of nothing": b"\x80\x80\0\0\0\0",
    "an image of which only the start comes": b"\x82\xfe\xff\xff\0\0\0\0\xff\xd8\xff\xe0",
    "a length that nothing has": b"\x82\xff\x7f" + b"\xff" * 7 + b"\0\0\0\0abc",
    "a part of a message that never ends": b"\x01\x82\0\0\0\0{}",
    "noise": bytes(range(256)),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    model = tmp_path_factory.mktemp("hostile") / "kitchen.newfound"
    with studio(model, "serve", "--extractor", "pixels:size=8") as served:
        asyncio.run(taught(served))
        yield served
        assert "Traceback" not in served.said()


async def taught(served: Studio) -> None:
    async with client(served.live) as good:
        for number in range(4):
            for thing in range(2):
                await good.teach(picture(thing, number), f"thing {thing}")


async def answered(good: Client, number: int) -> None:
    """Look, and be told what was taught, in words that fit the image."""
    look = await good.look(picture(number % 2, 1000 + number))
    assert look.answer["label"] == f"thing {number % 2}"


async def messages(served: Studio) -> tuple[int, int]:
    """Send them all, and return how often the service hung up, and how often it said no."""
    async with client(served.live) as good:
        before = good.state
        hung_up, refused = 0, 0
        todo = list(hostile_messages(HOW_MANY, seed(0)))
        done = 0
        while done < HOW_MANY:
            async with client(served.live, ping_interval=None) as bad:
                try:
                    for message in todo[done : done + EACH]:
                        done += 1
                        await bad.exchange(message)
                        if done % BETWEEN == 0:
                            await answered(good, done)
                except (ConnectionClosed, RefusedError):
                    hung_up += 1
                refused += len(bad.errors)
        await answered(good, 0)
        assert good.state == before
    return hung_up, refused


def test_hostile_messages_disturb_nobody(served: Studio) -> None:
    hung_up, refused = asyncio.run(messages(served))
    print(f"{HOW_MANY} messages: {refused} refused, {hung_up} connections closed")
    assert refused + hung_up > 0.9 * HOW_MANY, "the rest are images with a bit that fell over"
    assert hung_up < 0.05 * HOW_MANY


async def flood(served: Studio) -> None:
    """Send frames and pings as fast as the wire takes them, from several sides, and never read."""

    async def pour(connection: ClientConnection) -> None:
        try:
            for number in range(500):
                await connection.send(picture(0, number % 5) if number % 2 else '{"type": "ping"}')
        except ConnectionClosed:
            pass

    async with client(served.live) as good:
        for number in range(5):
            async with asyncio.timeout(PATIENCE):
                connections = [await connect(served.live, proxy=None) for _ in range(4)]
                pouring = [asyncio.create_task(pour(each)) for each in connections]
                await answered(good, number)
                for task in pouring:
                    task.cancel()
                await asyncio.gather(*pouring, return_exceptions=True)
            for connection in connections:
                connection.transport.abort()
        await answered(good, 0)


def test_floods_of_those_who_never_listen_do_not_drown_others(served: Studio) -> None:
    asyncio.run(flood(served))


@pytest.mark.parametrize("what", FRAMES)
def test_whoever_breaks_the_protocol_is_alone_with_it(served: Studio, what: str) -> None:
    handshake = HANDSHAKE.format(port=served.port).encode()
    for ending in (FRAMES[what], b""):
        with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as wire:
            wire.sendall(handshake)
            assert wire.recv(12) == b"HTTP/1.1 101"
            wire.sendall(ending)
    asyncio.run(one_look(served))


async def one_look(served: Studio) -> None:
    async with client(served.live) as good:
        await answered(good, 1)


def test_pages_of_other_sites_are_turned_away(served: Studio) -> None:
    async def from_elsewhere() -> None:
        async with connect(served.live, proxy=None, origin="http://evil.example"):  # type: ignore[arg-type]
            pass

    with pytest.raises(WebSocketException):
        asyncio.run(from_elsewhere())
    asyncio.run(one_look(served))


def test_connections_that_nobody_needs_do_not_keep_others_out(served: Studio) -> None:
    async def crowd() -> None:
        crowd = []
        try:
            for _ in range(300):
                crowd.append(await connect(served.live, proxy=None))
        except (WebSocketException, OSError):
            pass  # there are enough
        for connection in crowd:
            connection.transport.abort()

    async def until_there_is_room() -> None:
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    return await one_look(served)
                except WebSocketException:
                    await asyncio.sleep(0.05)

    asyncio.run(crowd())
    asyncio.run(until_there_is_room())


def test_a_service_that_saw_all_that_ends_in_order(tmp_path: Path) -> None:
    model = tmp_path / "kitchen.newfound"
    with studio(model, "serve", "--extractor", "pixels:size=8") as served:
        asyncio.run(taught(served))
        asyncio.run(flood(served))
        assert served.end() in (0, -signal.SIGTERM)
        served.start()
        asyncio.run(one_look(served))
