"""Bodies of requests, measured while they come: how large, and how slow."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import IO

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import Message, Receive

from newfound.studio.errors import Refusal
from newfound.studio.limits import MB, ServiceLimits

# Bytes of an upload that are held in memory; more go to a file without a name.
IN_MEMORY = 8 * MB
TOO_LARGE, TOO_SLOW = 413, 408


class Body:
    """Passes a body on as it comes, and says no when it is too large or takes too long.

    Parameters
    ----------
    receive : ASGI callable
    most : int
        Bytes that it may have.
    limits : ServiceLimits
        How long it may take.
    headers : Headers
        Of its request.
    """

    # taken: bytes that came. start: when the first was asked for. is_over: nothing more comes.
    # _length: as announced. _is_dropped: another needs its place. _timeout: of the next part.

    def __init__(
        self, receive: Receive, most: int, limits: ServiceLimits, headers: Headers
    ) -> None:
        self._receive, self.most, self.limits = receive, most, limits
        self.taken, self.start = 0, asyncio.get_running_loop().time()
        self._length = headers.get("content-length", "")
        self.is_over = not self._length and "transfer-encoding" not in headers
        self._is_dropped = False
        self._timeout: asyncio.Timeout | None = None

    @property
    def deadline(self) -> float:
        """By the loop's clock, when its next part must be here."""
        return self.start + self.limits.body_seconds + self.taken / self.limits.body_rate

    def check_length(self) -> None:
        """Refuse a body at once that says it is too large."""
        announced = self._length
        if announced.isdecimal() and (len(announced) > 15 or int(announced) > self.most):
            raise Refusal(TOO_LARGE, self._too_large())

    async def receive(self) -> Message:
        """Return the next part, or raise HTTPException or Refusal."""
        if self.is_over:
            return await self._receive()  # which tells when the client has gone
        try:
            async with asyncio.timeout_at(self.deadline) as self._timeout:
                if self._is_dropped:
                    raise busy()
                message = await self._receive()
        except TimeoutError:
            if self._is_dropped:
                raise busy() from None
            raise HTTPException(TOO_SLOW, "the body came too slowly") from None
        finally:
            self._timeout = None
        self.taken += len(message.get("body", b""))
        self.is_over = message["type"] != "http.request" or not message.get("more_body", False)
        if self.taken > self.most:
            raise HTTPException(TOO_LARGE, self._too_large())
        return message

    def drop(self) -> None:
        """Wait no longer for what is to come."""
        self._is_dropped = True
        if self._timeout is not None:
            self._timeout.reschedule(self.start)

    def _too_large(self) -> str:
        size = f"{self.most // MB} MB" if self.most >= MB else f"{self.most // 1024} KB"
        return f"the body is too large; at most {size} are taken here"


def busy() -> Refusal:
    """Return what is said if there are too many requests."""
    return Refusal(503, "too many requests at once; try again in a second", 1)


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
