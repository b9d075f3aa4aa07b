"""A task of the event loop: tell everyone the state."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

log = logging.getLogger("newfound.studio")


class StateSubscriber(Protocol):
    """Who is told the state."""

    @property
    def is_flushed(self) -> bool:
        """Whether all that was to be sent is sent."""

    def tell_state(self, text: str) -> None:
        """Send the state, in place of one that was not sent yet."""


class Board:
    """Pushes the state to all who listen, a few times a second, and the last one always."""

    def __init__(self, make: Callable[[], str], pause: float = 0.1) -> None:
        self.subscribers: set[StateSubscriber] = set()
        self._make, self._pause = make, pause
        self._loop, self._changed = asyncio.get_running_loop(), asyncio.Event()

    def tell(self) -> None:
        """Say, from whatever thread, that something changed."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed.set)

    async def run(self) -> None:
        """Push whenever something changed, for ever."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                text = await asyncio.to_thread(self._make) if self.subscribers else ""
                for subscriber in self.subscribers:
                    subscriber.tell_state(text)
            except Exception:
                log.exception("the state cannot be told")
            await asyncio.sleep(self._pause)

    async def flush(self, seconds: float) -> None:
        """Wait until all subscribers have been sent what they are owed, but not for ever."""
        end = asyncio.get_running_loop().time() + seconds
        await asyncio.sleep(0)  # what threads have reported is put in line first
        while not all(subscriber.is_flushed for subscriber in self.subscribers):
            if asyncio.get_running_loop().time() > end:
                return
            await asyncio.sleep(0.01)
