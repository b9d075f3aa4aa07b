"""What strangers, other sites' pages and floods can do: nothing. Each limit as a client sees it."""

import asyncio
import contextlib
import socket
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from newfound.studio.guard import SECURITY, Access, Guard
from newfound.studio.limits import Bucket, ServiceLimits
from tests.studio.conftest import Serve, Served, png

TOKEN = "a-token-of-our-own-0123456789"
BEARER = {"authorization": f"Bearer {TOKEN}"}


def handshake(served: Served, **headers: str) -> int:
    """Return with which status a WebSocket is opened or refused."""
    try:
        with served.live(**headers) as talk:
            talk.send(type="ping")
            talk.next("pong")
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def raw(served: Served, data: bytes) -> bytes:
    """Send bytes as they are, and return all that comes until the service ends it."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
        connection.sendall(data)
        found = b""
        with contextlib.suppress(ConnectionResetError):
            while part := connection.recv(65536):
                found += part
        return found


# Tokens.


def test_without_the_token_nothing_is_told(serve: Serve) -> None:
    served = serve(token=TOKEN, local=False)
    for path in ("/api/state", "/api/health", "/metrics", "/openapi.json", "/api/nowhere"):
        answer = served.http.get(path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "token" in answer.json()["error"]
    for wrong in ("Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer \xe9"):
        headers = {b"authorization": wrong.encode("latin-1")}
        assert served.http.get("/api/state", headers=headers).status_code == 401
    assert served.http.get("/api/state", headers=BEARER).status_code == 200
    assert handshake(served) == 401
    assert handshake(served, **BEARER) == 101


@pytest.mark.slow
def test_the_token_is_exchanged_for_a_cookie_that_scripts_do_not_see(serve: Serve) -> None:
    served = serve(token=TOKEN, local=False)
    assert served.post("/api/session", {"token": "wrong"}).status_code == 401
    answer = served.post("/api/session", {"token": TOKEN})
    assert answer.status_code == 204
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert "Path=/" in cookie
    assert TOKEN not in cookie
    assert served.http.get("/api/state").status_code == 200  # httpx brings the cookie along
    assert handshake(served, cookie=cookie.partition(";")[0]) == 101
    assert handshake(served, cookie=f"newfound-{served.port}={TOKEN}") == 401


def test_where_no_token_is_needed_a_session_is_granted(shared: Served) -> None:
    answer = shared.post("/api/session", {"token": "whatever"})
    assert (answer.status_code, "set-cookie" in answer.headers) == (204, False)


# Other sites.


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1", "file://", ""],
)
def test_pages_of_other_sites_are_refused(shared: Served, origin: str) -> None:
    headers = {"origin": origin}
    assert shared.http.get("/api/state", headers=headers).status_code == 403
    answer = shared.http.post("/api/undo", json={}, headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers
    assert handshake(shared, origin=origin) == 403


def test_the_page_itself_is_not_refused(shared: Served) -> None:
    for headers in ({"origin": shared.address}, {"sec-fetch-site": "same-origin"}):
        assert shared.http.get("/api/state", headers=headers).status_code == 200
        assert handshake(shared, **headers) == 101


def test_another_scheme_is_another_origin(shared: Served) -> None:
    headers = {"origin": shared.address.replace("http", "https")}
    assert shared.http.get("/api/state", headers=headers).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_calls_another_site_is_refused_but_a_link_is_not(
    shared: Served, site: str
) -> None:
    embedded = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    assert shared.http.get("/api/export/examples", headers=embedded).status_code == 403
    framed = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}
    assert shared.http.get("/api/state", headers=framed).status_code == 403
    link = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert shared.http.get("/api/state", headers=link).status_code == 200
    assert shared.http.post("/api/undo", json={}, headers=link).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_names_that_were_bent_to_this_machine_are_refused(shared: Served, host: str) -> None:
    assert shared.http.get("/api/state", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "127.0.0.1:8000", "[::1]:8000"])
def test_names_of_this_machine_are_not(shared: Served, host: str) -> None:
    assert shared.http.get("/api/state", headers={"host": host}).status_code == 200


def test_a_request_without_a_host_or_with_two_is_refused(shared: Served) -> None:
    for hosts in (b"", b"Host: localhost\r\nHost: evil.example\r\n"):
        answer = raw(shared, b"GET /api/state HTTP/1.0\r\n" + hosts + b"\r\n")
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"kitchen" not in answer


# Headers.


@pytest.mark.parametrize(
    "path",
    ["/", "/api/state", "/api/nowhere", "/metrics", "/openapi.json", "/api/examples?limit=0"],
)
def test_every_answer_carries_the_headers_that_bind_a_browser(shared: Served, path: str) -> None:
    answer = shared.http.get(path)
    for name, value in SECURITY:
        assert answer.headers.get_list(name.decode()) == [value.decode()]
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "server" not in answer.headers
    if path.startswith(("/api", "/metrics")):
        assert answer.headers["cache-control"] == "no-store"


def test_nothing_is_served_that_comes_from_elsewhere(shared: Served) -> None:
    for path in ("/docs", "/redoc", "/docs/oauth2-redirect"):
        assert shared.http.get(path).status_code == 404


def test_an_address_that_is_none_and_a_wrong_method_get_a_sentence(shared: Served) -> None:
    assert shared.http.get("/api/nowhere").json() == {"error": "there is nothing at this address"}
    answer = shared.http.get("/api/undo")
    assert answer.status_code == 405
    assert answer.json() == {"error": "this address takes another method"}


@pytest.mark.parametrize(
    "path",
    [
        "/static/../service.py",
        "/static/..%2fservice.py",
        "/static/%2e%2e/%2e%2e/__init__.py",
        "//etc/passwd",
        "/static//etc/passwd",
        "/kitchen.newfound",
        "/index.html",
        "/static/",
        "/static",
    ],
)
def test_no_path_from_outside_is_opened(shared: Served, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert raw(shared, request.encode()).startswith(b"HTTP/1.1 404 ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "label", ["../../etc/passwd", "<script>alert(1)</script>", "'; DROP TABLE"]
)
def test_a_label_is_a_label_whatever_is_in_it(served: Served, label: str) -> None:
    served.teach(label)
    assert served.counts() == {label: 1}
    answer = served.http.get("/api/examples", params={"label": label})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["examples"][0]["label"] == label


# Sizes.


def endless(size: int) -> Iterator[bytes]:
    for _ in range(size // 4096):
        yield bytes(4096)


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/api/look", "image"),
        ("/api/lessons?label=mug", "image"),
        ("/api/import/examples", "archive"),
        ("/api/import/model", "model"),
        ("/api/undo", "json"),
        ("/api/nowhere", "json"),
    ],
)
def test_a_body_that_is_too_large_is_refused_also_if_it_does_not_say_so(
    serve: Serve, path: str, most: str
) -> None:
    sizes: dict[str, Any] = {"image": 10_000, "archive": 30_000, "model": 50_000, "json": 3_000}
    served = serve(limits=ServiceLimits(**sizes))
    announced = served.http.post(path, content=bytes(sizes[most] + 1))
    assert announced.status_code == 413
    assert "too large" in announced.json()["error"]
    if path != "/api/nowhere":  # which reads no body at all
        streamed = served.http.post(path, content=endless(10 * sizes[most]))
        assert streamed.status_code == 413
    assert served.http.get("/api/health").status_code == 200


def test_what_is_announced_is_not_trusted(shared: Served) -> None:
    for length in (b"-1", b"9" * 40, b"1e3", b"x"):
        request = b"POST /api/undo HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + length
        status = raw(shared, request + b"\r\n\r\n").split(b" ", 2)[1]
        assert status in (b"400", b"413")


def test_headers_without_end_are_refused(shared: Served) -> None:
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000
    answer = raw(shared, request)  # nothing, where the end comes before the sentence is read
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    assert shared.http.get("/api/health").status_code == 200


# Images.


def bomb() -> bytes:
    """A PNG of a few bytes that says it has 900 million pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 30_000, 30_000, 8, 0, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(bytes(10_000)))
    return b"\x89PNG\r\n\x1a\n" + head + body + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (bomb(), "pixels"),
        (png()[:-40], "cut short"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n(/etc/passwd) run", "not an image"),
        (b"GIF89a" + bytes(20), ""),
    ],
)
def test_hostile_images_are_refused(shared: Served, image: bytes, words: str) -> None:
    for path in ("/api/look", "/api/lessons?label=mug"):
        answer = shared.http.post(path, content=image)
        assert answer.status_code == 422
        assert words in answer.json()["error"]


