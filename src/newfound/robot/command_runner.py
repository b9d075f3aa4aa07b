"""What commands do: edits of the model, and lessons that go on for a while."""

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from newfound.common.errors import NewfoundError
from newfound.features.images import Image
from newfound.recognition.editor import Editor
from newfound.recognition.history import Edit
from newfound.recognition.labels import rename_labels
from newfound.recognition.snapshot_thread import SnapshotThread
from newfound.robot.commands import Command, parse
from newfound.robot.live_lesson import LiveLesson

log = logging.getLogger("newfound.robot")
# Seconds that a lesson takes, unless someone says otherwise.
TEACH_FOR = 3.0
# How many letters of a command are sent back.
LONGEST_ECHO = 200
OURS = "something went wrong here; the log says what"

Told = Callable[[Mapping[str, Any]], None]


class CommandRunner:
    """Does commands, one at a time, and tells what became of each.

    Any thread may ask for any of it.

    Parameters
    ----------
    editor : Editor
    tell : callable
        Is given every reply, and what a lesson taught once it ends.
    teach_for : float, default=3
        Seconds that a lesson takes that does not say how long.
    source : str, default="live"
        Where frames come from, in words.
    more_state : callable, optional
        Returns what the state has beside what the recogniser knows.
    """

    # lesson: what is being taught. _timer: ends it. _lock is held to change these, and to edit.

    def __init__(
        self,
        editor: Editor,
        tell: Told,
        teach_for: float = TEACH_FOR,
        source: str = "live",
        more_state: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self.editor, self.recogniser = editor, editor.recogniser
        self.lesson: LiveLesson | None = None
        self._tell, self._more_state = tell, more_state
        self._teach_for, self._source = teach_for, source
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._snapshots = SnapshotThread(editor.snapshot, log)

    def do(self, text: str, told: Told | None = None) -> dict[str, Any]:
        """Do a command, and return what became of it; whoever is given is told, too."""
        try:
            values = {"ok": True, **self._act(text, parse(text))}
        except Exception as error:
            values = {"ok": False, "error": _words("a command", error)}
        return self.reply(text, values, told)

    def reply(
        self, text: str, values: Mapping[str, Any], told: Told | None = None
    ) -> dict[str, Any]:
        """Tell what became of a command, and return it."""
        echo = text if len(text) <= LONGEST_ECHO else f"{text[:LONGEST_ECHO]}…"
        reply = {"command": echo, **values, "position": self.editor.history.position}
        for tell in (self._tell, told):
            if tell is not None:
                tell_safely(tell, reply)
        return reply

    def show(
        self, lesson: LiveLesson, image: Image.Image, vector: NDArray[Any], digest: bytes
    ) -> None:
        """Teach a frame, if its lesson goes on."""
        with self._lock:
            if self.lesson is not lesson:
                return
            try:
                if lesson.show(image, vector, digest, self.recogniser.extractor.identity):
                    self._snapshots.tell()
            except Exception as error:
                self._end_lesson(_words("a lesson", error))

    def close(self) -> None:
        """End the lesson, and write no more."""
        with self._lock:
            self._end_lesson()
        self._snapshots.close()

    def _act(self, text: str, command: Command) -> dict[str, Any]:
        editor, label, number = self.editor, command.label, command.number

        def rename() -> Edit:
            old, new = rename_labels(self.recogniser.label, label, command.new)
            return editor.rename(old, new, join=command.join)

        acts: dict[str, Callable[[], dict[str, Any]]] = {
            "teach": lambda: self._teach(text, command),
            "stop": self._stop,
            "forget": lambda: self._edit(lambda: editor.forget_class(label)),
            "rename": lambda: self._edit(rename),
            "undo": self._undo,
            "redo": lambda: self._edit(editor.history.redo),
            "save": self._save,
            "name": lambda: self._edit(lambda: editor.name(number, label)),
            "dismiss": lambda: {"what": editor.dismiss(number).what},
            "state": self._state,
        }
        return acts[command.do]()

    def _edit(self, edit: Callable[[], Edit]) -> dict[str, Any]:
        with self._lock:
            self._end_lesson()  # what comes after an edit must not go on with what was before it
            what = edit().what
        self._snapshots.tell()
        return {"what": what}

    def _undo(self) -> dict[str, Any]:
        """Undo the lesson that goes on, or what was done last; one may have taught nothing yet."""
        with self._lock:
            if (lesson := self.lesson) is None or lesson.taught:
                return self._edit(self.editor.history.undo)
            self._end_lesson()
        return {"what": f"undid: teaching {lesson.label}, of which nothing was taught"}

    def _teach(self, text: str, command: Command) -> dict[str, Any]:
        label = self.recogniser.label(command.label)
        self.recogniser.knowledge.check_labels([label])
        seconds = self._teach_for if command.seconds is None else command.seconds
        with self._lock:
            self._end_lesson()
            lesson = self.lesson = LiveLesson(self.editor, label, text, self._source)
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
            if self.lesson is lesson:
                self._end_lesson()

    def _end_lesson(self, error: str | None = None) -> dict[str, Any] | None:
        """End the lesson, if there is one, and tell what was taught."""
        lesson, timer, self.lesson, self._timer = self.lesson, self._timer, None, None
        if timer is not None:
            timer.cancel()
        if lesson is None:
            return None
        report = lesson.report()
        outcome = {"ok": True} if error is None else {"ok": False, "error": error}
        self.reply(lesson.command, {**outcome, **report})
        return report

    def _save(self) -> dict[str, Any]:
        self.recogniser.save()
        return {"what": "saved"}

    def _state(self) -> dict[str, Any]:
        recogniser, history, lesson = self.recogniser, self.editor.history, self.lesson
        return {
            "what": "state",
            "classes": {str(label): int(count) for label, count in recogniser.counts.items()},
            "teaching": None if lesson is None else str(lesson.label),
            "undo": history.undoable,
            "redo": history.redoable,
            "cannot_tell_unknown": recogniser.cannot_tell_unknown,
            "questions": self.editor.journal.inbox.count,
            **self._more_state(),
        }


def _words(what: str, error: Exception) -> str:
    """Return what is said of an error; one that is our own is for the log."""
    if isinstance(error, NewfoundError | OSError):
        return str(error)
    log.error("%s failed", what, exc_info=error)
    return OURS


def tell_safely(tell: Told, values: Mapping[str, Any]) -> None:
    """Tell someone, who may be gone."""
    try:
        tell(values)
    except Exception as error:
        log.warning("what was said did not arrive: %s", error)
