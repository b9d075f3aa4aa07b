"""Who may ask, from where, how much and how often: decided before anything else is done."""

import logging
import secrets
from collections.abc import Callable, Iterable
from functools import lru_cache, partial

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from newfound.studio.bodies import Body, busy
from newfound.studio.errors import OURS, Refusal
from newfound.studio.limits import Bucket, ServiceLimits

log = logging.getLogger("newfound.studio")

SECURITY = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        b"media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
        b"form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"camera=(self)"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
# What this machine calls itself. Any other name that leads here is somebody's trick.
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
# Clients, the last that came, of which each has a bucket of requests.
MOST_CLIENTS = 4096
# Where a scope says whether the token came with its request.
TRUSTED = "newfound.trusted"
# Where the token is exchanged for a cookie.
SESSION = "/api/session"


class Access:
    """The token and the cookie that stands for it; neither is needed where there is no token.

    Parameters
    ----------
    token : str or None
    """

    def __init__(self, token: str | None) -> None:
        self.token = token
        self.cookie = secrets.token_urlsafe(32)

    def is_token(self, text: str) -> bool:
        """Tell whether a text is the token, in a time that does not tell how much of it is."""
        return self.token is not None and _same(text, self.token)

    def is_granted(self, scope: Scope) -> bool:
        """Tell whether a request may pass."""
        if self.token is None:
            return True
        headers = Headers(scope=scope)
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.is_token(token.strip()):
            return True
        pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
        name = cookie_name(scope)
        return any(key == name and _same(value, self.cookie) for key, _, value in pairs)


class Guard:
    """ASGI middleware that refuses what no page of this service and no program of its user sends.

    Parameters
    ----------
    app : ASGI application
    limits : ServiceLimits
    access : Access
    local : bool
        Whether the service is for this machine alone, and only answers to its own names.
    bodies : mapping of paths
        How many bytes a body may have there; elsewhere it is `limits.json`.
    public : iterable of paths
        What needs no token: the files of the page.
    """

    # _bucket_of: client -> what measures how fast its requests come.
    # _requests: bodies of those that are not answered yet, and whether the token came with them.
    #     An answer that nobody reads takes no place.
    # _sockets: how many are open.

    def __init__(
        self,
        app: ASGIApp,
        limits: ServiceLimits,
        access: Access,
        local: bool,
        bodies: dict[str, int],
        public: Iterable[str] = (),
    ) -> None:
        self.app, self.limits, self.access, self.local = app, limits, access, local
        self.bodies, self.public = bodies, frozenset(public)
        self._bucket_of = lru_cache(MOST_CLIENTS)(lambda _: Bucket(limits.rate, limits.burst))
        self._requests: dict[Body, bool] = {}
        self._sockets = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        checked = {"http": self._http, "websocket": self._websocket}
        await checked.get(scope["type"], self.app)(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        body = Body(receive, self.bodies.get(scope["path"], self.limits.json), self.limits, headers)
        answer = _WithHeaders(scope, send, partial(self._requests.pop, body, None))
        try:
            self._check(scope)
            self._make_room()
            body.check_length()
            self._requests[body] = scope[TRUSTED]
            await self.app(scope, body.receive, answer.send)
        except Refusal as refusal:
            if not answer.began:
                response = refusal.response
                if body.is_over and not scope.get(TRUSTED):  # nor do we answer what was sent along
                    response.headers["connection"] = "close"
                await response(scope, receive, answer.send)
        except ClientDisconnect:  # in the middle of a body or of an answer: nobody listens
            pass
        except Exception:
            log.exception("unexpected error")
            if not answer.began:
                await Refusal(500, OURS).response(scope, receive, answer.send)
        finally:
            self._requests.pop(body, None)

    def _make_room(self) -> None:
        """Drop the slowest body if there are too many requests, or raise Refusal if all are here.

        Those that came with the token stay.
        """
        if len(self._requests) < self.limits.requests:
            return
        slow = [body for body, trusted in self._requests.items() if not (body.is_over or trusted)]
        if not slow:
            raise busy()
        slowest = min(slow, key=lambda body: body.deadline)
        slowest.drop()
        del self._requests[slowest]

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._sockets += 1
        try:
            self._check(scope)
            if self._sockets > self.limits.sockets:
                raise Refusal(503, "too many connections; close another one", 5)
            await self.app(scope, receive, send)
        except Refusal as refusal:
            await _refuse_websocket(scope, receive, send, refusal)
        except Exception:
            log.exception("unexpected error")
        finally:
            self._sockets -= 1

    def _check(self, scope: Scope) -> None:
        """Raise Refusal if a request may not pass, whatever it asks for."""
        is_granted = self.access.is_granted(scope)
        scope[TRUSTED] = is_granted and self.access.token is not None
        # Strangers behind the same address do not use up what the owner may ask.
        if not self._bucket_of(((scope.get("client") or ("",))[0], scope[TRUSTED])).take():
            raise Refusal(429, "too many requests; wait a second", 1)
        headers = Headers(scope=scope)
        self._check_host(headers)
        _check_origin(scope["scheme"], headers)
        _check_site(scope.get("method"), headers)
        path = scope["path"]
        if path not in self.public and path != SESSION and not is_granted:
            raise Refusal(401, "this needs the token that was printed when the service started")

    def _check_host(self, headers: Headers) -> None:
        names = headers.getlist("host")
        if len(names) != 1:
            raise Refusal(400, "say once which host is meant")
        if self.local and _without_port(names[0]) not in LOCAL_NAMES:
            raise Refusal(403, "this service answers to localhost and 127.0.0.1 only")


class _WithHeaders:
    """Adds the headers that every answer has, and calls a function when it begins."""

    def __init__(self, scope: Scope, send: Send, begin: Callable[[], object] = bool) -> None:
        self._send, self._begin, self.began = send, begin, False
        self._is_page = not scope["path"].startswith(("/api", "/metrics"))

    async def send(self, message: Message) -> None:
        """Pass a part of an answer on."""
        if message["type"].endswith("http.response.start"):  # also one that refuses a WebSocket
            self.began = True
            self._begin()
            headers = [*message.get("headers", ()), *SECURITY]
            if not self._is_page:
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        await self._send(message)


def _check_origin(scheme: str, headers: Headers) -> None:
    """Raise Refusal if a page of another site asks."""
    scheme = {"ws": "http", "wss": "https"}.get(scheme, scheme)
    for origin in headers.getlist("origin"):
        if origin.lower() != f"{scheme}://{headers['host']}".lower():
            raise Refusal(403, "pages of other sites may not use this service")


def _check_site(method: str | None, headers: Headers) -> None:
    """Raise Refusal if a browser says that another site asks; a link to here is no harm."""
    site, mode, destination = (
        headers.get(f"sec-fetch-{name}", "").lower() for name in ("site", "mode", "dest")
    )
    if site in ("", "same-origin", "none"):
        return
    if method != "GET" or mode != "navigate" or destination not in ("document", ""):
        raise Refusal(403, "pages of other sites may not use this service")


async def _refuse_websocket(scope: Scope, receive: Receive, send: Send, refusal: Refusal) -> None:
    """Refuse a handshake with a status, where the server can; otherwise it is closed."""
    await receive()
    if "websocket.http.response" in scope.get("extensions", {}):
        await refusal.response(scope, receive, _WithHeaders(scope, send).send)
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.sentence})


def cookie_name(scope: Scope) -> str:
    """Return what the cookie is called: cookies know no ports, and several services may run."""
    return f"newfound-{(scope.get('server') or ('', 0))[1]}"


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return (name if port.isdigit() else host).lower()


def _same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())