# Time, rate and number.


def test_a_body_that_comes_too_slowly_is_refused(serve: Serve) -> None:
    served = serve(limits=ServiceLimits(body_seconds=0.2))
    for path in ("/api/look", "/api/undo", "/api/import/model"):
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        answer = raw(
            served, head.replace("json", "octet-stream").encode() + b"Content-Length: 9\r\n\r\nx"
        )
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"too slowly" in answer


def test_too_many_requests_of_one_client_are_told_to_wait(serve: Serve) -> None:
    served = serve(limits=ServiceLimits(rate=0.001, burst=3))
    found = [served.http.get("/api/health") for _ in range(4)]
    assert [answer.status_code for answer in found] == [200, 200, 200, 429]
    assert found[-1].headers["retry-after"] == "1"
    assert handshake(served) == 429


def test_a_bucket_fills_at_its_rate_and_no_further() -> None:
    now = [0.0]
    bucket = Bucket(rate=10, most=2, clock=lambda: now[0])
    assert [bucket.take() for _ in range(3)] == [True, True, False]
    now[0] = 0.1
    assert [bucket.take() for _ in range(2)] == [True, False]
    now[0] = 100.0
    assert [bucket.take() for _ in range(3)] == [True, True, False]


def test_there_are_no_more_websockets_than_may_be(serve: Serve) -> None:
    served = serve(limits=ServiceLimits(sockets=2))
    with served.live(), served.live() as second:
        assert handshake(served) == 503
        second.raw.close()
        while handshake(served) != 101:  # as soon as the service has seen it go
            pass


