"""Signed commands: who holds a secret may command, also on a bus that strangers reach.

A signed command is JSON: ``{"command": TEXT, "counter": N, "mac": HEX}``. The mac is HMAC-SHA256,
under the secret, of three lines: ``newfound command 1``, the counter, and the text as it is.
"""

import hmac
import json
import os
from pathlib import Path
from time import time_ns
from typing import NamedTuple

from newfound.common.errors import InputError
from newfound.common.files import read_own
from newfound.robot.commands import CommandError

# Bytes that a secret has, at least and at most.
SHORTEST_SECRET, LONGEST_SECRET = 32, 4096
# What is signed begins with it: nothing that was signed for another purpose is a command.
PURPOSE = "newfound command 1"
NOT_SIGNED = (
    "commands must be signed here: newfound.robot.signing.sign makes one of a text and the secret"
)


class SignedCommand(NamedTuple):
    """What was signed."""

    command: str
    counter: int


def read_secret(path: str | os.PathLike[str]) -> bytes:
    """Return the secret in a file: all of its bytes, also a line break at its end.

    Parameters
    ----------
    path : str or path-like
        Of a file of the user's own, which nobody else may read.

    Returns
    -------
    bytes

    Raises
    ------
    InputError
        If it is too short, or not the user's alone; the message says what to do.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "robot.secret"
    ...     file.touch(mode=0o600)
    ...     count = file.write_bytes(b"0123456789abcdef" * 2)
    ...     len(read_secret(file))
    32
    """
    try:
        secret = read_own(Path(path), LONGEST_SECRET, private=True)
    except OSError as error:
        raise InputError(
            f"the secret cannot be read: {os.fspath(path)}: {error.strerror}"
        ) from error
    _check(secret)
    return secret


def sign(command: str, secret: bytes, counter: int | None = None) -> str:
    """Return a command as a listener takes it that was started with the same secret.

    Each can be used once, within a minute.

    Parameters
    ----------
    command : str
        Words, or JSON.
    secret : bytes
        At least 32, as `read_secret` returns them.
    counter : int, optional
        Nanoseconds of Unix time, larger than that of any command before. By default those of now:
        so several who send need not know of each other, as long as their clocks are right.

    Returns
    -------
    str
        To be sent in place of the command.

    Raises
    ------
    InputError
        If the secret is too short, or the counter is no whole number from 1.

    Examples
    --------
    >>> sign("teach mug", b"0123456789abcdef" * 2, counter=1_700_000_000_000_000_000)
    '{"command": "teach mug", "counter": 1700000000000000000, "mac": "...
    """
    _check(secret)
    counter = time_ns() if counter is None else counter
    if not _is_counter(counter):
        raise InputError(f"a counter is a whole number from 1 to 2**63 - 1, got {counter!r}")
    signed = {"command": command, "counter": counter, "mac": _mac(command, counter, secret)}
    return json.dumps(signed, ensure_ascii=False)


def verify(text: str, secret: bytes) -> SignedCommand:
    """Return what was signed with a secret. Whether it is new is another question.

    Parameters
    ----------
    text : str
        As `sign` made it.
    secret : bytes

    Returns
    -------
    SignedCommand

    Raises
    ------
    CommandError
        If it is not signed, or not with this secret.

    Examples
    --------
    >>> secret = b"0123456789abcdef" * 2
    >>> verify(sign("teach mug", secret, counter=7), secret)
    SignedCommand(command='teach mug', counter=7)
    >>> verify("teach mug", secret)
    Traceback (most recent call last):
    newfound.robot.commands.CommandError: commands must be signed here: ...
    """
    try:
        signed = json.loads(text)
    except (ValueError, RecursionError):
        raise CommandError(NOT_SIGNED) from None
    if not isinstance(signed, dict) or signed.keys() != {"command", "counter", "mac"}:
        raise CommandError(NOT_SIGNED)
    command, counter, mac = signed["command"], signed["counter"], signed["mac"]
    if not (isinstance(command, str) and isinstance(mac, str) and _is_counter(counter)):
        raise CommandError(NOT_SIGNED)
    expected = _mac(command, counter, secret)
    if not hmac.compare_digest(expected.encode(), mac.encode("utf-8", "replace")):
        raise CommandError("this was signed with another secret, or changed on its way")
    return SignedCommand(command, counter)


def _check(secret: bytes) -> None:
    if len(secret) < SHORTEST_SECRET:
        raise InputError(
            f"a secret of {len(secret)} bytes; it needs {SHORTEST_SECRET} at least, as "
            f"head -c {SHORTEST_SECRET} /dev/urandom makes them"
        )


def _is_counter(number: object) -> bool:
    return type(number) is int and 0 < number < 2**63  # what the journal can hold


def _mac(command: str, counter: int, secret: bytes) -> str:
    text = f"{PURPOSE}\n{counter}\n{command}"
    return hmac.digest(secret, text.encode("utf-8", "surrogatepass"), "sha256").hex()
