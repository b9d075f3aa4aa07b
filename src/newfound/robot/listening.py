"""The listener: frames and commands come from a robot, answers and replies go back to it."""

import logging
import queue
import threading
from base64 import b64encode
from collections.abc import Callable, Mapping
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from newfound.common.errors import InputError
from newfound.common.files import digest_of
from newfound.recognition.evidence import HALF_LIFE, Evidence
from newfound.recognition.inbox import MOST_QUESTIONS
from newfound.recognition.labels import check_label
from newfound.recognition.recogniser import NO_LABELS
from newfound.robot.answers import answer_of, stamp_of
from newfound.robot.commands import Command, parse
from newfound.robot.keeper import Keeper
from newfound.robot.live_lesson import LiveLesson
from newfound.robot.newest import Newest
from newfound.sums.labels import as_labels, check_same_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from newfound.recognition.journalled import Edit, JournalledRecogniser
    from newfound.recognition.recogniser import Answer
    from newfound.robot.asking import Asking
    from newfound.robot.crops import Crop
    from newfound.robot.messages import ImageMessage

log = logging.getLogger("newfound.robot")
# Seconds that a lesson takes, unless someone says otherwise.
TEACH_FOR = 3.0
# Commands that may wait. Of one that is none, so many letters are sent back.
MOST_WAITING, LONGEST_ECHO = 64, 200
OURS = "something went wrong here; the log says what"

Told = Callable[[dict[str, Any]], None]


class Publisher(Protocol):
    """Where answers go: topics of a robot. It is called from several threads, and must not wait."""

    def answer(self, answer: Mapping[str, Any], message: "ImageMessage") -> None:
        """Say what an image shows."""

    def reply(self, reply: Mapping[str, Any]) -> None:
        """Say what became of a command."""

    def question(self, question: Mapping[str, Any]) -> None:
        """Ask what something is."""


class Arrival(NamedTuple):
    """A message that came, not read yet."""

    read: "Callable[[], ImageMessage]"
    time: float  # by the monotonic clock


