"""The parts of the service: lanes take turns, the state is told last, pages are a fixed list."""

import asyncio
import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast
from unittest import mock

import pytest

from newfound.studio import page_files
from newfound.studio.background import Board
from newfound.studio.errors import OURS, Refusal, reply_to
from newfound.studio.limits import ServiceLimits
from newfound.studio.live import Live
from newfound.studio.metrics import Metrics
from newfound.studio.server import address_of, bind, is_local
from newfound.studio.workers import Lane, StoppingError, Workers
from tests.studio.conftest import Serve


@pytest.fixture
def held() -> Any:
    """One worker that waits at a gate, so that jobs pile up behind it."""
    workers, gate, under_way = Workers(1), threading.Event(), threading.Event()

    def wait() -> None:
        under_way.set()
        assert gate.wait(20)

    workers.submit(Lane(), wait)
    assert under_way.wait(20)
    yield workers, gate
    gate.set()
    workers.close()


def test_who_sends_much_waits_for_itself(held: tuple[Workers, threading.Event]) -> None:
    workers, gate = held
    greedy, modest, done = Lane(), Lane(), list[str]()
    for number in range(3):
        workers.submit(greedy, partial(done.append, f"greedy {number}"))
    workers.submit(modest, lambda: done.append("modest"))
    gate.set()
    workers.stop()
    assert done == ["greedy 0", "modest", "greedy 1", "greedy 2"]


def test_the_newest_replaces_all_that_wait_and_keeps_its_place(
    held: tuple[Workers, threading.Event],
) -> None:
    workers, gate = held
    first, second, done = Lane(), Lane(), list[str]()
    assert workers.submit_newest(first, lambda: done.append("old")) == 0
    workers.submit(second, lambda: done.append("second"))
    assert workers.submit_newest(first, lambda: done.append("new")) == 1
    gate.set()
    workers.stop()
    assert done == ["new", "second"]


def test_what_a_job_returns_is_written_before_the_next_of_its_lane() -> None:
    workers, lane, done = Workers(2), Lane(), list[str]()

    def lesson(number: int) -> Callable[[], None]:
        done.append(f"look {number}")
        return lambda: done.append(f"write {number}")

    for number in range(3):
        workers.submit(lane, partial(lesson, number))
    workers.close()
    expected = [f"{what} {number}" for number in range(3) for what in ("look", "write")]
    assert done == expected


def test_who_stops_does_what_was_taken_and_takes_no_more() -> None:
    workers, done = Workers(1), list[int]()
    lane = Lane()
    for number in range(5):
        workers.submit(lane, partial(done.append, number))
    workers.stop()
    assert done == [0, 1, 2, 3, 4]
    for submit in (workers.submit, workers.submit_newest):
        with pytest.raises(StoppingError):
            submit(lane, lambda: None)
    workers.close()


def test_a_job_that_fails_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    workers, done = Workers(1), list[str]()

    def fail() -> None:
        raise RuntimeError("on purpose")

    workers.submit(Lane(), fail)
    workers.submit(Lane(), lambda: fail)
    workers.submit(Lane(), lambda: done.append("next"))
    workers.close()
    assert done == ["next"]
    assert caplog.text.count("RuntimeError: on purpose") == 2


class Listener:
    """Notes what it is told."""

    is_flushed = True

    def __init__(self) -> None:
        self.told: list[str] = []
        self.heard = asyncio.Event()

    def tell_state(self, text: str) -> None:
        self.told.append(text)
        self.heard.set()


def test_states_are_told_together_and_the_last_one_always() -> None:
    async def run() -> list[str]:
        positions = [0]
        board, listener = Board(lambda: str(positions[-1]), pause=0.05), Listener()
        board.subscribers.add(listener)
        task = asyncio.create_task(board.run())
        for position in range(1, 101):
            positions.append(position)
            board.tell()
            await asyncio.sleep(0)
        while listener.told[-1:] != ["100"]:
            listener.heard.clear()
            await asyncio.wait_for(listener.heard.wait(), 20)
        task.cancel()
        return listener.told

    assert len(asyncio.run(run())) < 50


