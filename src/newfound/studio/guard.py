"""Who may ask, from where, how much and how often: decided before anything else is done."""

import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from starlette.requests import ClientDisconnect

from newfound.studio.bodies import Body
from newfound.studio.errors import OURS, Refusal
from newfound.studio.limits import Buckets, Limits

log = logging.getLogger("newfound.studio")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

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
        kind, _, given = one_header(scope, b"authorization").partition(" ")
        if kind.lower() == "bearer" and self.is_token(given.strip()):
            return True
        return any(_same(value, self.cookie) for value in _cookies(scope, cookie_name(scope)))


class Guard:
    """ASGI middleware that refuses what no page of this service and no program of its user sends.

    Parameters
    ----------
    app : ASGI application
    limits : Limits
    access : Access
    local : bool
        Whether the service is for this machine alone, and only answers to its own names.
    bodies : mapping of paths
        How many bytes a body may have there; elsewhere it is `limits.json`.
    public : iterable of paths
        What needs no token: the files of the page.
    """

    # _requests, _sockets: how many are under way.

    def __init__(
        self,
        app: App,
        limits: Limits,
        access: Access,
        local: bool,
        bodies: dict[str, int],
        public: Iterable[str] = (),
    ) -> None:
        self.app, self.limits, self.access, self.local = app, limits, access, local
        self.bodies, self.public = bodies, frozenset(public)
        self._buckets = Buckets(limits.rate, limits.burst)
        self._requests = self._sockets = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = self.bodies.get(scope["path"], self.limits.json)
        body = Body(receive, send, most, self.limits)
        answer = _WithHeaders(scope, body.send)
        self._requests += 1
        try:
            self._check(scope)
            if self._requests > self.limits.requests:
                raise Refusal(503, "too many requests at once; try again in a second", 1)
            body.check_length(one_header(scope, b"content-length"))
            await self.app(scope, body.receive, answer.send)
        except Refusal as refusal:
            if not answer.began:
                await _refuse(answer.send, refusal)
        except ClientDisconnect:  # in the middle of a body or of an answer: nobody listens
            pass
        except Exception:
            log.exception("unexpected error")
            if not answer.began:
                await _refuse(answer.send, Refusal(500, OURS))
        finally:
            self._requests -= 1

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
        if not self._buckets.take((scope.get("client") or ("",))[0]):
            raise Refusal(429, "too many requests; wait a second", 1)
        self._check_host(scope)
        _check_origin(scope)
        _check_site(scope)
        path = scope["path"]
        if path not in self.public and path != SESSION and not self.access.is_granted(scope):
            raise Refusal(401, "this needs the token that was printed when the service started")

    def _check_host(self, scope: Scope) -> None:
        names = _headers(scope, b"host")
        if len(names) != 1:
            raise Refusal(400, "say once which host is meant")
        if self.local and _without_port(names[0]) not in LOCAL_NAMES:
            raise Refusal(403, "this service answers to localhost and 127.0.0.1 only")


class _WithHeaders:
    """Adds the headers that every answer has."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._send, self.began = send, False
        self._is_page = not scope["path"].startswith(("/api", "/metrics"))

    async def send(self, message: Message) -> None:
        """Pass a part of an answer on."""
        if message["type"] == "http.response.start":
            self.began = True
            headers = [*message.get("headers", ()), *SECURITY]
            if not self._is_page:
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        await self._send(message)


def _check_origin(scope: Scope) -> None:
    """Raise Refusal if a page of another site asks."""
    for origin in _headers(scope, b"origin"):
        scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
        if origin.lower() != f"{scheme}://{one_header(scope, b'host')}".lower():
            raise Refusal(403, "pages of other sites may not use this service")


def _check_site(scope: Scope) -> None:
    """Raise Refusal if a browser says that another site asks; a link to here is no harm."""
    site = one_header(scope, b"sec-fetch-site").lower()
    if site in ("", "same-origin", "none"):
        return
    is_link = (
        scope.get("method") == "GET" and one_header(scope, b"sec-fetch-mode").lower() == "navigate"
    )
    if not is_link or one_header(scope, b"sec-fetch-dest").lower() not in ("document", ""):
        raise Refusal(403, "pages of other sites may not use this service")


async def _refuse(send: Send, refusal: Refusal) -> None:
    body, headers = _parts(refusal)
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _refuse_websocket(scope: Scope, receive: Receive, send: Send, refusal: Refusal) -> None:
    """Refuse a handshake with a status, where the server can; otherwise it is closed."""
    await receive()
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.sentence})
        return
    body, headers = _parts(refusal)
    start = "websocket.http.response.start"
    await send({"type": start, "status": refusal.status, "headers": [*headers, *SECURITY]})
    await send({"type": "websocket.http.response.body", "body": body})


def _parts(refusal: Refusal) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    body = json.dumps({"error": refusal.sentence}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if refusal.retry_after is not None:
        headers.append((b"retry-after", str(refusal.retry_after).encode()))
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    return body, headers


def _headers(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def one_header(scope: Scope, name: bytes) -> str:
    """Return a header; empty where there is none."""
    return next(iter(_headers(scope, name)), "")


def cookie_name(scope: Scope) -> str:
    """Return what the cookie is called: cookies know no ports, and several services may run."""
    return f"newfound-{(scope.get('server') or ('', 0))[1]}"


def _cookies(scope: Scope, name: str) -> list[str]:
    pairs = (part.strip().partition("=") for part in one_header(scope, b"cookie").split(";"))
    return [value for key, _, value in pairs if key == name]


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return (name if port.isdigit() else host).lower()


def _same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())
