"""Videos in files, frame by frame: of what FFmpeg reads, the formats that cameras write."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from newfound.common.errors import InputError, UnreadableImageError
from newfound.common.extras import imported_from
from newfound.common.files import open_regular
from newfound.features.images import LARGEST_PIXELS, Image, as_rgb, check_size
from newfound.recognition.sources import Problem, digest_of_pixels
from newfound.robot.crops import Crop
from newfound.robot.frames import Frame, clock
from newfound.robot.labels import Spans, read_spans

# From here elsewhere, too, so that whoever lacks it is told once how to get it.
with imported_from("video"):
    import av as av
    from av.container import InputContainer as InputContainer
    from av.video.stream import VideoStream

# FFmpeg gets a file that is open already, and opens no other: a playlist or a script that is called
# clip.mp4 is none of these formats, and what an honest one names inside has no protocol to be
# opened by.
FORMATS = "mov,matroska,avi,mpegts,mpeg,mpegvideo,m4v,h264,hevc,mjpeg,yuv4mpegpipe,ogg,asf,flv"
SAFE = {"format_whitelist": FORMATS, "protocol_whitelist": "none"}
# What decoders refuse before they make room for it.
LIMITS = {"max_pixels": str(LARGEST_PIXELS)}
# Frames a second of a video that does not say.
DEFAULT_RATE = 25


class Video:
    """The frames of a video file.

    Parameters
    ----------
    path : str or path-like
    crop : Crop, optional
        Which part of each frame to take.
    labels : str, optional
        A .csv file of start, end and label, which says what the frames show.

    Raises
    ------
    UnreadableImageError
        If it is no video that can be read, on entering.
    InputError
        If the labels cannot be used, on entering.
    ModuleNotFoundError
        If the extra `video` is not installed.

    Examples
    --------
    >>> with Video("no such clip.mp4") as video:
    ...     pass
    Traceback (most recent call last):
    newfound.UnreadableImageError: no such file or directory
    """

    is_live, start = False, 0.0
    total: int | None

    # _open: the file, and FFmpeg's view of it.

    def __init__(
        self, path: str | os.PathLike[str], crop: Crop | None = None, labels: str | None = None
    ) -> None:
        self.path, self.name = Path(path), Path(path).name
        self.crop, self.labels, self.spans = crop, labels, Spans()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        if self.labels is not None:
            self.spans = read_spans(self.labels)
        with ExitStack() as stack:
            try:
                file = stack.enter_context(open_regular(self.path))
                self._container: InputContainer = stack.enter_context(
                    av.open(file, "r", options=SAFE | LIMITS, metadata_errors="replace")
                )
            except av.FFmpegError as error:
                raise UnreadableImageError(
                    "not a video that can be read, damaged or cut short"
                ) from error
            except OSError as error:
                raise UnreadableImageError((error.strerror or str(error)).lower()) from error
            self._stream = video_stream(self._container)
            self.total = _frames_in(self._container, self._stream)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def frames(self) -> Iterator[Frame | Problem]:
        """Yield frames, and what could not be read as one; it can be called once."""
        is_any = False
        for decoded, time in self._timed():
            if isinstance(decoded, Problem):
                yield decoded
                continue
            name = f"{self.name} at {clock(time)}"
            try:
                frame = frame_of(decoded, time, name, self.crop, self.spans.at(time))
            except InputError as error:  # it has no such part
                yield Problem(name, str(error))
                if is_any:
                    continue
                return  # nor will the others
            is_any = is_any or isinstance(frame, Frame)
            yield frame

    def _timed(self) -> Iterator[tuple[av.VideoFrame | Problem, float]]:
        """Yield what was decoded with its time since the beginning."""
        step = float(1 / (self._stream.average_rate or DEFAULT_RATE))
        begin, time = None, -step
        for decoded in self._decoded():
            if not isinstance(decoded, Problem):
                time += step  # if it does not say
                if decoded.time is not None:
                    begin = decoded.time - time if begin is None else begin
                    time = decoded.time - begin
            yield decoded, time

    def _decoded(self) -> Iterator[av.VideoFrame | Problem]:
        """Yield decoded frames; a damaged one is a problem, and the rest goes on."""
        try:
            for packet in self._container.demux(self._stream):
                try:
                    yield from packet.decode()
                except av.FFmpegError as error:
                    yield Problem(f"{self.name}{self._when(packet)}", f"damaged ({error.strerror})")
        except av.FFmpegError as error:
            yield Problem(self.name, f"cannot be read to its end ({error.strerror})")

    def _when(self, packet: "av.Packet[VideoStream]") -> str:
        if packet.pts is None:
            return ""
        ticks = packet.pts - (self._stream.start_time or 0)
        return f" at {clock(float(ticks * packet.time_base))}"


def video_stream(container: InputContainer) -> VideoStream:
    """Return what of an open container is its video, ready to be decoded on all cores."""
    if not container.streams.video:
        raise UnreadableImageError("there is sound, but no picture")
    stream = container.streams.video[0]
    if stream.codec_context is None:
        raise UnreadableImageError("a kind of video that cannot be decoded")
    check_size(stream.codec_context.width, stream.codec_context.height)
    stream.thread_type = "AUTO"
    stream.codec_context.options = LIMITS
    return stream


def _frames_in(container: InputContainer, stream: VideoStream) -> int | None:
    """Return how many frames a video says it has."""
    if stream.frames or not stream.average_rate:
        return stream.frames or None
    if stream.duration is not None and stream.time_base is not None:
        return round(stream.duration * stream.time_base * stream.average_rate)
    if container.duration is not None:  # in microseconds
        return round(container.duration / 1_000_000 * stream.average_rate)
    return None


def frame_of(
    decoded: av.VideoFrame, time: float, name: str, crop: Crop | None, label: Any = None
) -> Frame | Problem:
    """Return a decoded frame as it is looked at, or why it cannot be.

    Raises
    ------
    InputError
        If it has no such part as is to be taken.
    """
    if decoded.is_corrupt:
        return Problem(name, "damaged")
    image = picture_of(decoded)
    if crop is not None:
        image = crop.of(image)
    return Frame(image, time, name, digest_of_pixels(image), label)


def picture_of(frame: av.VideoFrame) -> Image.Image:
    """Return a decoded frame as RGB, the way up it was taken, transparent parts white."""
    if any(component.is_alpha for component in frame.format.components):
        image = as_rgb(Image.fromarray(frame.to_ndarray(format="rgba")))
    else:
        image = frame.to_image()  # type: ignore[no-untyped-call]
    is_turned = frame.rotation % 360 in (90, 180, 270)
    return image.rotate(frame.rotation, expand=True) if is_turned else image
