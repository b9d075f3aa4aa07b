"""How much of anything a service takes, and the bucket that measures how fast it comes."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

MB = 2**20
# Seconds that a client may leave what it was sent unread before it is cut off.
LONGEST_UNREAD = 60


@dataclass(frozen=True)
class ServiceLimits:
    """What a service takes from others before it says no.

    Parameters
    ----------
    image, archive, model, json : int
        Bytes of a body: an image, a zip of images, a model file, and everything else.
    message : int
        Bytes of a message over a WebSocket; larger images go by HTTP.
    head_seconds : float
        Seconds from one request, or from the beginning, to the end of the next one's headers.
    body_seconds : float
        Seconds that a short body may take.
    body_rate : float
        Bytes a second that a longer one must bring on top.
    farewell_seconds : float
        Seconds in which the rest of a body is thrown away after its answer, so that the client has
        sent what it wanted and hears why.
    requests, sockets, connections : int
        HTTP requests under way, WebSockets, and connections that may be open, whoever's they are.
    rate, burst : float
        HTTP requests per second of one client, and at once.
    message_rate, message_burst : float
        Messages per second of one WebSocket, and at once.
    uploads : int
        Models and zips that may be on their way here.
    waiting : int
        Images by HTTP that may wait for a core.
    lessons : int
        Lessons that may wait on one WebSocket.
    import_pixels : int
        Pixels that an import of a zip may decode: 20,000 photos of 12 megapixels.
    import_seconds : float
        Seconds that it may take, so that nobody waits for a day. Such photos take that long if
        each takes 180 milliseconds.
    """

    image: int = 16 * MB
    archive: int = 256 * MB
    model: int = 1024 * MB
    json: int = 64 * 1024
    message: int = 4 * MB
    head_seconds: float = 10.0
    body_seconds: float = 20.0
    body_rate: float = 64 * 1024
    farewell_seconds: float = 3.0
    requests: int = 64
    sockets: int = 64
    connections: int = 256
    rate: float = 300.0
    burst: float = 900.0
    message_rate: float = 500.0
    message_burst: float = 1500.0
    uploads: int = 4
    waiting: int = 32
    lessons: int = 8
    import_pixels: int = 240_000_000_000
    import_seconds: float = 3600.0


class Bucket:
    """Tokens that come at a rate, up to a number; who takes one that is not there is too fast.

    Examples
    --------
    >>> now = 0.0
    >>> bucket = Bucket(rate=2.0, most=1.0, clock=lambda: now)
    >>> bucket.take(), bucket.take()
    (True, False)
    >>> now = 0.5
    >>> bucket.take()
    True
    """

    # tokens: how many there were at `then`.

    def __init__(self, rate: float, most: float, clock: Callable[[], float] = monotonic) -> None:
        self.rate, self.most, self.clock = rate, most, clock
        self.tokens, self.then = most, clock()

    def take(self) -> bool:
        """Take a token, and say whether there was one."""
        now = self.clock()
        self.tokens = min(self.most, self.tokens + (now - self.then) * self.rate)
        self.then = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True
