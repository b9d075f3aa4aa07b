"""A service on a free port of the loopback, run in this process, and small pictures for it."""

import io
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from newfound.recognition.editor import Editor
from newfound.studio.app import create_app
from newfound.studio.server import Server, bind
from tests.command_line import picture

EXTRACTOR = "pixels:size=8"


def png(seed: int = 0, thing: int = 0) -> bytes:
    """The bytes of a small picture of a thing."""
    file = io.BytesIO()
    picture(seed, thing).save(file, "PNG")
    return file.getvalue()


class Served:
    """A service that runs, and what its clients need."""

    def __init__(self, editor: Editor, app: Any, port: int) -> None:
        self.editor, self.app, self.port = editor, app, port
        self.service = app.state.service
        self.address = f"http://127.0.0.1:{port}"
        self.http = httpx.Client(base_url=self.address, timeout=20)

    def teach(self, label: str, seed: int = 0, thing: int = 0, **more: str) -> dict[str, Any]:
        """Teach a picture over HTTP, and return what was done."""
        answer = self.http.post(
            "/api/lessons", params={"label": label, **more}, content=png(seed, thing)
        )
        assert answer.status_code == 200, answer.text
        done: dict[str, Any] = answer.json()
        return done

    def post(self, path: str, values: Any = None) -> httpx.Response:
        """Post JSON."""
        return self.http.post(path, json={} if values is None else values)

    def counts(self) -> dict[str, int]:
        """How many examples each class has, as the service says."""
        classes = self.http.get("/api/state").json()["classes"]
        return {each["label"]: each["count"] for each in classes}

    @contextmanager
    def live(self, query: str = "", **headers: str) -> Iterator["Talk"]:
        """Open a WebSocket."""
        address = f"ws://127.0.0.1:{self.port}/api/live{query}"
        with connect(
            address, additional_headers=headers, max_size=None, compression=None, close_timeout=0.1
        ) as raw:
            yield Talk(raw)


class Talk:
    """A WebSocket of a client's."""

    def __init__(self, raw: ClientConnection) -> None:
        self.raw = raw

    def send(self, **values: Any) -> None:
        """Send a text."""
        self.raw.send(json.dumps(values))

    def next(self, kind: str, **wanted: Any) -> dict[str, Any]:
        """Return the next message of a kind, and with these values; others are passed over."""
        while True:
            values: dict[str, Any] = json.loads(self.raw.recv(timeout=20))
            if values["type"] == kind and wanted.items() <= values.items():
                return values


Serve = Callable[..., Served]


def certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """Make a certificate for a host, and return its file and that of its key."""
    names = ("-subj", f"/CN={host}", "-addext", f"subjectAltName=IP:{host}")
    made, key = folder / "cert.pem", folder / "key.pem"
    kind = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    command = ["openssl", "req", *kind, "-keyout", str(key), "-out", str(made), *names]
    subprocess.run(command, check=True, capture_output=True)
    return made, key


@contextmanager
def started(folder: Path, tls: tuple[Path, Path] | None = None, **options: Any) -> Iterator[Served]:
    """Run a service, perhaps with a certificate and its key; options are those of `create_app`."""
    editor = Editor(folder / "kitchen.newfound", EXTRACTOR)
    app = create_app(editor, **options)
    bound = bind("127.0.0.1", 0)
    bound.listen()  # who connects before the server is there waits for it
    server = Server(app, *(tls or ()))
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    served = Served(editor, app, bound.getsockname()[1])
    try:
        yield served
    finally:
        served.http.close()
        server.should_exit = True
        thread.join()
        bound.close()
        editor.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start a service with options."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(started(tmp_path, **options))


@pytest.fixture
def served(serve: Serve) -> Served:
    """A service as it is by default, which knows nothing."""
    return serve()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service for all tests of a file that do not mind what it knows."""
    with started(tmp_path_factory.mktemp("shared")) as served:
        yield served
