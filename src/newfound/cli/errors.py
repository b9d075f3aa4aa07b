"""Which errors are the user's, in words, and which are ours."""

import dis
import os
from collections.abc import Iterator
from contextlib import contextmanager

RAISE = dis.opmap["RAISE_VARARGS"]


def words(error: BaseException) -> str | None:
    """Return what to say of an error that was to be expected; None: it is a mistake of ours."""
    if isinstance(error, OSError):
        said = error.strerror or " ".join(map(str, error.args)) or type(error).__name__
        return said if error.filename is None else f"{os.fsdecode(error.filename)}: {said}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}" if str(error) else "not enough memory"
    if isinstance(error, ModuleNotFoundError) or is_deliberate(error):
        return str(error)
    return None


def is_deliberate(error: BaseException) -> bool:
    """Tell whether an error is a ValueError that a `raise` of newfound made, and so in its words.

    numpy raises inside a call: there, too, the last line is one of newfound's, but no `raise`.
    """
    trace = error.__traceback__
    if not isinstance(error, ValueError) or trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    module = str(trace.tb_frame.f_globals.get("__name__"))
    raised = trace.tb_frame.f_code.co_code[trace.tb_lasti] == RAISE
    return raised and module.partition(".")[0] == "newfound"


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let what goes wrong with a file be said with its name, whatever name the system gave."""
    try:
        yield
    except OSError as error:
        error.filename = os.fspath(path)
        raise
