"""Which errors are the user's, in words, and which are ours."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from newfound.common.errors import NewfoundError


def words(error: BaseException) -> str | None:
    """Return what to say of an error that was to be expected; None: it is a mistake of ours."""
    if isinstance(error, OSError):
        said = error.strerror or " ".join(map(str, error.args)) or type(error).__name__
        return said if error.filename is None else f"{os.fsdecode(error.filename)}: {said}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}" if str(error) else "not enough memory"
    if isinstance(error, NewfoundError | ModuleNotFoundError):
        return str(error)
    return None


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let what goes wrong with a file be said with its name, whatever name the system gave."""
    try:
        yield
    except OSError as error:
        error.filename = os.fspath(path)
        raise
