"""What a client is told when something goes wrong: a status and a sentence, never a traceback."""

import logging
import sqlite3
from typing import NamedTuple

from newfound.common.errors import InputError, NewfoundError
from newfound.studio.workers import StoppingError

log = logging.getLogger("newfound.studio")
OURS = "something went wrong here; the log says what"
# By name, because the journal is imported only where it is used.
STATUSES = {
    "ClassExistsError": 409,
    "NothingToUndoError": 409,
    "NoSuchExampleError": 404,
    "NoSuchQuestionError": 404,
}


class Refusal(Exception):
    """A request that is not done, with its status, its sentence and perhaps when to try again."""

    def __init__(self, status: int, sentence: str, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.retry_after = status, sentence, retry_after


class Said(NamedTuple):
    """What a client is told."""

    status: int
    sentence: str
    retry_after: int | None = None


def said_of(error: BaseException) -> Said:
    """Return what to tell a client of an error; what is a mistake of ours is logged.

    Examples
    --------
    >>> from newfound import UnreadableImageError
    >>> said_of(UnreadableImageError("an empty file"))
    Said(status=422, sentence='an empty file', retry_after=None)
    """
    if isinstance(error, Refusal):
        return Said(error.status, error.sentence, error.retry_after)
    if isinstance(error, StoppingError):
        return Said(503, "the service is stopping; try again soon", 2)
    if isinstance(error, InputError):
        names = (kind.__name__ for kind in type(error).__mro__)
        return Said(next((STATUSES[name] for name in names if name in STATUSES), 422), str(error))
    log.error("unexpected error", exc_info=error)
    if isinstance(error, NewfoundError | sqlite3.Error | OSError):
        return Said(503, "it could not be written or read here; the log says why", 5)
    if isinstance(error, MemoryError):
        return Said(503, "there is not enough memory for that", 5)
    return Said(500, OURS)
