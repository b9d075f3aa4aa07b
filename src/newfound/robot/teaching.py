"""Footage on its way into a lesson: frames that are worth one, label by label."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.features.identity import Identity
from newfound.recognition.lesson import Lesson
from newfound.recognition.sources import Example, Problem
from newfound.recognition.thumbnails import thumbnail_of
from newfound.robot.every import Every
from newfound.robot.frames import Frame
from newfound.robot.labels import labelled
from newfound.robot.looking import look
from newfound.robot.thinning import Thinning


class FootageLesson:
    """Teaches videos, recordings and cameras, but frames that add nothing.

    A frame that was taught before is thinned by like any other, so that a lesson given again, or
    broken off and run again, takes the same frames.

    Parameters
    ----------
    lesson : Lesson
        Learns what is taken, saves it, and knows what could not be read.
    label : str, bool or int, optional
        What all frames show. Otherwise they say it.
    every : Every, optional
        Which frames to consider.
    at_most : int, optional
        How many to take of each label of each footage.

    Attributes
    ----------
    seen : int
        Frames that came, readable or not.
    skipped : Counter
        Those of them that were left out, by reason.
    """

    # _thinnings: of each label of the footage that is taught.

    _thinnings: defaultdict[Any, Thinning]

    def __init__(
        self,
        lesson: Lesson,
        label: Any = None,
        every: Every | None = None,
        at_most: int | None = None,
    ) -> None:
        self.lesson, self.label = lesson, label
        self.every, self.at_most = every or Every(1), at_most
        self.seen, self.skipped = 0, Counter[str]()

    def run(self, frames: Iterable[Frame | Problem], is_live: bool = False) -> None:
        """Teach the frames of one footage.

        Parameters
        ----------
        frames : iterable of Frame or Problem
        is_live : bool, default=False
            Whether they come as they are taken. Then all that was taken is learned, also if
            Ctrl-C ends it: it will not come again.
        """
        self._thinnings = defaultdict(lambda: Thinning(self.at_most, self.skipped))
        extractor = self.lesson.recogniser.extractor
        looked = look(self._wanted(frames), extractor, self.lesson.problems, is_live)
        try:
            for frame, vector in looked:
                if self._thinnings[frame.label].takes(vector):
                    self.lesson.add(self._example(frame, vector, extractor.identity))
        except KeyboardInterrupt:
            if is_live:
                self.lesson.learn()
            raise
        self.lesson.learn()

    def _wanted(self, frames: Iterable[Frame | Problem]) -> Iterator[Frame | Problem]:
        """Yield frames that are worth a look, with their labels, until no more can be taken."""
        considered = self.every.of(self._counted(frames), self.skipped)
        for frame in labelled(considered, self.label, self.skipped):
            if isinstance(frame, Problem):
                yield frame
                continue
            thinning = self._thinnings[frame.label]
            if thinning.wants(frame.image):
                yield frame
            elif thinning.is_full and self.label is not None:
                return

    def _counted(self, frames: Iterable[Frame | Problem]) -> Iterator[Frame | Problem]:
        for frame in frames:
            self.seen += 1
            yield frame

    def _example(self, frame: Frame, vector: NDArray[np.float32], made_by: Identity) -> Example:
        picture = (
            thumbnail_of(frame.image) if self.lesson.recogniser.edits.keeps_thumbnails else None
        )
        return Example(
            frame.name,
            frame.label,
            frame.digest,
            vector,
            None,
            extractor=made_by,
            thumbnail=picture,
        )
