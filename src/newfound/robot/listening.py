"""The listener: frames and commands come from a robot, answers and replies go back to it."""

import logging
import queue
import threading
from base64 import b64encode
from collections.abc import Callable, Mapping
from time import monotonic, perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np

from newfound.common.errors import InputError, NewfoundError
from newfound.recognition.answer_values import answer_values
from newfound.recognition.editor import Editor
from newfound.recognition.evidence import HALF_LIFE
from newfound.recognition.knowledge import Answer
from newfound.recognition.track import Track
from newfound.robot.admission import Admission
from newfound.robot.answers import stamp_of
from newfound.robot.asking import Asking
from newfound.robot.command_runner import TEACH_FOR, CommandRunner, Told, tell_safely
from newfound.robot.commands import CommandError
from newfound.robot.crops import Crop
from newfound.robot.messages import ImageMessage
from newfound.robot.newest import Newest

log = logging.getLogger("newfound.robot")
# Commands that may wait, and what is said of one more.
MOST_WAITING = 64
TOO_MANY = "too many commands wait; send it again"


class Publisher(Protocol):
    """Where answers go: topics of a robot. It is called from several threads, and must not wait."""

    def answer(self, answer: Mapping[str, Any], message: ImageMessage) -> None:
        """Say what an image shows."""

    def reply(self, reply: Mapping[str, Any]) -> None:
        """Say what became of a command."""

    def question(self, question: Mapping[str, Any]) -> None:
        """Ask what something is."""


class IncomingMessage(NamedTuple):
    """A message that came, not read yet."""

    read: Callable[[], ImageMessage]
    time: float  # by the monotonic clock


