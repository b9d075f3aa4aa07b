"""What `newfound listen` runs: a model, topics, and between them a listener."""

import json
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from newfound.cli.console import (
    DONE,
    INTERRUPTED,
    Console,
    doubts,
    emit,
    is_terminal,
    printable,
    summary,
)
from newfound.cli.models import locked
from newfound.common.errors import NewfoundError
from newfound.recognition.locking import name_in_errors

if TYPE_CHECKING:
    from newfound.recognition.journalled import JournalledRecogniser
    from newfound.robot.crops import Crop
    from newfound.robot.listening import Listener, Topics
    from newfound.robot.messages import ImageMessage
    from newfound.robot.zenoh_topics import Network

# Seconds between two looks at how things are.
PAUSE = 1.0
NOBODY = "Nobody is there; waiting, and trying again."


class Wishes(NamedTuple):
    """What a user wants of a listener."""

    model: Path
    topic: str
    network: "Network | None"  # None: ROS 1
    domain: int | None
    prefix: str
    teach_for: float
    half_life: float
    ask: bool
    crop: "Crop | None"
    extractor: str | None
    keep_vectors: int | None
    keep_thumbnails: int | None
    wait: float
    json: bool
    quiet: bool


class Told:
    """Topics, and beside them stdout and the terminal.

    If nobody reads stdout any more, that is the end.
    """

    def __init__(self, topics: "Topics", wishes: Wishes, console: Console, ended: "_Ended") -> None:
        self._topics, self._wishes, self._console = topics, wishes, console
        self._ended = ended

    def answer(self, answer: Mapping[str, Any], message: "ImageMessage") -> None:
        """Say what an image shows."""
        self._topics.answer(answer, message)
        if self._wishes.json:
            try:
                emit(json.dumps(answer))
            except OSError as error:
                self._ended.error = error
                self._ended.set()

    def reply(self, reply: Mapping[str, Any]) -> None:
        """Say what became of a command."""
        self._topics.reply(reply)
        said = reply["what"] if reply["ok"] else f"error: {reply['error']}"
        self._console.info(f"{reply['command']}: {said}")

    def question(self, question: Mapping[str, Any]) -> None:
        """Ask what something is."""
        self._topics.question(question)
        number, guess = question["id"], question["guess"]
        near = "" if guess is None else f" (nearest: {guess})"
        how = f"newfound inbox {self._wishes.model} shows it; name {number} LABEL tells"
        self._console.info(f"I do not know this{near}; what is it? Question {number}: {how}.")


def run(wishes: Wishes) -> None:
    """Listen until a signal comes, and exit."""
    console = Console(wishes.quiet)
    with locked(wishes.model, wishes.wait, console), _signals() as ended:
        _log_to_stderr()
        with name_in_errors(wishes.model):
            recogniser = _opened(wishes)
        try:
            recogniser.extractor  # noqa: B018 - is loaded now, and whatever is wrong is said
            topics = _topics(wishes, console, ended)
            if topics is not None:
                try:
                    _listen(recogniser, topics, wishes, console, ended)
                finally:
                    topics.close()
        finally:
            recogniser.close()
    if ended.error is not None:
        raise ended.error
    raise typer.Exit(INTERRUPTED if ended.number == signal.SIGINT else DONE)


def _opened(wishes: Wishes) -> "JournalledRecogniser":
    from newfound.recognition.extractors import DEFAULT
    from newfound.recognition.journalled import JournalledRecogniser

    return JournalledRecogniser(
        wishes.model,
        DEFAULT if wishes.extractor is None else wishes.extractor,
        keep_vectors=wishes.keep_vectors,
        keep_thumbnails=wishes.keep_thumbnails,
    )


def _topics(wishes: Wishes, console: Console, ended: "_Ended") -> "Topics | None":
    """Return topics, once they can be had; None: the end came before."""
    if wishes.network is not None:
        from newfound.robot.zenoh_topics import ZenohTopics

        make = partial(ZenohTopics, wishes.network, wishes.prefix, wishes.domain)
        return _made(make, console, ended)
    from newfound.robot.ros1_topics import Ros1Topics, is_master_there

    if not is_master_there():
        console.info("There is no master of ROS yet (roscore); waiting for it.")
        while not is_master_there():
            if ended.wait(PAUSE):
                return None
    return Ros1Topics(wishes.prefix)