def test_strangers_do_not_use_up_what_the_owner_may_ask(serve: Serve) -> None:
    served = serve(token=TOKEN, limits=ServiceLimits(rate=0.001, burst=3))
    found = [served.http.get("/api/health").status_code for _ in range(4)]
    assert found == [401, 401, 401, 429]
    assert served.http.get("/api/health", headers=BEARER).status_code == 200


def looks_while_another_begins(served: Served, **headers: str) -> tuple[int, int]:
    """Return with which status a look is answered, and a question asked while its body comes."""
    found = []

    def slowly() -> Iterator[bytes]:
        yield png()[:10]
        found.append(served.http.get("/api/health", headers=headers))
        yield png()[10:]

    look = served.http.post("/api/look", content=slowly(), headers=headers)
    for refused in (each for each in (look, *found) if each.status_code == 503):
        assert refused.headers["retry-after"] == "1"
    return look.status_code, found[0].status_code


def test_a_body_that_is_not_here_gives_way_if_there_are_too_many_requests(serve: Serve) -> None:
    assert looks_while_another_begins(serve(limits=ServiceLimits(requests=1))) == (503, 200)


def test_a_body_that_came_with_the_token_gives_way_to_nobody(serve: Serve) -> None:
    served = serve(token=TOKEN, limits=ServiceLimits(requests=1))
    assert looks_while_another_begins(served, **BEARER) == (200, 503)


def test_an_answer_that_nobody_reads_takes_no_place() -> None:
    limits = ServiceLimits(requests=1)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def statuses() -> list[int]:
        guard, unread, seen = Guard(app, limits, Access(None), False, {}), asyncio.Event(), []

        def ask(is_read: bool) -> Any:
            async def send(message: Any) -> None:
                seen.append(message.get("status", 0))
                if not is_read:
                    unread.set()
                    await asyncio.Event().wait()

            headers = [(b"host", b"localhost")]
            scope = {"type": "http", "method": "GET", "path": "/", "scheme": "http"}
            return guard({**scope, "headers": headers, "query_string": b""}, receive, send)

        waiting = asyncio.create_task(ask(is_read=False))
        await unread.wait()
        await ask(is_read=True)
        waiting.cancel()
        return seen

    async def receive() -> Any:
        return {"type": "http.request"}

    assert asyncio.run(statuses()) == [200, 200, 0]


def test_a_client_that_reads_nothing_holds_up_nobody(shared: Served) -> None:
    with shared.live() as deaf, shared.live() as other:
        for _ in range(100):
            deaf.raw.send(png())
        other.raw.send(png())
        assert other.next("answer")["frame"] == 1


@pytest.mark.parametrize("path", ["/api/look", "/api/lessons", "/api/import/model", "/api/undo"])
def test_who_leaves_in_the_middle_of_a_body_is_no_error_of_ours(
    shared: Served, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def send(message: dict[str, Any]) -> None:
        pass

    scope = {
        "type": "http",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "query_string": b"label=mug",
        "headers": [(b"host", b"localhost")],
    }
    asyncio.run(shared.app(scope, receive, send))
    assert messages == []
    assert caplog.records == []
