"""How often a recogniser is right as footage goes on."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from newfound.recognition.evaluation import Evaluation
from newfound.recognition.evidence import HALF_LIFE, Evidence
from newfound.recognition.recogniser import Recogniser
from newfound.recognition.sources import Problem
from newfound.robot.frames import Frame
from newfound.robot.labels import labelled
from newfound.robot.looking import look

# Parts of its time for which the accuracy of footage is told.
PARTS = 10


class FrameAnswer(NamedTuple):
    """The answer to a frame: the best guess, and whether it is called known."""

    label: str
    known: bool


class Moment(NamedTuple):
    """What a frame shows, and the answers to it, by itself and with those before it."""

    time: float  # in seconds since the footage begins
    shown: str
    answer: FrameAnswer
    smoothed: FrameAnswer


class TimelinePart(NamedTuple):
    """How often the answers to the frames of a part of the time are right."""

    start: float
    end: float
    frames: int
    right: float  # the share of them whose best guess is right
    smoothed_right: float  # of those before them, too
    unknown: float  # the share that is called unknown


class Timeline(NamedTuple):
    """The answers to the labelled frames of one footage."""

    name: str
    moments: list[Moment]

    def parts(self, n: int = PARTS) -> list[TimelinePart]:
        """Return how often they are right in each of n equal parts of its time, where frames are.

        Examples
        --------
        >>> right, wrong = FrameAnswer("mug", True), FrameAnswer("cup", False)
        >>> answers = [right, right, wrong, right]
        >>> moments = [Moment(time, "mug", answer, right) for time, answer in enumerate(answers)]
        >>> for part in Timeline("clip.mp4", moments).parts(2):
        ...     print(part)
        TimelinePart(start=0.0, end=1.5, frames=2, right=1.0, smoothed_right=1.0, unknown=0.0)
        TimelinePart(start=1.5, end=3.0, frames=2, right=0.5, smoothed_right=1.0, unknown=0.5)
        """
        if not self.moments:
            return []
        times = [moment.time for moment in self.moments]
        start, length = min(times), (max(times) - min(times)) / n
        inside: dict[int, list[Moment]] = {}
        for moment in self.moments:
            number = math.floor((moment.time - start) / length) if length else 0
            inside.setdefault(min(number, n - 1), []).append(moment)
        return [
            _part(start + length * number, start + length * (number + 1), moments)
            for number, moments in sorted(inside.items())
        ]


def _part(start: float, end: float, moments: Sequence[Moment]) -> TimelinePart:
    right = fmean(moment.answer.label == moment.shown for moment in moments)
    smoothed = fmean(moment.smoothed.label == moment.shown for moment in moments)
    unknown = fmean(not moment.answer.known for moment in moments)
    return TimelinePart(start, end, len(moments), right, smoothed, unknown)


class FootageEvaluation:
    """How often a recogniser is right about footage: frame by frame, and with those before.

    Parameters
    ----------
    recogniser : Recogniser
    unknown_above : float, optional
        The probability of being unknown above which a frame is called that. By default the
        recogniser's own bound.
    smooth : bool, default=False
        Whether to add the evidence of frames that follow each other. Otherwise what is called
        smoothed here is not.

    Attributes
    ----------
    plain, smoothed : Evaluation
        Of all footage. What could not be read stands in the first.
    timelines : list of Timeline
        Of each footage.
    passed_over : Counter
        Frames without a label.

    Examples
    --------
    >>> from PIL import Image
    >>> recogniser = Recogniser(extractor="pixels:size=4")
    >>> night, day = (Image.new("RGB", (8, 8), colour) for colour in ("black", "white"))
    >>> for image, label in (night, "night"), (day, "day"):
    ...     _ = recogniser.teach(image, label)
    >>> evaluation = FootageEvaluation(recogniser)
    >>> frames = [Frame(night, 5.0, "first", b""), Frame(day, 6.0, "second", b"")]
    >>> evaluation.add(frames, "night", name="clip.mp4")
    >>> evaluation.plain.accuracy, len(evaluation.timelines[0].moments)
    (0.5, 2)
    """

    def __init__(
        self, recogniser: Recogniser, unknown_above: float | None = None, smooth: bool = False
    ) -> None:
        self.recogniser, self.smooth = recogniser, smooth
        self.bound = recogniser.unknown_above if unknown_above is None else unknown_above
        taught = set(map(str, recogniser.classes))
        self.plain, self.smoothed = (Evaluation(Counter(), taught, self.bound) for _ in range(2))
        self.timelines: list[Timeline] = []
        self.passed_over = Counter[str]()

    def add(
        self, frames: Iterable[Frame | Problem], shown: Any = None, *, name: str, start: float = 0.0
    ) -> None:
        """Look at the labelled frames of one footage.

        Parameters
        ----------
        frames : iterable of Frame or Problem
        shown : str, bool or int, optional
            What all of them show; by default, they say it.
        name : str
            What the footage is called.
        start : float, default=0.0
            When it begins.
        """
        moments: list[Moment] = []
        evidence, extractor = Evidence(HALF_LIFE if self.smooth else 0.0), self.recogniser.extractor
        guesses = len(self.recogniser.classes) if self.smooth else 1
        wanted = labelled(frames, shown, self.passed_over)
        for frame, vector in look(wanted, extractor, self.plain.unreadable):
            (answer,) = self.recogniser.look_at_vectors(
                vector[None], guesses, self.bound, extractor.identity
            )
            together = evidence.add(answer, frame.time, self.bound, vector)
            label = str(self.recogniser.label(frame.label))
            self.plain.add(label, str(answer.label), answer.unknown)
            self.smoothed.add(label, str(together.label), together.unknown)
            answers = (FrameAnswer(str(one.label), one.known) for one in (answer, together))
            moments.append(Moment(frame.time - start, label, *answers))
        self.timelines.append(Timeline(name, moments))
