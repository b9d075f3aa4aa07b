"""What a client is told when something goes wrong: a status and a sentence, never a traceback."""

import logging
import sqlite3

from fastapi.responses import JSONResponse

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
    """What a client is told: a status, a sentence and perhaps after how many seconds to retry."""

    def __init__(self, status: int, sentence: str, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.retry_after = status, sentence, retry_after

    @property
    def response(self) -> JSONResponse:
        """The same as an answer over HTTP."""
        headers = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
        if self.status == 401:
            headers["www-authenticate"] = "Bearer"
        return JSONResponse({"error": self.sentence}, self.status, headers)


def reply_to(error: BaseException) -> Refusal:
    """Return what to tell a client of an error; what is a mistake of ours is logged.

    Examples
    --------
    >>> from newfound import UnreadableImageError
    >>> reply = reply_to(UnreadableImageError("an empty file"))
    >>> reply.status, reply.sentence
    (422, 'an empty file')
    """
    if isinstance(error, Refusal):
        return error
    if isinstance(error, StoppingError):
        return Refusal(503, "the service is stopping; try again soon", 2)
    if isinstance(error, InputError):
        names = [kind.__name__ for kind in type(error).__mro__]
        status = next((STATUSES[name] for name in names if name in STATUSES), 422)
        return Refusal(status, str(error))
    log.error("unexpected error", exc_info=error)
    if isinstance(error, NewfoundError | sqlite3.Error | OSError):
        return Refusal(503, "it could not be written or read here; the log says why", 5)
    if isinstance(error, MemoryError):
        return Refusal(503, "there is not enough memory for that", 5)
    return Refusal(500, OURS)
