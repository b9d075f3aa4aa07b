"""A client of the WebSocket, as a robot would write one: it looks, teaches and waits."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from time import perf_counter
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

# Seconds in which any answer comes, also on a machine that is busy with other work.
PATIENCE = 60.0
Message = dict[str, Any]


class Look(NamedTuple):
    """An answer, how long it took, and how long the client had waited for any answer by then."""

    answer: Message
    seconds: float
    waited: float


class RefusedError(Exception):
    """The service said no."""


class Client:
    """One connection. Looks and lessons may be under way at the same time."""

    # _sent: when each frame that may still be answered was sent.
    # looks: frames that were answered, in order; dropped: how many were passed over for newer ones.
    # errors: what the service refused, beside lessons that someone waits for.
    # heard: messages that answer to something; ended: no more will come.

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.state: Message = {}
        self.looks: list[Look] = []
        self.dropped = 0
        self.heard = 0
        self.ended = False
        self.errors: list[Message] = []
        self._sent: dict[int, float] = {}
        self._frames = count(1)
        self._names = count(1)
        self._waiting: dict[str, asyncio.Future[Message]] = {}
        self._answered = asyncio.Condition()

    async def send(self, message: str | bytes) -> None:
        """Send an image to look at, or any text; an answer comes when it comes."""
        if isinstance(message, bytes):
            self._sent[next(self._frames)] = perf_counter()
        await self.connection.send(message)

    async def exchange(self, message: str | bytes) -> None:
        """Send an image or any text, and wait until something answers to it."""
        heard = self.heard
        await self.send(message)
        await self.until(lambda: self.heard > heard)

    async def look(self, image: bytes) -> Look:
        """Send an image, and wait for what is said of it."""
        before, refused = len(self.looks), len(self.errors)
        await self.send(image)
        await self.until(lambda: len(self.looks) > before or len(self.errors) > refused)
        if len(self.errors) > refused:
            raise RefusedError(self.errors[-1]["error"])
        return self.looks[-1]

    async def teach(self, image: bytes, label: str, key: str | None = None) -> Message:
        """Teach an image, and return what was done as soon as that is acknowledged."""
        name = f"c{next(self._names)}"
        self._waiting[name] = asyncio.get_running_loop().create_future()
        lesson = {"type": "teach", "id": name, "label": label, "key": key}
        encoded = base64.b64encode(image).decode()
        await self.send(json.dumps({**lesson, "image": encoded}))
        async with asyncio.timeout(PATIENCE):
            done = await self._waiting[name]
        del self._waiting[name]
        if done["type"] == "error":
            raise RefusedError(done["error"])
        return done

    async def ping(self) -> None:
        """Wait for a sign of life."""
        self._waiting["pong"] = asyncio.get_running_loop().create_future()
        await self.send('{"type": "ping"}')
        async with asyncio.timeout(PATIENCE):
            await self._waiting["pong"]
        del self._waiting["pong"]

    async def until(self, true: Callable[[], object]) -> None:
        """Wait until what came makes something true."""
        async with self._answered, asyncio.timeout(PATIENCE):
            await self._answered.wait_for(lambda: true() or self.ended)
        if self.ended and not true():
            raise RefusedError("the connection ended")

    async def listen(self) -> None:
        """Take what comes until the connection ends."""
        with suppress(ConnectionClosed):
            async for text in self.connection:
                self._take(json.loads(text))
                async with self._answered:
                    self._answered.notify_all()
        self.ended = True
        async with self._answered:
            self._answered.notify_all()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(RefusedError("the connection ended"))

    def _take(self, message: Message) -> None:
        kind, name = message.pop("type"), message.get("id")
        self.heard += kind != "state"
        if kind == "state":
            self.state = message
        elif kind == "answer":
            frame, now = message["frame"], perf_counter()
            first, began = min(self._sent.values()), self._sent[frame]
            self._sent = {later: at for later, at in self._sent.items() if later > frame}
            self.dropped = message["dropped"]
            self.looks.append(Look(message, now - began, now - first))
        elif kind == "pong":
            if "pong" in self._waiting:
                self._waiting["pong"].set_result(message)
        elif name in self._waiting:
            self._waiting[name].set_result({"type": kind, **message})
        else:
            self.errors.append(message)


@asynccontextmanager
async def client(address: str, **options: Any) -> AsyncIterator[Client]:
    """Connect to a service; the connection ends with the context."""
    async with connect(address, proxy=None, max_size=None, **options) as connection:
        connected = Client(connection)
        listening = asyncio.create_task(connected.listen())
        try:
            await connected.until(lambda: connected.state)
            yield connected
        finally:
            await connection.close()
            await listening
