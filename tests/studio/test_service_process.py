"""The commands that run the service: how they begin, what they print, and how they end."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from newfound import Recogniser
from newfound.recognition.editor import Editor
from tests.command_line import newfound
from tests.studio.conftest import EXTRACTOR, certificate, png
from tests.studio.test_live import lesson

pytestmark = pytest.mark.slow
needs_another_address = pytest.mark.skipif(
    sys.platform != "linux", reason="only on Linux the loopback has 127.0.0.2, too"
)


class Running(subprocess.Popen[str]):
    """A command that serves."""

    def __init__(self, *arguments: object, **environment: str) -> None:
        words = [sys.executable, "-m", "newfound", *map(str, arguments)]
        super().__init__(
            [*words, "--extractor", EXTRACTOR],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment},
        )
        assert self.stdout is not None
        self.address = self.stdout.readline().strip()

    @property
    def port(self) -> int:
        """Where it listens."""
        return urlsplit(self.address).port or 0

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal; return the exit code and what was said."""
        self.send_signal(number)
        _, said = self.communicate(timeout=60)
        return self.returncode, said


@contextmanager
def running(*arguments: object, **environment: str) -> Iterator[Running]:
    """Run a command until the end of the block, at the latest."""
    process = Running(*arguments, **environment)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def counts(path: Path) -> dict[str, int]:
    """What a model knows."""
    editor = Editor(path, EXTRACTOR)
    try:
        return editor.recogniser.counts
    finally:
        editor.close()


def told(raw: ClientConnection) -> Iterator[dict[str, Any]]:
    """Yield what a service says until it closes the connection; with which code comes last."""
    try:
        while True:
            yield json.loads(raw.recv(timeout=30))
    except ConnectionClosed as closed:
        yield {"type": "closed", "code": closed.rcvd and closed.rcvd.code}


def test_sigterm_finishes_lessons_that_wait_and_tells_so(tmp_path: Path) -> None:
    model = tmp_path / "kitchen.newfound"
    with running("serve", model, "--port", 0) as process:
        done, refused = list[str](), list[str]()
        with connect(f"ws://127.0.0.1:{process.port}/api/live") as raw:
            for number in range(8):
                raw.send(json.dumps(lesson(f"c{number}", "mug", number)))
            for values in told(raw):
                if values["type"] == "done":
                    if not done:
                        process.send_signal(signal.SIGTERM)
                    done.append(values["id"])
                elif values["type"] == "error":
                    assert values["retry"]
                    refused.append(values["id"])
        assert values == {"type": "closed", "code": 1012}
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert done == [f"c{number}" for number in range(len(done))]
    assert not set(done) & set(refused)
    assert Recogniser(model, None).counts == {"mug": len(done)}  # the file, without the journal
    assert counts(model) == {"mug": len(done)}


def test_ctrl_c_ends_it_as_it_ends_other_commands(tmp_path: Path) -> None:
    model = tmp_path / "kitchen.newfound"
    with running("serve", model, "--port", 0) as process:
        answer = httpx.post(f"{process.address}api/lessons?label=mug", content=png())
        assert answer.status_code == 200
        code, said = process.end(signal.SIGINT)
    assert code == 130
    assert "Traceback" not in said
    assert Recogniser(model, None).counts == {"mug": 1}
    assert newfound("rename", model, "mug", "cup").code == 0  # the lock is given back


def test_the_model_is_locked_for_who_changes_it_and_open_for_who_looks(tmp_path: Path) -> None:
    model, image = tmp_path / "kitchen.newfound", tmp_path / "a.png"
    image.write_bytes(png())
    with running("serve", model, "--port", 0) as process:
        for label, thing in ("mug", 1), ("cup", 2):
            address = f"{process.address}api/lessons?label={label}"
            assert httpx.post(address, content=png(0, thing)).status_code == 200
        assert httpx.get(f"{process.address}api/export/model").status_code == 200
        busy = newfound("teach", model, image, "--as", "pot", "--extractor", EXTRACTOR)
        assert busy.code == 1
        assert "Another process is changing kitchen.newfound" in busy.err
        assert newfound("serve", model, "--port", 0).code == 1
        assert newfound("predict", model, image).code == 0
        assert process.end(signal.SIGTERM)[0] == 0


