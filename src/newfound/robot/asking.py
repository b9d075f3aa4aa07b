"""When to say "I do not know this; what is it?": of a thing that stays unknown, once."""

import math
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.common.errors import InputError
from newfound.features.identity import Identity
from newfound.features.images import Image
from newfound.recognition.editor import Editor
from newfound.recognition.evidence import SAME_ABOVE, unit
from newfound.recognition.inbox import MOST_FRAMES, MOST_QUESTIONS
from newfound.recognition.knowledge import Answer
from newfound.recognition.sources import NewExample, digest_of_pixels
from newfound.recognition.thumbnails import thumbnail_of

# A stretch of unknown frames ends in a pause of this many times the seconds after which to ask.
PAUSE = 3.0
# A view is of a thing that was asked about if it is no further from one of the question's frames
# than twice what any two of these are apart: so a camera that stands still and sees noise asks
# about the next thing in the same scene, and one that moves does not ask again at each turn. It is
# never one beyond FAR, where also frames in a row are of different things. On turntables of
# Washington RGB-D (benchmarks/smoothing.py views: a question of the first second), that takes 98 %
# of the views of the same turn, 97 % of those of another height, and 2 % of those of other objects
# for the same. One frame alone does not say how far views are apart: then FAR counts. NEAR: what
# rounding makes of equal ones.
TWICE, NEAR, FAR = 2.0, 0.01, math.sqrt(2 - 2 * SAME_ABOVE)


class Asking:
    """Watches the answers to a track, and says what to ask about.

    Something is asked about if it was unknown for a while, without a known answer between, unless
    it looks like something that was asked about before. So it is asked about once, however long it
    stays and however often it comes back, also if nobody names it. A model that was taught nothing
    knows nothing, and asks. One that cannot tell yet what is unknown calls everything known, and
    does not ask.

    It holds small pictures of eight frames of what is seen now, and vectors of the last 200
    questions.

    Parameters
    ----------
    after : float, default=1.0
        Seconds that something must be unknown.
    source : str, optional
        Where the frames come from, in words.

    Examples
    --------
    >>> from PIL import Image
    >>> asking, grey = Asking(after=1.0), Image.new("RGB", (8, 8), "grey")
    >>> [len(asking.add(None, [0.0, 1.0], grey, time)) for time in (0.0, 0.5, 1.0, 1.5)]
    [0, 0, 1, 0]
    """

    # _views: of the stretch that is unknown now, evenly spread over it; every `_step`th is kept.
    # _start, _last: times of its first and its last frame. _seen: how many frames it has.
    # _asked: unit vectors of each question, and how near a view must be to be of the same thing.

    def __init__(self, after: float = 1.0, source: str = "") -> None:
        if not (math.isfinite(after) and after >= 0):
            raise InputError(f"to ask after a number of seconds from 0, got {after!r}")
        self.after, self.source = float(after), source
        self._asked: deque[tuple[NDArray[np.floating], float]] = deque(maxlen=MOST_QUESTIONS)
        self._begin(-math.inf)

    def _begin(self, time: float) -> None:
        self._start = self._last = time
        self._views: list[NewExample] = []
        self._seen, self._step = 0, 1

    @classmethod
    def of(cls, editor: Editor, after: float = 1.0, source: str = "") -> "Asking":
        """Return one that does not ask again what is still open in the inbox of a journal."""
        asking = cls(after, source)
        for question in reversed(editor.journal.inbox.open(limit=MOST_QUESTIONS)):
            frames = editor.journal.examples.vectors(question.frames)
            asking.remember([frame.vector for frame in frames])
        return asking

    def remember(self, vectors: Sequence[ArrayLike]) -> None:
        """Do not ask about what looks like these, views of one thing, shape (m, d)."""
        if not len(vectors):
            return
        rows = np.stack([unit(vector) for vector in vectors])
        furthest = _distance(float((rows @ rows.T).min())) if len(rows) > 1 else FAR
        self._asked.append((rows, min(max(TWICE * furthest, NEAR), FAR)))

    def add(
        self,
        answer: Answer | None,
        vector: ArrayLike,
        image: Image.Image,
        time: float,
        extractor: Identity | None = None,
    ) -> list[NewExample]:
        """Take in a frame, and return the frames to ask about, if it is time to ask.

        Parameters
        ----------
        answer : Answer or None
            What is said of it, with the evidence of the frames before; None: nothing was taught.
        vector : array-like of shape (d,)
        image : PIL image in RGB
        time : float
            In seconds.
        extractor : Identity, optional
            What made the vector.

        Returns
        -------
        list of NewExample
            Up to eight, for `Editor.ask`; empty: there is nothing to ask.
        """
        row = np.asarray(vector)
        if (answer is not None and answer.known) or self.is_asked(row):
            self._begin(-math.inf)
            return []
        if not 0 <= time - self._last <= PAUSE * self.after:
            self._begin(time)
        self._last = time
        self._keep(row, image, extractor)
        if time - self._start < self.after:
            return []
        views = self._views
        self._begin(-math.inf)
        self.remember([view.vector for view in views])
        return list({view.digest: view for view in views}.values())  # each picture once

    def _keep(
        self, row: NDArray[np.floating], image: Image.Image, extractor: Identity | None
    ) -> None:
        """Keep a frame if it is its turn; where there are too many, every other one goes."""
        if self._seen % self._step == 0:
            digest, small = digest_of_pixels(image), thumbnail_of(image)
            self._views.append(NewExample(row, digest, extractor, self.source, small))
        self._seen += 1
        if len(self._views) > MOST_FRAMES:
            self._views, self._step = self._views[::2], 2 * self._step

    def take_back(self) -> None:
        """Ask again about what was to be asked about last: it could not be written down."""
        self._asked.pop()

    def is_asked(self, vector: ArrayLike) -> bool:
        """Tell whether a view, a vector of shape (d,), is of something that was asked about."""
        view = unit(vector)
        return any(
            rows.shape[1] == len(view) and _distance(float((rows @ view).max())) <= bound
            for rows, bound in self._asked
        )


def _distance(cosine: float) -> float:
    """Return how far vectors of unit length are apart."""
    return math.sqrt(max(0.0, 2.0 - 2.0 * cosine))
