"""A publisher that keeps what it is told, and lets tests wait for it."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from newfound.robot.messages import ImageMessage
from tests.background import PATIENCE

Said = Mapping[str, Any]


def says(**values: Any) -> Callable[[Said], bool]:
    """Return what tells whether something said has these values."""
    return lambda said: values.items() <= said.items()


class Recorder:
    """Keeps answers, replies and questions, in order."""

    def __init__(self) -> None:
        self.answers: list[Said] = []
        self.replies: list[Said] = []
        self.questions: list[Said] = []
        self._changed = threading.Condition()

    def answer(self, answer: Said, message: ImageMessage) -> None:
        self.keep(self.answers, answer)

    def reply(self, reply: Said) -> None:
        self.keep(self.replies, reply)

    def question(self, question: Said) -> None:
        self.keep(self.questions, question)

    def keep(self, where: list[Said], what: Said) -> None:
        with self._changed:
            where.append(what)
            self._changed.notify_all()

    def wait_for_number(self, where: list[Said], number: int) -> None:
        """Wait until so many are there."""
        self.wait(where, lambda _: len(where) >= number)

    def wait(self, where: list[Said], is_it: Callable[[Said], object] = lambda said: True) -> Said:
        """Return the first that is it, once it is there."""
        found: list[Said] = []

        def look() -> bool:
            found[:] = filter(is_it, where)
            return bool(found)

        with self._changed:
            assert self._changed.wait_for(look, PATIENCE), f"it did not come: {where[-3:]}"
        return found[0]
