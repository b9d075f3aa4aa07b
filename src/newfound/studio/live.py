"""A WebSocket: frames come, answers go, lessons are taught, and the state is told."""

import asyncio
import base64
import json
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any

from fastapi import WebSocket
from pydantic import ValidationError
from starlette.websockets import WebSocketDisconnect

from newfound.recognition.track import Track
from newfound.studio.complaints import words_of
from newfound.studio.errors import Refusal, reply_to
from newfound.studio.limits import MB, Bucket
from newfound.studio.messages import Teach
from newfound.studio.service import LessonRequest, Service
from newfound.studio.workers import Lane, StoppingError

# Longer texts are read in a thread: nobody else waits for them.
LONG_TEXT = 256 * 1024
# Answers that a client has not read, beside the newest state and the newest answer to a frame.
MOST_UNREAD = 64
TOO_MUCH = 1008


class Live:
    """One connection.

    Frames and lessons stand in two lanes, so that a hold of the button does not stop the answers.
    A frame that waits is replaced by the next. A client that does not read gets the newest state
    and answer once it does; nothing piles up for it.

    Parameters
    ----------
    socket : WebSocket
    service : Service
    smooth : float, default=0.0
        If not 0, answers are of all frames so far, each of which counts half after these seconds.
    """

    # frames, dropped: binary messages that came, and those never looked at, since the beginning.
    # _newest: the answer and the state that are to be sent. _unread: everything else, in order.

    def __init__(self, socket: WebSocket, service: Service, smooth: float = 0.0) -> None:
        self.socket, self.service = socket, service
        self._track = Track(service.recogniser, smooth) if smooth else None
        self.frames = self.dropped = self.lessons = 0
        self._looks, self._teaching = Lane(), Lane()
        self._loop = asyncio.get_running_loop()
        self._newest: dict[str, str] = {}
        self._unread: deque[str] = deque()
        self._wake, self._sending = asyncio.Event(), False
        limits = service.limits
        self._bucket = Bucket(limits.message_rate, limits.message_burst)

    async def run(self) -> None:
        """Serve the connection until it ends."""
        await self.socket.accept()
        board = self.service.board
        board.subscribers.add(self)
        writer = asyncio.create_task(self._write())
        code = None
        try:
            board.tell()
            code = await self._read()
        except (WebSocketDisconnect, RuntimeError):  # it is gone, or was closed by the server
            pass
        finally:
            board.subscribers.discard(self)
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        if code is not None:
            await self.socket.close(code, "too many messages at once")

    async def _read(self) -> int | None:
        """Take messages until the client goes, or return with which code to close."""
        while True:
            message = await self.socket.receive()
            if message["type"] == "websocket.disconnect":
                return None
            if not self._bucket.take() or len(self._unread) > MOST_UNREAD:
                return TOO_MUCH
            if (frame := message.get("bytes")) is not None:
                self._take_frame(frame)
            else:
                await self._take_text(message["text"])

    # Frames.

    def _take_frame(self, image: bytes) -> None:
        self.frames += 1
        number, arrived = self.frames, monotonic()
        if len(image) > self.service.limits.message:
            self._put(_error(self._too_large("/api/look"), frame=number))
            return
        try:
            dropped = self.service.workers.submit_newest(
                self._looks, lambda: self._look(image, number, arrived)
            )
        except StoppingError:
            return
        self.dropped += dropped
        self.service.metrics.dropped(dropped)

    def _look(self, image: bytes, number: int, arrived: float) -> None:
        """Look at a frame, in a thread."""
        try:
            answer = self.service.look_now(image, arrived, self._track)
            values = {"type": "answer", "frame": number, "dropped": self.dropped, **answer}
        except Exception as error:
            values = _error(reply_to(error), frame=number)
        self._from_thread(self._put_newest, "answer", json.dumps(values))

    # Texts.

    async def _take_text(self, text: str) -> None:
        try:
            values = await _off_the_loop(json.loads, text)
        except (ValueError, RecursionError):
            self._put(_error(Refusal(400, "this message is not JSON")))
            return
        kind = values.get("type") if isinstance(values, dict) else None
        if kind == "ping":
            self._put({"type": "pong"})
        elif kind == "teach":
            name = values["id"][:64] if isinstance(values.get("id"), str) else None
            try:
                await self._take_lesson(values, name)
            except (Refusal, StoppingError) as error:
                self._put(_error(reply_to(error), name))
        else:
            self._put(_error(Refusal(400, "a message is of the type teach or ping")))

    async def _take_lesson(self, values: dict[str, Any], name: str | None) -> None:
        """Let a lesson wait for its turn, or raise Refusal or StoppingError."""
        limits = self.service.limits
        try:
            asked = Teach.model_validate(values)
        except ValidationError as error:
            raise Refusal(422, words_of(error.errors(include_url=False))) from error
        if len(asked.image) > limits.message:
            raise self._too_large("/api/lessons")
        try:
            image = await _off_the_loop(base64.b64decode, asked.image, validate=True)
        except ValueError as error:
            raise Refusal(422, "the image is not base64") from error
        if self.lessons >= limits.lessons:
            raise Refusal(503, f"{limits.lessons} lessons are waiting already; send it again", 1)
        lesson = LessonRequest(image, asked.label, "camera", asked.key, asked.action)
        self.service.workers.submit(self._teaching, lambda: self._teach(lesson, name))
        self.lessons += 1

    def _teach(self, lesson: LessonRequest, name: str | None) -> Any:
        """Look at the image of a lesson, in a thread, and return what teaches it."""
        arrived = monotonic()
        try:
            teach = self.service.lesson_now(lesson, arrived)
        except Exception as error:
            self._from_thread(self._end_lesson, _error(reply_to(error), name))
            return None

        def write() -> None:
            try:
                done, answer = teach()
                values = {"type": "done", "id": name, **done, "answer": answer}
            except Exception as error:
                values = _error(reply_to(error), name)
            self._from_thread(self._end_lesson, values)

        return write

    def _end_lesson(self, values: dict[str, Any]) -> None:
        self.lessons -= 1
        self._put(values)

    # What goes out.

    def _from_thread(self, function: Any, *values: Any) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *values)

    def _too_large(self, address: str) -> Refusal:
        most = self.service.limits.message
        size = f"{most // MB} MB" if most >= MB else f"{most} bytes"
        return Refusal(413, f"a message has at most {size}; send larger images to {address}")

    def _put(self, values: dict[str, Any]) -> None:
        self._unread.append(json.dumps(values))
        self._wake.set()

    def tell_state(self, text: str) -> None:
        """Send the state, in place of one that was not sent yet."""
        self._put_newest("state", text)

    def _put_newest(self, kind: str, text: str) -> None:
        self._newest[kind] = text
        self._wake.set()

    @property
    def is_flushed(self) -> bool:
        """Whether all that was to be sent is sent."""
        return not (self._unread or self._sending)

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while (text := self._next()) is not None:
                self._sending = True
                await self.socket.send_text(text)
                self._sending = False

    def _next(self) -> str | None:
        if self._unread:
            return self._unread.popleft()
        return self._newest.pop("answer", None) or self._newest.pop("state", None)


async def _off_the_loop(function: Callable[..., Any], text: str, **options: Any) -> Any:
    """Return what a function makes of a text; of a long one, while others are served."""
    if len(text) > LONG_TEXT:
        return await asyncio.to_thread(function, text, **options)
    return function(text, **options)


def _error(refusal: Refusal, name: str | None = None, frame: int | None = None) -> dict[str, Any]:
    values = {"type": "error", "id": name, "frame": frame, "error": refusal.sentence}
    return {**values, "retry": refusal.retry_after is not None}
