"""Frames on their way through an extractor."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import UnreadableImageError
from newfound.common.threads import cores
from newfound.features.extractor import Extractor
from newfound.features.images import Image
from newfound.recognition.sources import Problem
from newfound.robot.frames import Frame

# Pictures that wait for an extractor, or for whoever asks, take about this many bytes at most.
ROOM = 2**28

Looked = Iterator[tuple[Frame, NDArray[np.float32]]]


def look(
    frames: Iterable[Frame | Problem],
    extractor: Extractor,
    problems: list[Problem],
    is_live: bool = False,
) -> Looked:
    """Yield frames with their vectors, in order.

    Parameters
    ----------
    frames : iterable of Frame or Problem
    extractor : Extractor
    problems : list of Problem
        Is added to: what could not be read.
    is_live : bool, default=False
        Whether each frame is to be looked at before the next is taken. Otherwise all cores look,
        a few frames ahead of what is asked for.

    Yields
    ------
    (Frame, ndarray of shape (d,))

    Examples
    --------
    >>> from PIL import Image
    >>> from newfound.features import Pixels
    >>> problems, grey = [], Image.new("RGB", (8, 8), "grey")
    >>> frames = [Frame(grey, 0.0, "first", b""), Problem("second", "damaged")]
    >>> [(frame.name, vector.shape) for frame, vector in look(frames, Pixels(4), problems)]
    [('first', (16,))]
    >>> problems
    [Problem(name='second', reason='damaged')]
    """
    readable = _readable(frames, problems)
    return (_one_by_one if is_live else _ahead)(readable, extractor, problems)


def _readable(frames: Iterable[Frame | Problem], problems: list[Problem]) -> Iterator[Frame]:
    for frame in frames:
        if isinstance(frame, Problem):
            problems.append(frame)
        else:
            yield frame


def _one_by_one(frames: Iterable[Frame], extractor: Extractor, problems: list[Problem]) -> Looked:
    for frame in frames:
        try:
            vector = extractor.one(frame.image)
        except UnreadableImageError as error:
            problems.append(Problem(frame.name, str(error)))
        else:
            yield frame, vector


def _ahead(frames: Iterable[Frame], extractor: Extractor, problems: list[Problem]) -> Looked:
    remaining = iter(frames)
    first = next(remaining, None)
    if first is None:
        return
    most = max(2, ROOM // (3 * first.image.width * first.image.height))
    threads = min(cores(), most // 2)
    coming = deque[Frame]()

    def images() -> Iterator[Image.Image]:
        for frame in chain([first], remaining):
            coming.append(frame)
            yield frame.image

    stream = extractor.stream(images(), threads=threads, at_once=most // (2 * threads))
    for _, _, vector, problem in stream:
        frame = coming.popleft()
        if vector is None:
            problems.append(Problem(frame.name, str(problem)))
        else:
            yield frame, vector
