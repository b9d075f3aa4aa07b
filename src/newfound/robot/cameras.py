"""Cameras, here and at RTSP addresses: frames as they are taken, of which the newest counts."""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import Any, Self

from newfound.common.errors import InputError, UnreadableImageError
from newfound.recognition.sources import Problem
from newfound.robot.crops import Crop
from newfound.robot.footage import shown
from newfound.robot.frames import Frame, clock
from newfound.robot.newest import Newest
from newfound.robot.video import LIMITS, InputContainer, av, frame_of, video_stream

_CAMERA = re.compile(r"(?:camera:|/dev/video)(\d{1,3})", re.IGNORECASE)
# What RTSP itself speaks, and no more: what a server answers cannot make it open a file.
PROTOCOLS = "rtsp,rtp,udp,tcp,tls"
# Seconds after which a server that says nothing is given up, and those before it is asked again.
PATIENCE, FIRST_PAUSE, LONGEST_PAUSE = 10.0, 0.5, 30.0
# Which of FFmpeg's devices cameras are, and what the first is called.
_DEVICES = {"linux": ("v4l2", "/dev/video{}"), "darwin": ("avfoundation", "{}")}


class Camera:
    """The frames of a camera or an RTSP address, as they are taken.

    A thread reads them all. Whoever asks for one gets the newest, and those before it are dropped.
    If an address does not answer any more, it is tried again, less and less often.

    Parameters
    ----------
    address : str
        As rtsp://host/path, camera:0 or /dev/video0.
    crop : Crop, optional
        Which part of each frame to take.

    Raises
    ------
    UnreadableImageError
        If it sends no video, on entering.
    ModuleNotFoundError
        If the extra `video` is not installed.
    """

    # newest: a decoded frame and when it came.

    is_live, start = True, 0.0
    total: int | None = None

    def __init__(self, address: str, crop: Crop | None = None) -> None:
        self.address, self.crop = address, crop
        self.name = shown(address)
        self.newest: Newest[tuple[av.VideoFrame, float]] = Newest()
        self._left = threading.Event()
        self._reader = threading.Thread(target=self._read, name="newfound-camera", daemon=True)

    def __enter__(self) -> Self:
        self._container = self._opened()
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._reader.join(1.0)  # one that waits for a silent server ends when its patience does

    def frames(self) -> Iterator[Frame | Problem]:
        """Yield the newest frame whenever one is asked for, until the camera is gone."""
        begin = None
        while not self._left.is_set():
            is_last = not self._reader.is_alive()
            if (arrival := self.newest.take(1.0)) is None:
                if is_last:
                    yield Problem(self.name, "the camera is gone")
                    return
                continue
            decoded, came = arrival
            begin = came if begin is None else begin
            time = came - begin
            name = f"{self.name} at {clock(time)}"
            try:
                yield frame_of(decoded, time, name, self.crop)
            except InputError as error:  # it has no such part, and never will
                yield Problem(name, str(error))
                return

    def _read(self) -> None:
        """Read frames for as long as anyone may want them."""
        pause, container = FIRST_PAUSE, self._container
        while not self._left.is_set():
            with suppress(av.FFmpegError), container:  # it is gone, whatever was said
                for decoded in self._decoded(container):
                    pause = FIRST_PAUSE
                    self.newest.put((decoded, monotonic()))
            if _CAMERA.fullmatch(self.address):
                return
            container, pause = self._opened_again(pause)

    def _decoded(self, container: InputContainer) -> Iterator[av.VideoFrame]:
        """Yield frames as they come; those that are damaged, as the first ones may be, do not."""
        stream = video_stream(container)
        stream.thread_type = "SLICE"  # threads that take whole frames hold some of them back
        for packet in container.demux(stream):
            if self._left.is_set():
                return
            with suppress(av.FFmpegError):
                yield from packet.decode()

    def _opened_again(self, pause: float) -> tuple[Any, float]:
        """Return an address that answers again, and how long to wait should it fail at once."""
        while not self._left.wait(pause):
            pause = min(2 * pause, LONGEST_PAUSE)
            try:
                return self._opened(), pause
            except UnreadableImageError:
                continue
        return None, pause

    def _opened(self) -> InputContainer:
        """Return what FFmpeg reads it by, or raise UnreadableImageError."""
        address, device = self.address, "rtsp"
        options = LIMITS | {"protocol_whitelist": PROTOCOLS, "rtsp_transport": "tcp"}
        if match := _CAMERA.fullmatch(address):
            if sys.platform not in _DEVICES:
                raise UnreadableImageError(f"cameras of {sys.platform} are not read, RTSP is")
            device, called = _DEVICES[sys.platform]
            address, options = called.format(int(match[1])), LIMITS
        try:
            container = av.open(address, format=device, options=options, timeout=PATIENCE)
        except (av.FFmpegError, OSError) as error:
            raise UnreadableImageError(f"no camera answers there ({error.strerror})") from error
        try:
            video_stream(container)
        except UnreadableImageError:
            container.close()
            raise
        return container
