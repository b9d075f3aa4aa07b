"""The service itself: one recogniser, its threads, and everyone who is told what changes."""

import asyncio
import json
import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from newfound.common.files import digest_of
from newfound.common.threads import cores
from newfound.recognition.snapshot_thread import SnapshotThread
from newfound.recognition.sources import NewExample
from newfound.recognition.thumbnails import thumbnail_of
from newfound.recognition.track import Track, look_if_taught
from newfound.studio import views
from newfound.studio.background import Board
from newfound.studio.errors import Refusal
from newfound.studio.limits import ServiceLimits
from newfound.studio.metrics import Metrics
from newfound.studio.workers import Lane, StoppingError, Workers

if TYPE_CHECKING:
    from newfound.features.identity import Identity
    from newfound.recognition.editor import Editor
    from newfound.recognition.history import Edit
    from newfound.studio.imports import ExampleImport

log = logging.getLogger("newfound.studio")
Result = TypeVar("Result")
# Seconds that clients have to hear what became of their lessons when the service stops.
FAREWELL = 2.0


class LessonRequest(NamedTuple):
    """An image, and what it shows."""

    image: bytes
    label: str
    source: str
    key: str | None = None
    action: str | None = None


class Service:
    """Looks, teaches and edits for many clients at once.

    Parameters
    ----------
    editor : Editor
        The service changes it, but does not close it.
    limits : ServiceLimits
    snapshot_idle, snapshot_every : float
        Seconds without a change after which the model's file is written, and between two times if
        changes never end.

    Attributes
    ----------
    is_stopping : bool
        Whether no more lessons are taken.
    """

    # identity: of the extractor, once it is loaded. waiting: images by HTTP that wait for a core.
    # uploads: models and zips that come, or are here.
    # importing: the import of a zip under way.
    # exchange: held by who makes or reads a file for others; it takes a disk, and much of a core.

    def __init__(
        self,
        editor: "Editor",
        limits: ServiceLimits | None = None,
        snapshot_idle: float = 5.0,
        snapshot_every: float = 60.0,
    ) -> None:
        self.editor, self.recogniser = editor, editor.recogniser
        self.limits = limits or ServiceLimits()
        self.metrics = Metrics()
        self.identity: Identity | None = None
        self.importing: ExampleImport | None = None
        self.waiting = self.uploads = 0
        self.is_stopping = False
        self._pauses = snapshot_idle, snapshot_every

    async def start(self) -> None:
        """Start threads and a task, and load the network meanwhile."""
        self.workers = Workers(cores())
        self.exchange = asyncio.Lock()
        self.board = Board(lambda: json.dumps({"type": "state", **self.state_now()}))
        self._telling = asyncio.create_task(self.board.run())
        self._snapshots = SnapshotThread(self.editor.snapshot, log, *self._pauses)
        self.workers.submit(Lane(), self._warm_up)

    async def stop(self) -> None:
        """Finish every lesson that was taken, and end threads and the task."""
        self.is_stopping = True
        await asyncio.to_thread(self.workers.close)
        await asyncio.to_thread(self._snapshots.close)
        self._telling.cancel()
        await asyncio.gather(self._telling, return_exceptions=True)

    async def drain(self) -> None:
        """Take no more work, and wait until what was taken is done and told."""
        self.is_stopping = True
        await asyncio.to_thread(self.workers.stop)
        await self.board.flush(FAREWELL)

    def _warm_up(self) -> None:
        try:
            extractor = self.recogniser.extractor
            self.identity = extractor.identity
        except Exception as error:  # who looks is told, too
            log.warning("the network cannot be loaded: %s", error)
            return
        self.board.tell()

    # What threads do.

    def look_now(self, image: bytes, arrived: float, track: Track | None = None) -> dict[str, Any]:
        """Say what an image shows, or the track that it is the newest frame of.

        `arrived` is by the monotonic clock.
        """
        start, extractor = perf_counter(), self.recogniser.extractor
        row, position = extractor.one(image), self.editor.history.position
        if track is None:
            answer = look_if_taught(self.recogniser, row, extractor.identity)
        else:
            answer = track.look(row, extractor.identity, arrived, position)
        values = views.answer_of(answer, perf_counter() - start, position)
        self.metrics.look(monotonic() - arrived)
        return values

    def lesson_now(
        self, lesson: LessonRequest, arrived: float
    ) -> Callable[[], tuple[dict[str, Any], dict[str, Any]]]:
        """Look at an image; return what teaches it, and returns the edit and the answer before."""
        start, extractor = perf_counter(), self.recogniser.extractor
        row, position = extractor.one(lesson.image), self.editor.history.position
        answer = look_if_taught(self.recogniser, row, extractor.identity)
        before = views.answer_of(answer, perf_counter() - start, position)
        known_by = digest_of(lesson.image), extractor.identity
        example = NewExample(row, *known_by, lesson.source, thumbnail_of(lesson.image))

        def teach() -> tuple[dict[str, Any], dict[str, Any]]:
            request = {"key": lesson.key, "action": lesson.action}
            edit = self.editor.teach_new(example, lesson.label, **request)
            if edit.examples and not edit.repeated:
                self.metrics.lesson(monotonic() - arrived)
            self.tell_change()
            return views.done_of(edit, perf_counter() - start), before

        return teach

    def tell_change(self) -> None:
        """Let everybody see the new state, and the model's file be written in a while."""
        self.board.tell()
        self._snapshots.tell()

    def state_now(self) -> dict[str, Any]:
        """Return the state of this moment."""
        importing = self.importing
        return {
            **views.state_of(self.editor, self.recogniser.identity or self.identity),
            "importing": None if importing is None else importing.progress,
        }

    # What HTTP asks for.

    async def look(self, image: bytes) -> dict[str, Any]:
        """Say what an image shows, once a thread is free."""
        answer: dict[str, Any] = await self._in_turn(partial(self.look_now, image, monotonic()))
        return answer

    async def teach(self, lesson: LessonRequest) -> dict[str, Any]:
        """Teach an image, once a thread is free."""
        done, _ = await self._in_turn(partial(self.lesson_now, lesson, monotonic()))
        return {**done, "state": await self.ask(self.state_now)}

    async def edit(
        self, edit: "Callable[..., Edit]", *values: Any, **options: Any
    ) -> dict[str, Any]:
        """Do an edit in a thread, and return what was done with the state after it."""

        def work() -> dict[str, Any]:
            start = perf_counter()
            done = views.done_of(edit(*values, **options), perf_counter() - start)
            self.tell_change()
            return {**done, "state": self.state_now()}

        return await self.ask(work)

    async def ask(self, question: Callable[[], Result]) -> Result:
        """Do something in a thread that may wait for others, and for files."""
        if self.is_stopping:
            raise StoppingError
        return await asyncio.to_thread(question)

    async def _in_turn(self, work: Callable[[], Any]) -> Any:
        """Have work done in its turn, or refuse it if too much waits."""
        if self.waiting >= self.limits.waiting:
            raise Refusal(503, "too many images are waiting; try again in a second", 1)
        self.waiting += 1
        try:
            return await self.in_lane(Lane(), work)
        finally:
            self.waiting -= 1

    def in_lane(self, lane: Lane, work: Callable[[], Any]) -> "asyncio.Future[Any]":
        """Have work done in a lane; if it returns a function, the result is what that returns."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()  # it is done, even if nobody waits any more

        def run(work: Callable[[], Any]) -> Callable[[], object] | None:
            try:
                result = work()
            except Exception as error:
                future.set_exception(error)
                return None
            if callable(result):
                return partial(run, result)
            future.set_result(result)
            return None

        self.workers.submit(lane, lambda: run(work))
        return asyncio.wrap_future(future)
