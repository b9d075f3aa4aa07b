"""Lines that strangers can cause, so few of them that no log grows without bound."""

import logging
import threading
from collections import Counter

from newfound.cli.console import Console

# How many of a kind are said, before only the 1,000th, the 10,000th and so on are.
FIRST = 100


class Sparing:
    """Says what others cause: the first hundred lines of a kind, then every tenfold one.

    Any thread may use it.

    Parameters
    ----------
    console : Console
        Where it is said.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def info(self, kind: str, text: str) -> None:
        """Say what became of something."""
        if (line := self.line(kind, text)) is not None:
            self.console.info(line)

    def error(self, kind: str, text: str) -> None:
        """Say what could not be used."""
        if (line := self.line(kind, text)) is not None:
            self.console.error(line)

    def is_logged(self, record: logging.LogRecord) -> bool:
        """Tell whether to write something to a log: a filter of it, with a kind a message."""
        return self.line(str(record.msg), "") is not None

    def line(self, kind: str, text: str) -> str | None:
        """Return what to say of one more of a kind, or None.

        Examples
        --------
        >>> sparing = Sparing(Console())
        >>> lines = [sparing.line("refused", "no") for _ in range(1000)]
        >>> lines[0], lines[99], lines[100], lines[999]
        ('no', 'no (100 of these so far; next at 1,000)', None, 'no (1,000 of these ...)')
        """
        with self._lock:
            self._counts[kind] += 1
            number = self._counts[kind]
        if number < FIRST:
            return text
        if number != 10 ** (len(str(number)) - 1):
            return None
        return f"{text} ({number:,} of these so far; next at {10 * number:,})"