def test_a_port_that_is_taken_stops_serve_and_not_studio(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = newfound("serve", tmp_path / "m.newfound", "--port", port)
        assert refused.code == 1
        assert f"port {port} is taken" in refused.err
        model = tmp_path / "n.newfound"
        with running("studio", model, "--port", port, "--no-browser") as process:
            assert process.port not in (0, port)
            assert httpx.get(f"{process.address}api/health").status_code == 200
            assert process.end(signal.SIGTERM)[0] == 0


def test_who_names_no_model_is_told_that_it_is_my_newfound_in_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sentence = "No model named: using my.newfound in this folder."
    with running("studio", "--port", 0, "--no-browser") as process:
        answer = httpx.post(f"{process.address}api/lessons?label=mug", content=png())
        assert answer.status_code == 200
        code, said = process.end(signal.SIGTERM)
    assert (code, said.splitlines()[0]) == (0, sentence)
    assert "my.newfound is new." in said
    with running("serve", "--port", 0) as process:
        assert httpx.get(f"{process.address}api/health").status_code == 200
        code, said = process.end(signal.SIGTERM)
    assert (code, said.splitlines()[0]) == (0, sentence)
    assert "my.newfound knows 1 class from 1 image." in said
    assert counts(tmp_path / "my.newfound") == {"mug": 1}
    with running("serve", "other.newfound", "--port", 0) as process:
        assert sentence not in process.end(signal.SIGTERM)[1]


@pytest.mark.parametrize("command", ["serve", "studio"])
@pytest.mark.parametrize(
    ("extractor", "words"),
    [
        ("nope", "no extractor 'nope'"),
        ("nowhere.onnx", "no network at nowhere.onnx"),
        ("nowhere.onnx:size=8", "no network at nowhere.onnx"),
        ("caffenet", "caffenet needs its file"),
        ("caffenet:layer=fc7,path=nowhere.onnx", "no network at nowhere.onnx"),
        ("pixels:size=eight", "size must be numbers"),
    ],
)
def test_an_extractor_that_cannot_be_ends_the_command_at_once(
    tmp_path: Path, command: str, extractor: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bound(*_: object, **__: object) -> None:
        pytest.fail("it would start")

    monkeypatch.setattr("newfound.studio.server.bind", bound)
    done = newfound(command, tmp_path / "new.newfound", "--port", 0, "--extractor", extractor)
    assert done.code == 1
    assert words in done.err
    assert "Traceback" not in done.err
    assert done.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["efficientnet-lite0", "{}", "{}:size=8", "caffenet:path={}"])
def test_no_network_is_loaded_before_the_service_starts(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Started(BaseException):
        pass

    def bound(*_: object, **__: object) -> None:
        raise Started

    monkeypatch.setattr("newfound.studio.server.bind", bound)
    file = tmp_path / "network.onnx"
    file.write_bytes(b"what nobody can load")
    with pytest.raises(Started):
        newfound("serve", tmp_path / "new.newfound", "--extractor", name.format(file))


@needs_another_address
def test_any_other_host_needs_a_token_that_is_printed_once(tmp_path: Path) -> None:
    # An address of the loopback that is not the usual one.
    with running("serve", tmp_path / "m.newfound", "--port", 0, "--host", "127.0.0.2") as process:
        token = urlsplit(process.address).fragment.removeprefix("token=")
        assert len(token) >= 32
        address = process.address.partition("#")[0]
        assert httpx.get(f"{address}api/state").status_code == 401
        bearer = {"authorization": f"Bearer {token}"}
        assert httpx.get(f"{address}api/state", headers=bearer).status_code == 200
        code, said = process.end(signal.SIGTERM)
    assert code == 0
    assert token not in said


@needs_another_address
def test_a_token_of_ones_own_must_be_hard_to_guess(tmp_path: Path) -> None:
    options = ("serve", tmp_path / "m.newfound", "--port", 0, "--host", "127.0.0.2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEWFOUND_TOKEN", "short")
        refused = newfound(*options)
    assert refused.code == 1
    assert "NEWFOUND_TOKEN must have 16" in refused.err
    with running(*options, NEWFOUND_TOKEN="0123456789abcdef") as process:
        assert process.address.endswith("#token=0123456789abcdef")
        assert process.end(signal.SIGTERM)[0] == 0


@pytest.mark.needs("openssl")
@needs_another_address
def test_a_certificate_makes_it_https_and_the_cookie_secure(tmp_path: Path) -> None:
    made, key = certificate(tmp_path, "127.0.0.2")
    options = ("--certificate", made, "--key", key)
    where = ("--host", "127.0.0.2", "--port", 0)
    with running("studio", tmp_path / "m.newfound", *where, *options) as process:
        address, _, token = process.address.partition("#token=")
        assert address.startswith("https://127.0.0.2:")
        context = ssl.create_default_context(cafile=str(made))
        headers = {"origin": address.removesuffix("/")}
        with httpx.Client(base_url=address, verify=context, headers=headers) as client:
            assert client.get("/api/state").status_code == 401
            answer = client.post("/api/session", json={"token": token})
            assert "secure" in answer.headers["set-cookie"].lower()
            assert client.get("/api/state").status_code == 200
        assert process.end(signal.SIGTERM)[0] == 0


def test_a_service_imports_no_scikit_learn(tmp_path: Path) -> None:
    script = f"""
        import asyncio, sys, httpx
        from newfound.cli import main
        from newfound.recognition.editor import Editor
        from newfound.studio.app import create_app
        import newfound.studio.server

        async def ask():
            editor = Editor({str(tmp_path / "m.newfound")!r}, "{EXTRACTOR}")
            app = create_app(editor)
            client = httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://localhost"
            )
            async with app.router.lifespan_context(app), client:
                for label in "mug", "cup":
                    await client.post("/api/lessons?label=" + label, content={png()!r})
                await client.post("/api/look", content={png()!r})
                await client.get("/api/confusions")
                print((await client.get("/api/state")).status_code)
            editor.close()

        asyncio.run(ask())
        print(sorted({{"sklearn", "pandas", "matplotlib", "torch"}} & set(sys.modules)))
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(script)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n") == ["200", "[]", ""]


def test_who_lacks_the_extra_is_told_how_to_get_it(tmp_path: Path) -> None:
    script = """
        import sys
        sys.modules["fastapi"] = sys.modules["uvicorn"] = None
        from newfound.cli import main
        sys.argv = ["newfound", "serve", "m.newfound", "--port", "0"]
        main()
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(script)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 1
    assert "pip install 'newfound[studio]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_example_client_teaches_and_asks(tmp_path: Path) -> None:
    for name in ("mug", "cup"):
        (tmp_path / f"{name}.png").write_bytes(png(0, len(name) + ord(name[0])))
    client = Path(__file__).parents[2] / "examples" / "studio_client.py"
    with running("serve", tmp_path / "kitchen.newfound", "--port", 0) as process:
        said = []
        for words in (["mug", "mug.png"], ["cup", "cup.png"], ["", "mug.png"]):
            done = subprocess.run(
                [sys.executable, client, process.address, *words],
                capture_output=True,
                text=True,
                check=True,
                cwd=tmp_path,
            )
            said.append(done.stdout.strip())
        assert process.end(signal.SIGTERM)[0] == 0
    assert said[:2] == ["taught mug", "taught cup"]
    assert said[2].startswith("mug")
