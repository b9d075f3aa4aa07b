"""A limit on what is logged: whatever others do, a log does not fill the disk."""

import logging
from collections.abc import Callable
from time import monotonic

from newfound.studio.limits import Bucket

# Messages a second, in the long run, and at once.
RATE, BURST = 1 / 60, 10.0


class LogLimit(logging.Filter):
    """Lets ten messages pass at once, then one a minute, which says how many were left out.

    Examples
    --------
    >>> limit, record = LogLimit(clock=lambda: 0.0), logging.makeLogRecord({"msg": "full"})
    >>> sum(limit.filter(record) for _ in range(100))
    10
    """

    # left_out: messages since the last that passed.

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self.left_out = 0
        self._bucket = Bucket(RATE, BURST, clock)

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a message passes."""
        if not self._bucket.take():
            self.left_out += 1
            return False
        if self.left_out:
            record.msg = f"{record.getMessage()} ({self.left_out} messages were left out)"
            record.args, self.left_out = (), 0
        return True