class Listener:
    """Looks at the newest frame, does what it is told, and says what became of it.

    One thread looks and teaches, another does commands, so that neither waits for the other
    longer than one edit takes. What comes while a frame is looked at replaces what waits.

    Parameters
    ----------
    recogniser : JournalledRecogniser
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
    """

    # frames: the newest that came. looked, unreadable: frames that were answered, and messages that
    # were no images. problem: of the last of these. answered: the newest answer.
    # _lesson: what is being taught; _lock is held to change it, and to edit.
    # _evidence: of the frames that the model of _position answered.

    def __init__(
        self,
        recogniser: "JournalledRecogniser",
        publisher: Publisher,
        *,
        half_life: float = HALF_LIFE,
        asking: "Asking | None" = None,
        teach_for: float = TEACH_FOR,
        crop: "Crop | None" = None,
        source: str = "live",
    ) -> None:
        self.recogniser, self.publisher = recogniser, publisher
        self.frames = Newest[Arrival]()
        self.looked, self.unreadable, self.problem = 0, 0, ""
        self.answered: Mapping[str, Any] | None = None
        self._evidence, self._position = Evidence(half_life), -1
        self._asking, self._teach_for = asking, teach_for
        self._crop, self._source = crop, source
        self._lock = threading.RLock()
        self._lesson: LiveLesson | None = None
        self._timer: threading.Timer | None = None
        self._commands: queue.Queue[tuple[str, Told | None] | None] = queue.Queue(MOST_WAITING)
        self._keeper = Keeper(recogniser.snapshot)
        self._threads = [
            threading.Thread(target=work, name=f"newfound-{work.__name__}", daemon=True)
            for work in (self._look_at_frames, self._do_commands)
        ]
        for thread in self._threads:
            thread.start()

    def put(self, read: "Callable[[], ImageMessage]") -> None:
        """Take a message, from whatever thread; it is read if none comes before its turn."""
        self.frames.put(Arrival(read, monotonic()))

    def command(self, text: str, told: Told | None = None) -> None:
        """Have a command done in a while; what became of it is published, and told."""
        try:
            self._commands.put_nowait((text, told))
        except queue.Full:
            self._reply(text, {"ok": False, "error": "too many commands wait; send it again"}, told)

    def do(self, text: str, told: Told | None = None) -> dict[str, Any]:
        """Do a command now, and return what became of it; that is published, too."""
        try:
            return self._reply(text, {"ok": True, **self._act(text, parse(text))}, told)
        except InputError as error:
            return self._reply(text, {"ok": False, "error": str(error)}, told)
        except Exception:
            log.exception("a command failed")
            return self._reply(text, {"ok": False, "error": OURS}, told)

    def close(self) -> None:
        """Do the commands that were taken, end the lesson, and stop."""
        self._commands.put(None)
        self._threads[1].join()
        self.frames.close()
        self._threads[0].join()
        with self._lock:
            self._end_lesson()
        self._keeper.close()

    def _reply(self, text: str, values: dict[str, Any], told: Told | None = None) -> dict[str, Any]:
        said = text if len(text) <= LONGEST_ECHO else f"{text[:LONGEST_ECHO]}…"
        reply = {"command": said, **values, "position": self.recogniser.position}
        for tell in (self.publisher.reply, told):
            if tell is not None:
                _try(tell, reply)
        return reply

    # Commands.

    def _do_commands(self) -> None:
        while (taken := self._commands.get()) is not None:
            self.do(*taken)

    def _act(self, text: str, command: Command) -> dict[str, Any]:
        recogniser, label = self.recogniser, command.label
        edits: dict[str, Callable[[], Edit]] = {
            "forget": lambda: recogniser.delete_class(label),
            "rename": lambda: recogniser.rename_class(
                label, recogniser.label(command.new), join=command.join
            ),
            "undo": recogniser.undo,
            "redo": recogniser.redo,
            "name": lambda: recogniser.name(command.number, label),
        }
        if command.do in edits:
            return self._edit(edits[command.do])
        others: dict[str, Callable[[], dict[str, Any]]] = {
            "teach": lambda: self._teach(text, command),
            "stop": self._stop,
            "dismiss": lambda: self._dismiss(command.number),
            "save": self._save,
            "state": self._state,
        }
        return others[command.do]()

    def _edit(self, edit: "Callable[[], Edit]") -> dict[str, Any]:
        with self._lock:
            self._end_lesson()  # what comes after an edit must not go on with what was before it
            what = edit().what
        self._keeper.tell()
        return {"what": what}

    def _teach(self, text: str, command: Command) -> dict[str, Any]:
        label, classes = self.recogniser.label(command.label), self.recogniser.classes
        check_label(label)
        check_same_type(as_labels(classes) if classes else NO_LABELS, as_labels([label]))
        seconds = self._teach_for if command.seconds is None else command.seconds
        with self._lock:
            self._end_lesson()
            lesson = self._lesson = LiveLesson(self.recogniser, label, text, self._source)
            if seconds:
                self._timer = threading.Timer(seconds, self._end_of, (lesson,))
                self._timer.daemon = True
                self._timer.start()
        return {"what": f"teaching {label} {f'for {seconds:g} s' if seconds else 'until stop'}"}

    def _stop(self) -> dict[str, Any]:
        with self._lock:
            return self._end_lesson() or {"what": "nothing was being taught"}

    def _end_of(self, lesson: LiveLesson) -> None:
        """End a lesson whose time is up."""
        with self._lock:
            if self._lesson is lesson:
                self._end_lesson()

    def _end_lesson(self, error: str | None = None) -> dict[str, Any] | None:
        """End the lesson, if there is one, and tell what was taught."""
        lesson, timer, self._lesson, self._timer = self._lesson, self._timer, None, None
        if timer is not None:
            timer.cancel()
        if lesson is None:
            return None
        report = lesson.report()
        said = {"ok": True} if error is None else {"ok": False, "error": error}
        self._reply(lesson.command, {**said, **report})
        return report

    def _dismiss(self, number: int) -> dict[str, Any]:
        self.recogniser.dismiss(number)
        return {"what": f"dismissed question {number}"}

    def _save(self) -> dict[str, Any]:
        self.recogniser.save()
        return {"what": "saved"}

    def _state(self) -> dict[str, Any]:
        recogniser, lesson = self.recogniser, self._lesson
        return {
            "what": "state",
            "classes": {str(label): int(count) for label, count in recogniser.counts.items()},
            "teaching": None if lesson is None else str(lesson.label),
            "undo": recogniser.undoable,
            "redo": recogniser.redoable,
            "cannot_tell_unknown": recogniser.cannot_tell_unknown,
            "questions": len(recogniser.questions(limit=MOST_QUESTIONS)),
            "frames": self.frames.came,
            "looked": self.looked,
            "dropped": self.frames.dropped,
            "unreadable": self.unreadable,
            "problem": self.problem,
        }

    # Frames.

    def _look_at_frames(self) -> None:
        while (arrival := self.frames.take()) is not None:
            try:
                self._see(arrival)
            except InputError as problem:
                self.unreadable, self.problem = self.unreadable + 1, str(problem)
            except Exception:
                log.exception("a frame failed")

    def _see(self, arrival: Arrival) -> None:
        start, extractor = perf_counter(), self.recogniser.extractor
        message = arrival.read()
        image, digest = message.picture(), message.digest
        if self._crop is not None:
            image, digest = self._crop.of(image), digest_of(digest + str(self._crop).encode())
        vector = extractor.one(image)
        position = self.recogniser.position
        answer = self._look(vector, arrival.time, position)
        lesson = self._lesson
        said = {
            "stamp": stamp_of(message.stamp),
            "frame_id": message.frame_id,
            **answer_of(answer),
            "milliseconds": round(1e3 * (perf_counter() - start), 2),
            "age_ms": round(1e3 * (monotonic() - arrival.time), 2),
            "position": position,
            "teaching": None if lesson is None else str(lesson.label),
            "dropped": self.frames.dropped,
        }
        self.answered, self.looked = said, self.looked + 1
        _try(lambda said: self.publisher.answer(said, message), said)
        if lesson is None:
            self._ask(answer, vector, image, arrival.time, said)
        elif arrival.time >= lesson.began:
            self._show(lesson, image, vector, digest)

    def _look(self, vector: "NDArray[Any]", time: float, position: int) -> "Answer | None":
        """Say what a frame shows, and those before it as far as they count."""
        recogniser = self.recogniser
        if position != self._position:  # what was just taught must be seen at once
            self._evidence.reset()
            self._position = position
        try:
            if not recogniser.is_taught:
                return None
            made_by, top = recogniser.extractor.identity, max(1, len(recogniser.counts))
            answer = recogniser.look_at_vectors(vector[None], top, None, made_by)[0]
        except ValueError:
            if recogniser.is_taught:  # otherwise somebody has just taken the last example back
                raise
            return None
        return self._evidence.add(answer, time, recogniser.unknown_above, vector)

    def _ask(
        self, answer: "Answer | None", vector: Any, image: Any, time: float, said: dict[str, Any]
    ) -> None:
        """Ask what is shown, if nobody has been asked and it is unknown for long enough."""
        if self._asking is None:
            return
        made_by = self.recogniser.extractor.identity
        frames = self._asking.add(answer, vector, image, time, made_by)
        if not frames:
            return
        number = self.recogniser.ask(frames, self._source, said["label"])
        picture = frames[len(frames) // 2].thumbnail or b""
        question = {
            "id": number,
            "question": "I do not know this; what is it?",
            "guess": said["label"],
            "stamp": said["stamp"],
            "frame_id": said["frame_id"],
            "frames": len(frames),
            "thumbnail": b64encode(picture).decode(),  # a JPEG
        }
        _try(self.publisher.question, question)

    def _show(self, lesson: LiveLesson, image: Any, vector: Any, digest: bytes) -> None:
        """Teach a frame, if its lesson goes on."""
        with self._lock:
            if self._lesson is not lesson:
                return
            try:
                if lesson.show(image, vector, digest, self.recogniser.extractor.identity):
                    self._keeper.tell()
            except Exception as error:
                if not isinstance(error, InputError):
                    log.exception("a lesson failed")
                self._end_lesson(str(error) if isinstance(error, InputError) else OURS)


def _try(tell: Told, values: dict[str, Any]) -> None:
    """Tell someone, who may be gone."""
    try:
        tell(values)
    except Exception as error:
        log.warning("what was said did not arrive: %s", error)
