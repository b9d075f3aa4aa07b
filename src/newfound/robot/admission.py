"""Which commands are done of those that come over a bus: none, all, or those that are signed."""

import hmac
import threading
from collections.abc import Callable
from time import time_ns

from newfound.recognition.editor import Editor
from newfound.robot.commands import CommandError
from newfound.robot.signing import verify

# Seconds that the clock of who signs and the clock here may be apart.
WINDOW = 60
REFUSED = "commands are refused; start newfound listen with --commands, or with --secret-file"


class Admission:
    """Lets commands in.

    One that is signed is let in once: its counter, nanoseconds of Unix time, must be larger than
    any before and within a minute of the clock here. The journal holds the last counter, and has
    it before the command is done. So nothing can be replayed, also after a restart, or to a clock
    that was set back. A counter far ahead is refused and thus locks nobody out.

    Any thread may ask.

    Parameters
    ----------
    editor : Editor
    commands : bool, default=False
        Whether commands are done at all.
    secret : bytes, optional
        With which they must be signed; then they are done whatever `commands` says.
    clock : callable, optional
        Returns nanoseconds of Unix time.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from newfound.robot.signing import sign
    >>> secret = b"0123456789abcdef" * 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     editor = Editor(Path(folder) / "kitchen.newfound", extractor=None)
    ...     admission = Admission(editor, secret=secret)
    ...     signed = sign("teach mug", secret)
    ...     admission.admit(signed)
    ...     try:
    ...         admission.admit(signed)
    ...     except CommandError as error:
    ...         print(error)
    ...     editor.close()
    'teach mug'
    one with this counter, or a larger one, came before; sign it again
    """

    # _last: the largest counter that was let in. _setting: what the journal calls it; another
    # secret begins anew, which helps where a clock was wrong.

    def __init__(
        self,
        editor: Editor,
        *,
        commands: bool = False,
        secret: bytes | None = None,
        clock: Callable[[], int] = time_ns,
    ) -> None:
        self._editor, self._commands = editor, commands
        self._secret, self._clock = secret, clock
        self._lock, self._last = threading.Lock(), 0
        if secret is not None:
            known_by = hmac.digest(secret, b"newfound counter 1", "sha256").hex()[:16]
            self._setting = f"counter {known_by}"
            self._last = int(editor.journal.setting(self._setting) or 0)

    def admit(self, text: str) -> str:
        """Return the command in a message.

        Raises
        ------
        CommandError
            If it is refused; the message says what to do.
        """
        if self._secret is None:
            if not self._commands:
                raise CommandError(REFUSED)
            return text
        command, counter = verify(text, self._secret)
        ahead = (counter - self._clock()) / 1e9
        if abs(ahead) > WINDOW:
            where = "ahead of" if ahead > 0 else "behind"
            raise CommandError(
                f"its counter is {abs(ahead):,.0f} s {where} the clock here, and may be {WINDOW} "
                "s: counters are nanoseconds of Unix time; set the clocks, and sign it again"
            )
        with self._lock:
            if counter <= self._last:
                raise CommandError(
                    "one with this counter, or a larger one, came before; sign it again"
                )
            self._last = counter
        return command

    def note(self) -> None:
        """Write down the last counter; do so before a command is done, or raise JournalError."""
        if self._secret is not None:
            with self._editor.lock, self._editor.journal.write():
                self._editor.journal.set(self._setting, self._last)
