"""What `newfound listen` runs: a model, topics, and between them a listener."""

import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from newfound.cli.console import Console, doubts, emit, exit_code_of, knowledge, log_to_stderr
from newfound.cli.models import EditedModel, locked, open_to_edit
from newfound.cli.sparing import Sparing
from newfound.common.errors import NewfoundError

if TYPE_CHECKING:
    from newfound.recognition.editor import Editor
    from newfound.robot.crops import Crop
    from newfound.robot.listening import Listener
    from newfound.robot.messages import ImageMessage
    from newfound.robot.topics import Topics

# Seconds between two looks at how things are.
PAUSE = 1.0
NOBODY = "Nobody is there; waiting, and trying again."


class ListenOptions(NamedTuple):
    """What a user wants of a listener."""

    model: EditedModel
    topic: str
    open_topics: "Callable[[], Topics]"  # returns once somebody is there to speak to
    absent: str  # what to say meanwhile
    prefix: str
    teach_for: float
    half_life: float
    ask: bool
    crop: "Crop | None"
    commands: bool
    secret: bytes | None
    json: bool
    quiet: bool


class Told:
    """Topics, and beside them stdout and the terminal.

    If nobody reads stdout any more, that is the end.
    """

    def __init__(
        self, topics: "Topics", options: ListenOptions, sparing: Sparing, ended: "_Ended"
    ) -> None:
        self._topics, self._options, self._sparing = topics, options, sparing
        self._ended = ended

    def answer(self, answer: Mapping[str, Any], message: "ImageMessage") -> None:
        """Say what an image shows."""
        self._topics.answer(answer, message)
        if self._options.json:
            try:
                emit(json.dumps(answer))
            except OSError as error:
                self._ended.error = error
                self._ended.set()

    def reply(self, reply: Mapping[str, Any]) -> None:
        """Say what became of a command."""
        self._topics.reply(reply)
        if not reply["ok"]:
            self._sparing.info("failed", f"{reply['command']}: error: {reply['error']}")
        elif reply["what"] != "state":  # which changes nothing, and programs may ask all the time
            self._sparing.console.info(f"{reply['command']}: {reply['what']}")

    def question(self, question: Mapping[str, Any]) -> None:
        """Ask what something is."""
        self._topics.question(question)
        number, guess = question["id"], question["guess"]
        near = "" if guess is None else f" (nearest: {guess})"
        model, options = self._options.model.path, self._options
        how = f"newfound inbox {model} shows it"
        if options.commands or options.secret is not None:
            how += f"; name {number} LABEL tells"
        else:
            how += f"; once this has ended, newfound inbox {model} {number} --as LABEL tells"
        text = f"I do not know this{near}; what is it? Question {number}: {how}."
        self._sparing.info("question", text)


def run(options: ListenOptions) -> None:
    """Listen until a signal comes, and exit."""
    console, model = Console(options.quiet), options.model
    sparing = Sparing(console)
    with locked(model.path, model.wait, console), _signals() as ended:
        log_to_stderr("newfound.robot").addFilter(sparing.is_logged)
        with open_to_edit(model) as editor:
            editor.recogniser.extractor  # noqa: B018 - is loaded now, and whatever is wrong is said
            topics = _topics(options, console, ended)
            if topics is not None:
                with closing(topics):
                    _listen(editor, topics, options, sparing, ended)
    if ended.error is not None:
        raise ended.error
    raise typer.Exit(exit_code_of(ended.number))


def _topics(options: ListenOptions, console: Console, ended: "_Ended") -> "Topics | None":
    """Return topics, once they can be had; None: the end came before."""
    topics: Future[Topics] = Future()

    def work() -> None:
        try:
            topics.set_result(options.open_topics())
        except Exception as error:
            topics.set_exception(error)

    threading.Thread(target=work, name="newfound-open", daemon=True).start()
    is_told = False
    while not ended.is_set():
        with suppress(TimeoutError):
            return topics.result(PAUSE)
        if not is_told:
            console.info(options.absent)
            is_told = True
    return None


def _listen(
    editor: "Editor",
    topics: "Topics",
    options: ListenOptions,
    sparing: Sparing,
    ended: "_Ended",
) -> None:
    from newfound.robot.asking import Asking
    from newfound.robot.listening import Listener

    listener = Listener(
        editor,
        Told(topics, options, sparing, ended),
        half_life=options.half_life,
        asking=Asking.of(editor, source=options.topic) if options.ask else None,
        teach_for=options.teach_for,
        crop=options.crop,
        source=options.topic,
        commands=options.commands,
        secret=options.secret,
    )
    with closing(listener):
        topics.listen(listener, options.topic)
        sparing.console.info(
            f"Listening to {options.topic}{_commands(options)}. "
            f"{options.model.path.name} {knowledge(editor.recogniser)}. Ctrl-C ends it, and "
            f"nothing is lost. {doubts(editor.recogniser)}".rstrip()
        )
        _watch(listener, topics, sparing, ended)


def _commands(options: ListenOptions) -> str:
    """Return who may command, in words."""
    if options.secret is None and not options.commands:
        return "; commands are refused, unless --commands or --secret-file is given"
    kind = "commands" if options.secret is None else "signed commands"
    return f", and to {kind} on {options.prefix}/command"


def _watch(listener: "Listener", topics: "Topics", sparing: Sparing, ended: "_Ended") -> None:
    """Say what changes, and on a terminal how things are, until the end."""
    was_connected: bool | None = None
    problem, before = "", (0, monotonic())
    with sparing.console.status() as show:
        while not ended.wait(PAUSE):
            if topics.has_ended:
                raise NewfoundError(
                    "the node was ended from outside: by rosnode kill, or because another one has "
                    "its name; a second listener needs a --prefix of its own"
                )
            if (is_connected := topics.is_connected) != was_connected:
                if not is_connected:
                    sparing.info("nobody", NOBODY)
                elif was_connected is not None:
                    sparing.info("connected", "Connected.")
                was_connected = is_connected
            if listener.problem != problem:
                problem = listener.problem
                sparing.error("unreadable", f"A message could not be used: {problem}")
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
