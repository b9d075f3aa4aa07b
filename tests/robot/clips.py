"""Small videos for tests: scenes that move or stand still, in whatever format."""

import struct
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

Pictures = Iterable[NDArray[np.uint8]]
# Matrices of a track that turn its pictures by so many quarters, clockwise.
_TURNS = {0: (1, 0, 0, 1), 1: (0, 1, -1, 0), 2: (-1, 0, 0, -1), 3: (0, -1, 1, 0)}


def scene(thing: int, size: tuple[int, int] = (64, 48)) -> NDArray[np.uint8]:
    """Return a picture of coarse patches that is the thing's own, of shape (height, width, 3)."""
    width, height = size
    patches = np.random.default_rng(thing).integers(0, 256, (height // 8, width // 8, 3))
    return np.kron(patches, np.ones((8, 8, 1))).astype(np.uint8)


def still(thing: int, n: int, noise: float = 2.0) -> Iterator[NDArray[np.uint8]]:
    """Yield what a camera that stands still sends: a scene with the noise of a sensor."""
    picture, rng = scene(thing).astype(float), np.random.default_rng((thing, n))
    for _ in range(n):
        yield np.clip(picture + rng.normal(0, noise, picture.shape), 0, 255).astype(np.uint8)


def moving(thing: int, n: int) -> Iterator[NDArray[np.uint8]]:
    """Yield a scene that goes by, 8 pixels a frame."""
    for step in range(n):
        yield np.roll(scene(thing), 8 * step, axis=1)


def write_clip(
    path: Path,
    pictures: Pictures,
    codec: str = "mjpeg",
    pixels: str = "yuvj420p",
    rate: int = 15,
    format: str | None = None,
    times: Iterable[float] | None = None,
) -> Path:
    """Write pictures as a video, and return where it is."""
    with av.open(str(path), "w", format=format) as container:
        stream: Any = container.add_stream(codec, rate=rate)
        stream.pix_fmt = pixels
        at = None if times is None else iter(times)
        for number, picture in enumerate(pictures):
            if not number:
                stream.height, stream.width = picture.shape[:2]
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            if at is not None:
                frame.pts, frame.time_base = round(next(at) * 1000), Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def turn(path: Path, quarters: int) -> None:
    """Let an MP4 say that it is to be turned by so many quarters, clockwise."""
    data, before, after = path.read_bytes(), _matrix(0), _matrix(quarters)
    track = data.index(before, data.index(b"tkhd"))
    path.write_bytes(data[:track] + after + data[track + len(after) :])


def _matrix(quarters: int) -> bytes:
    """Return a turn as the header of a track has it, in numbers of 32 bits with a fixed point."""
    a, b, c, d = (0x10000 * each for each in _TURNS[quarters])
    return struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 0x40000000)