class Listener:
    """Looks at the newest frame, does what it is told, and says what became of it.

    One thread looks and teaches, another does commands, so that neither waits for the other
    longer than one edit takes. What comes while a frame is looked at replaces what waits.

    Parameters
    ----------
    editor : Editor
        It is changed, but not closed.
    publisher : Publisher
    half_life : float, default=0.5
        Seconds after which a frame counts half; 0: each is answered by itself.
    asking : Asking, optional
        Says of what is unknown when to ask for its name.
    teach_for : float, default=3
        Seconds that a lesson takes that does not say how long.
    crop : Crop, optional
        The part of each frame that is looked at.
    source : str, default="live"
        Where frames come from, in words.
    commands : bool, default=False
        Whether to do what comes as a `command`, from whomever.
    secret : bytes, optional
        Do what comes as a `command` if it was signed with this (`newfound.robot.signing`).
    """

    # frames: the newest that came. looked, unreadable: frames that were answered, and messages that
    # were no images. problem: of the last of these. answered: the newest answer.
    # _commands: those that wait; None: the end.

    def __init__(
        self,
        editor: Editor,
        publisher: Publisher,
        *,
        half_life: float = HALF_LIFE,
        asking: Asking | None = None,
        teach_for: float = TEACH_FOR,
        crop: Crop | None = None,
        source: str = "live",
        commands: bool = False,
        secret: bytes | None = None,
    ) -> None:
        self.editor, self.recogniser, self.publisher = editor, editor.recogniser, publisher
        self.recogniser.use(self.recogniser.extractor)  # also once all that it knows is forgotten
        self.frames = Newest[IncomingMessage]()
        self.looked, self.unreadable, self.problem = 0, 0, ""
        self.answered: Mapping[str, Any] | None = None
        self._track = Track(self.recogniser, half_life)
        self._asking, self._crop, self._source = asking, crop, source
        self._runner = CommandRunner(editor, publisher.reply, teach_for, source, self._counts)
        self._admission = Admission(editor, commands=commands, secret=secret)
        self._commands: queue.Queue[tuple[str, Told | None] | None] = queue.Queue(MOST_WAITING)
        self._threads = [
            threading.Thread(target=work, name=f"newfound-{work.__name__}", daemon=True)
            for work in (self._look_at_frames, self._do_commands)
        ]
        for thread in self._threads:
            thread.start()

    def put(self, read: Callable[[], ImageMessage]) -> None:
        """Take a message, from whatever thread; it is read if none comes before its turn."""
        self.frames.put(IncomingMessage(read, monotonic()))

    def command(self, text: str, told: Told | None = None) -> None:
        """Have a command of a bus done in a while, if that is allowed.

        What became of it is published, and told.
        """
        try:
            self._commands.put_nowait((self._admission.admit(text), told))
        except queue.Full:
            self._refuse(text, TOO_MANY, told)
        except CommandError as error:
            self._refuse(text, str(error), told)

    def do(self, text: str) -> dict[str, Any]:
        """Do a command of this program now; return what became of it, which is published, too."""
        return self._runner.do(text)

    def close(self) -> None:
        """Do the commands that were taken, end the lesson, and stop."""
        self._commands.put(None)
        self._threads[1].join()
        self.frames.close()
        self._threads[0].join()
        self._runner.close()

    def _counts(self) -> dict[str, Any]:
        """Return what the state has of frames."""
        return {
            "frames": self.frames.came,
            "looked": self.looked,
            "dropped": self.frames.dropped,
            "unreadable": self.unreadable,
            "problem": self.problem,
        }

    def _do_commands(self) -> None:
        while (waiting := self._commands.get()) is not None:
            command, told = waiting
            try:
                self._admission.note()
            except NewfoundError as error:  # what is not written down could be replayed
                self._refuse(command, str(error), told)
            else:
                self._runner.do(command, told)

    def _refuse(self, text: str, why: str, told: Told | None) -> None:
        self._runner.reply(text, {"ok": False, "error": why}, told)

    def _warm_up(self) -> None:
        """Look at nothing: the first look takes longest, and no frame shall wait for it."""
        try:
            nothing, extractor = np.zeros((256, 256), dtype=np.uint8), self.recogniser.extractor
            self._track.look(extractor.one(nothing), extractor.identity, 0.0, -1)
        except Exception as error:  # of which every frame will tell
            log.warning("nothing can be looked at: %s", error)

    def _look_at_frames(self) -> None:
        self._warm_up()
        while (arrival := self.frames.take()) is not None:
            try:
                self._see(arrival)
            except InputError as problem:
                self.unreadable, self.problem = self.unreadable + 1, str(problem)
            except Exception:
                log.exception("a frame failed")

    def _see(self, arrival: IncomingMessage) -> None:
        start, extractor = perf_counter(), self.recogniser.extractor
        message = arrival.read()
        image = message.picture(self._crop)
        vector = extractor.one(image)
        position = self.editor.history.position
        answer = self._track.look(vector, extractor.identity, arrival.time, position)
        lesson = self._runner.lesson
        values = {
            "stamp": stamp_of(message.stamp),
            "frame_id": message.frame_id,
            **answer_values(answer),
            "milliseconds": round(1e3 * (perf_counter() - start), 2),
            "age_ms": round(1e3 * (monotonic() - arrival.time), 2),
            "position": position,
            "teaching": None if lesson is None else str(lesson.label),
            "dropped": self.frames.dropped,
        }
        self.answered, self.looked = values, self.looked + 1
        tell_safely(lambda values: self.publisher.answer(values, message), values)
        if lesson is None:
            self._ask(answer, vector, image, arrival.time, values)
        elif arrival.time >= lesson.began:
            digest = message.digest(self._crop)  # which takes long of raw pixels
            self._runner.show(lesson, image, vector, digest)

    def _ask(
        self, answer: Answer | None, vector: Any, image: Any, time: float, values: dict[str, Any]
    ) -> None:
        """Ask what is shown, if nobody has been asked and it is unknown for long enough."""
        if self._asking is None:
            return
        made_by = self.recogniser.extractor.identity
        frames = self._asking.add(answer, vector, image, time, made_by)
        if not frames:
            return
        try:
            number = self.editor.ask(frames, self._source, values["label"])
        except NewfoundError as error:
            self._asking.take_back()
            log.warning("a question could not be written down: %s", error)
            return
        picture = frames[len(frames) // 2].thumbnail or b""
        question = {
            "id": number,
            "question": "I do not know this; what is it?",
            "guess": values["label"],
            "stamp": values["stamp"],
            "frame_id": values["frame_id"],
            "frames": len(frames),
            "thumbnail": b64encode(picture).decode(),  # a JPEG
        }
        tell_safely(self.publisher.question, question)
