"""Bodies of requests, measured while they come: how large, and how slow."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from time import monotonic
from typing import IO

from fastapi import HTTPException
from starlette.types import Message, Receive, Send

from newfound.studio.errors import Refusal
from newfound.studio.limits import MB, ServiceLimits

# Bytes of an upload that are held in memory; more go to a file without a name.
IN_MEMORY = 8 * MB
# Bytes of a refused body that are read and thrown away, and seconds for it, so that the client has
# sent what it wanted and hears why.
MOST_THROWN_AWAY, LONGEST_FAREWELL = 64 * MB, 3.0
TOO_LARGE, TOO_SLOW = 413, 408


class Body:
    """Passes a body on as it comes, and says no when it is too large or takes too long.

    Parameters
    ----------
    receive, send : ASGI callables
    most : int
        Bytes that it may have.
    limits : ServiceLimits
        How long it may take.
    """

    # taken: bytes that came. start: when the first was asked for. is_over: nothing more comes.
    # _refused: the status that the answer says so with.

    def __init__(self, receive: Receive, send: Send, most: int, limits: ServiceLimits) -> None:
        self._receive, self._send, self.most, self.limits = receive, send, most, limits
        self.taken, self.start, self.is_over = 0, monotonic(), False
        self._refused: int | None = None

    def check_length(self, announced: str) -> None:
        """Refuse a body at once that says it is too large."""
        if announced.isdecimal() and (len(announced) > 15 or int(announced) > self.most):
            raise Refusal(TOO_LARGE, self._too_large())

    async def receive(self) -> Message:
        """Return the next part, or raise HTTPException."""
        if self.is_over:
            return await self._receive()  # which tells when the client has gone
        limits = self.limits
        left = self.start + limits.body_seconds + self.taken / limits.body_rate - monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, left))
        except TimeoutError:
            raise HTTPException(TOO_SLOW, "the body came too slowly") from None
        self._note(message)
        if self.taken > self.most:
            raise HTTPException(TOO_LARGE, self._too_large())
        return message

    def _note(self, message: Message) -> None:
        self.taken += len(message.get("body", b""))
        self.is_over = message["type"] != "http.request" or not message.get("more_body", False)

    def _too_large(self) -> str:
        size = f"{self.most // MB} MB" if self.most >= MB else f"{self.most // 1024} KB"
        return f"the body is too large; at most {size} are taken here"

    async def send(self, message: Message) -> None:
        """Pass an answer on; what is too large is read to its end, or a good part, before that."""
        if message["type"] == "http.response.start":
            if message["status"] in (TOO_LARGE, TOO_SLOW):
                self._refused = message["status"]
                headers = [*message.get("headers", ()), (b"connection", b"close")]
                message = {**message, "headers": headers}
        elif self._refused == TOO_LARGE and not message.get("more_body", False):
            await self._send({**message, "more_body": True})
            await self._throw_away()
            message = {"type": "http.response.body", "body": b""}
        await self._send(message)

    async def _throw_away(self) -> None:
        end, most = monotonic() + LONGEST_FAREWELL, self.taken + MOST_THROWN_AWAY
        while not self.is_over and self.taken < most:
            try:
                self._note(await asyncio.wait_for(self._receive(), end - monotonic()))
            except TimeoutError:
                return


async def spool(parts: AsyncIterator[bytes]) -> IO[bytes]:
    """Return a body as a temporary file, at its beginning; the caller closes it."""
    file: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - it is returned
    pending, size = list[bytes](), 0
    try:
        async for part in parts:
            pending.append(part)
            size += len(part)
            if size > MB:
                await asyncio.to_thread(file.writelines, pending)
                pending, size = [], 0
        await asyncio.to_thread(file.writelines, pending)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file