def test_a_board_goes_on_when_a_state_cannot_be_told(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> list[str]:
        states = iter(["", "a state"])
        listener = Listener()

        def make() -> str:
            return next(states) or str(1 / 0)

        board = Board(make, pause=0)
        board.subscribers.add(listener)
        task = asyncio.create_task(board.run())
        while not listener.told:
            board.tell()
            await asyncio.sleep(0.001)
        task.cancel()
        return listener.told

    assert asyncio.run(run()) == ["a state"]
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (Refusal(418, "no"), 418, "no"),
        (StoppingError(), 503, "stopping"),
        (OSError(28, "No space left", "/secret"), 503, "could not be written"),
        (MemoryError(), 503, "memory"),
        (ZeroDivisionError("secret"), 500, OURS),
    ],
)
def test_errors_are_told_without_secrets(error: Exception, status: int, words: str) -> None:
    said = reply_to(error)
    assert said.status == status
    assert words in said.sentence
    assert "secret" not in said.sentence


def test_a_histogram_counts_all_that_are_below_a_bound() -> None:
    metrics = Metrics()
    for seconds in (0.005, 0.02, 99.0):
        metrics.look(seconds)
    lines = metrics.text({}).splitlines()
    for bound, count in ("0.005", 1), ("0.025", 2), ("10.0", 2), ("+Inf", 3):
        assert f'newfound_look_seconds_bucket{{le="{bound}"}} {count}' in lines
    assert "newfound_look_seconds_sum 99.025000" in lines


def test_the_page_is_a_fixed_list_with_types_and_tags(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "installed"
    (folder / "page").mkdir(parents=True)
    for name in ("index.html", "main.js", "icon.svg", "notes.txt", ".hidden"):
        (folder / "page" / name).write_text(f"this is {name}")
    monkeypatch.setattr(page_files, "files", lambda _: folder)
    served = serve()
    for path, kind in (
        ("/", "text/html; charset=utf-8"),
        ("/static/main.js", "text/javascript; charset=utf-8"),
        ("/static/icon.svg", "image/svg+xml"),
    ):
        answer = served.http.get(path)
        assert answer.headers["content-type"] == kind
        assert answer.text.startswith("this is")
        tag = {"if-none-match": answer.headers["etag"]}
        assert served.http.get(path, headers=tag).status_code == 304
    for path in ("/static/notes.txt", "/static/.hidden", "/static/index.html", "/main.js"):
        assert served.http.get(path).status_code == 404


def test_the_page_needs_no_token_and_a_service_alone_has_none(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "index.html").write_text("hello")
    monkeypatch.setattr(page_files, "files", lambda _: tmp_path)
    assert serve(token="0123456789abcdef", local=False).http.get("/").text == "hello"


def test_addresses_name_the_scheme_the_port_and_the_token() -> None:
    with bind("localhost", 0) as bound:
        port = bound.getsockname()[1]
        assert address_of(bound, False, None) == f"http://127.0.0.1:{port}/"
        assert address_of(bound, True, "abc") == f"https://127.0.0.1:{port}/#token=abc"
    assert [is_local(host) for host in ("localhost", "::1", "0.0.0.0", "10.0.0.1")] == [
        *(True, True),
        *(False, False),
    ]


def test_replies_to_who_reads_slowly_come_in_the_order_of_the_questions() -> None:
    questions = [json.dumps({"type": "teach", "id": str(number)}) for number in range(5)]

    class Slow:
        """A socket that has all questions at once, and whose replies wait until all are asked."""

        def __init__(self) -> None:
            self.asked = [{"type": "websocket.receive", "text": text} for text in questions]
            self.read, self.told = asyncio.Event(), list[str]()

        async def accept(self) -> None:
            pass

        async def receive(self) -> Any:
            if self.asked:
                return self.asked.pop(0)
            self.read.set()
            while len(self.told) < len(questions):
                await asyncio.sleep(0)
            return {"type": "websocket.disconnect"}

        async def send_text(self, text: str) -> None:
            await self.read.wait()
            self.told.append(text)

    async def serve() -> list[str]:
        socket, service = Slow(), mock.Mock(limits=ServiceLimits())
        await Live(cast(Any, socket), service).run()
        return [json.loads(text)["id"] for text in socket.told]

    assert asyncio.run(serve()) == ["0", "1", "2", "3", "4"]