def _made(make: "Callable[[], Topics]", console: Console, ended: "_Ended") -> "Topics | None":
    """Return topics that open only once somebody is there; None: the end came before."""
    made: Future[Topics] = Future()

    def work() -> None:
        try:
            made.set_result(make())
        except Exception as error:
            made.set_exception(error)

    threading.Thread(target=work, name="newfound-open", daemon=True).start()
    is_told = False
    while not ended.is_set():
        with suppress(TimeoutError):
            return made.result(PAUSE)
        if not is_told:
            console.info(NOBODY)
            is_told = True
    return None


def _listen(
    recogniser: "JournalledRecogniser",
    topics: "Topics",
    wishes: Wishes,
    console: Console,
    ended: "_Ended",
) -> None:
    from newfound.robot.asking import Asking
    from newfound.robot.listening import Listener

    listener = Listener(
        recogniser,
        Told(topics, wishes, console, ended),
        half_life=wishes.half_life,
        asking=Asking.of(recogniser, source=wishes.topic) if wishes.ask else None,
        teach_for=wishes.teach_for,
        crop=wishes.crop,
        source=wishes.topic,
    )
    try:
        topics.listen(listener, wishes.topic)
        knows = f"knows {summary(recogniser)}" if recogniser.is_taught else "is new"
        console.info(
            f"Listening to {wishes.topic}, and to commands on {wishes.prefix}/command. "
            f"{wishes.model.name} {knows}. Ctrl-C ends it, and nothing is lost. "
            f"{doubts(recogniser)}".rstrip()
        )
        _watch(listener, topics, console, ended)
    finally:
        listener.close()


def _watch(listener: "Listener", topics: "Topics", console: Console, ended: "_Ended") -> None:
    """Say what changes, and on a terminal how things are, until the end."""
    was_connected: bool | None = None
    problem, before = "", (0, monotonic())
    with _status(console) as show:
        while not ended.wait(PAUSE):
            if topics.has_ended:
                raise NewfoundError(
                    "the node was ended from outside: by rosnode kill, or because another one has "
                    "its name; a second listener needs a --prefix of its own"
                )
            if (is_connected := topics.is_connected) != was_connected:
                if not is_connected:
                    console.info(NOBODY)
                elif was_connected is not None:
                    console.info("Connected.")
                was_connected = is_connected
            if listener.problem != problem:
                problem = listener.problem
                console.error(f"A message could not be used: {problem}")
            now = listener.frames.came, monotonic()
            show(_words(listener, (now[0] - before[0]) / (now[1] - before[1])))
            before = now


def _words(listener: "Listener", rate: float) -> str:
    answer = listener.answered
    if answer is None:
        return "no frame yet"
    label = answer["label"]
    if not answer["known"]:
        label = "unknown" if label is None else f"unknown ({label}?)"
    return f"{label} {answer['score']:.2f}   {rate:.1f} frames/s   {answer['dropped']} dropped"


@contextmanager
def _status(console: Console) -> Iterator[Any]:
    """Give what shows a line that is written over; where nobody looks, it is not shown."""
    if console.quiet or not is_terminal(sys.stderr):
        yield lambda text: None
        return
    from rich.text import Text

    with console.terminal.status("", refresh_per_second=4) as status:
        yield lambda text: status.update(Text(printable(text)))


class _Ended(threading.Event):
    """The end, and the signal or the error that brought it."""

    number = 0
    error: OSError | None = None


@contextmanager
def _signals() -> Iterator[_Ended]:
    """Take signals for the end; the second Ctrl-C is one as everywhere."""
    ended = _Ended()

    def end(number: int, frame: FrameType | None) -> None:
        ended.number = ended.number or number
        ended.set()
        signal.signal(signal.SIGINT, before[signal.SIGINT])

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _log_to_stderr() -> None:
    """Let what goes wrong be seen where the listener runs."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger("newfound.robot")
    log.addHandler(handler)
    log.propagate = False
