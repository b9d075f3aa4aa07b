"""Which errors are the user's, in words, and which are ours."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from newfound.cli.console import printable
from newfound.common.errors import InputError, NewfoundError


def words(error: BaseException) -> str | None:
    """Return what to say of an error that was to be expected; None: it is a mistake of ours."""
    if isinstance(error, OSError):
        reason = error.strerror or " ".join(map(str, error.args)) or type(error).__name__
        return reason if error.filename is None else f"{os.fsdecode(error.filename)}: {reason}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}" if str(error) else "not enough memory"
    if isinstance(error, NewfoundError | ModuleNotFoundError):
        return str(error)
    return None


def wrong_usage(text: object, option: str | None = None) -> typer.BadParameter:
    """Return what to raise if the command line makes no sense; the text may hold any name."""
    return typer.BadParameter(printable(text), param_hint=option)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Call it wrong usage if what stands on the command line makes no sense."""
    try:
        yield
    except InputError as error:
        raise wrong_usage(error) from error
