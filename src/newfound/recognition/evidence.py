"""Evidence over a track: answers to frames in the order of their time, added up and forgotten."""

import math
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.common.errors import InputError
from newfound.recognition.knowledge import Answer

# Seconds after which a frame counts half. Where a thing is exchanged for another unseen, the answer
# follows after about one half-life; longer ones gain little more (benchmarks/smoothing.py).
HALF_LIFE = 0.5
# Two frames in a row show different things if the cosine of their vectors is below this. It is at
# 99 % of exchanges on Washington RGB-D, and at 0.3 % of the steps of a turntable, six a second.
SAME_ABOVE = 0.7
# A class that no answer names any more is let go once it has this part of the evidence.
HARDLY_ANY = 1e-6


class Evidence:
    """The mean of the answers to the frames of a track, in which older frames count less.

    A frame that is older by one half-life counts half, by two a quarter. So one blurred frame does
    not change the answer, and a thing that is put away is forgotten after a few half-lives. Where
    frames are told by their vectors, too, it is forgotten at once if the next one looks like
    another thing. It holds sums, and so as much after a million frames as after one.

    Parameters
    ----------
    half_life : float, default=0.5
        Seconds after which a frame counts half. With 0, only the newest frame counts.

    Raises
    ------
    InputError
        If the half-life is no number of seconds from 0.

    Examples
    --------
    >>> def said(mug, unknown=0.0):
    ...     top = sorted({"mug": mug, "cup": 1 - mug}.items(), key=lambda guess: -guess[1])
    ...     return Answer(*top[0], unknown, unknown, unknown <= 0.5, top)
    >>> evidence = Evidence(half_life=1.0)
    >>> evidence.add(said(0.9), time=0.0, unknown_above=0.5).label
    'mug'
    >>> answer = evidence.add(said(0.45), time=1.0, unknown_above=0.5)
    >>> answer.label, round(answer.score, 6)  # (0.9 / 2 + 0.45) / (1 / 2 + 1)
    ('mug', 0.6)
    >>> evidence.add(said(0.3), time=0.0, unknown_above=0.5).label  # back in time: another track
    'cup'
    """

    # _weight: of all frames, the newest being 1; 0: there was none. _time: of the newest.
    # _scores: weighted sums of the probability of each class. _others: of unknown and novelty.
    # _vector: of the newest frame, at unit length; None: nobody said.

    def __init__(self, half_life: float = HALF_LIFE) -> None:
        if not (math.isfinite(half_life) and half_life >= 0):
            raise InputError(f"a half-life is a number of seconds from 0, got {half_life!r}")
        self.half_life = float(half_life)
        self.reset()

    def reset(self) -> None:
        """Forget all frames: another track begins, or another model answers."""
        self._weight, self._time = 0.0, -math.inf
        self._scores: dict[Any, float] = {}
        self._others = 0.0, 0.0
        self._vector: NDArray[np.floating] | None = None

    def add(
        self, answer: Answer, time: float, unknown_above: float, vector: ArrayLike | None = None
    ) -> Answer:
        """Take in what was said of a frame, and return what all frames together say.

        Parameters
        ----------
        answer : Answer
            With all classes in `top`; one that is missing counts as having no probability.
        time : float
            When the frame was taken, in seconds. If that is before the last, a new track begins.
        unknown_above : float
            The probability of being unknown above which the track is called that.
        vector : array-like of shape (d,), optional
            Of the frame. If it is far from the last, a new track begins.

        Returns
        -------
        Answer
            Means over the track, also in `top`, which has all classes.
        """
        kept = self._decay_until(time) * self._goes_on(vector)
        self._weight = self._weight * kept + 1.0
        old = {label: score * kept for label, score in self._scores.items()}
        # Classes that the newest answer names come first, in its order, which decides where two
        # are equal.
        self._scores = {label: old.pop(label, 0.0) + score for label, score in answer.top}
        self._scores |= {
            label: score for label, score in old.items() if score > HARDLY_ANY * self._weight
        }
        unknown, novelty = self._others
        self._others = unknown * kept + answer.unknown, novelty * kept + answer.novelty
        return self._mean(unknown_above)

    def _goes_on(self, vector: ArrayLike | None) -> bool:
        """Tell whether a frame looks like the last one, as far as is known; remember it."""
        last, self._vector = self._vector, None if vector is None else unit(vector)
        if last is None or self._vector is None or last.shape != self._vector.shape:
            return True
        return float(last @ self._vector) >= SAME_ABOVE

    def _decay_until(self, time: float) -> float:
        """Go on to a time, and return which part is left of what is known."""
        passed, self._time = time - self._time, time
        if passed < 0 or not self.half_life:
            return 0.0
        return float(0.5 ** (passed / self.half_life))

    def _mean(self, unknown_above: float) -> Answer:
        unknown, novelty = (each / self._weight for each in self._others)
        top = [(label, score / self._weight) for label, score in self._scores.items()]
        top.sort(key=lambda guess: -guess[1])
        return Answer(*top[0], novelty, unknown, unknown <= unknown_above, top)


def unit(vector: ArrayLike) -> NDArray[np.floating]:
    """Return a vector at unit length; one of zeros stays as it is.

    >>> unit([3.0, 4.0])
    array([0.6, 0.8])
    """
    row = np.asarray(vector)
    return np.asarray(row / max(float(np.linalg.norm(row)), 1e-30))


class Stretch(NamedTuple):
    """Frames in a row that show the same, or nothing that is known."""

    start: float  # the time of its first frame
    end: float  # of its last
    label: Any  # what it shows, or most likely shows
    known: bool
    score: float  # the mean probability of the label
    frames: int


def stretches(answers: Iterable[tuple[Answer, float]]) -> Iterator[Stretch]:
    """Yield the stretches of a track: consecutive answers that agree, as one.

    Answers that something is unknown agree, whatever their best guesses are.

    Parameters
    ----------
    answers : iterable of (Answer, float)
        Of frames in order, each with its time; usually from `Evidence`.

    Yields
    ------
    Stretch
        As soon as the next begins, or the answers end.

    Examples
    --------
    >>> mug, cup = (Answer(label, 0.8, 0.1, 0.1, True, []) for label in ("mug", "cup"))
    >>> for stretch in stretches([(mug, 0.0), (mug, 0.1), (cup, 0.2)]):
    ...     print(stretch.start, stretch.end, stretch.label, stretch.frames)
    0.0 0.1 mug 2
    0.2 0.2 cup 1
    """
    for (known, _), frames in groupby(answers, key=lambda each: _says(each[0])):
        scores: dict[Any, float] = {}
        times: list[float] = []
        count = 0
        for answer, time in frames:
            scores[answer.label] = scores.get(answer.label, 0.0) + answer.score
            times = [*times[:1], time]
            count += 1
        label = max(scores, key=scores.__getitem__)
        yield Stretch(times[0], times[-1], label, known, scores[label] / count, count)


def _says(answer: Answer) -> tuple[bool, Any]:
    """Return what answers that agree have in common."""
    return answer.known, answer.label if answer.known else None
