"""Videos, cameras and recordings on the command line: taught, and asked about."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from newfound.cli.answers import Line, answer_line, stretch_line
from newfound.cli.console import Console, plural
from newfound.cli.errors import usage_errors, wrong_usage
from newfound.common.errors import InputError, UnreadableImageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from newfound.recognition.knowledge import Answer
    from newfound.recognition.lesson import Lesson
    from newfound.recognition.recogniser import Recogniser
    from newfound.recognition.sources import Problem
    from newfound.robot.crops import Crop
    from newfound.robot.every import Every
    from newfound.robot.frames import Footage, Frame

# How many of the frames that could not be used are listed.
MOST_LISTED = 20


class FootageInputs(NamedTuple):
    """Footage that is named on the command line, and how it is to be read."""

    names: list[str]
    crop: "Crop | None"
    every: "Every"
    topic: str | None
    labels: str | None  # what says when what is shown

    @property
    def is_live(self) -> bool:
        """Whether any of it is."""
        from newfound.robot.footage import is_camera

        return any(map(is_camera, self.names))

    def open_each(self, problems: "list[Problem]") -> "Iterator[Footage]":
        """Yield one after the other, open; put those that cannot be read in `problems`."""
        from newfound.recognition.sources import Problem
        from newfound.robot.footage import open_footage, shown

        for name in self.names:
            with ExitStack() as stack:
                try:
                    footage = open_footage(
                        name, crop=self.crop, topic=self.topic, labels=self.labels
                    )
                    opened = stack.enter_context(footage)
                except UnreadableImageError as error:
                    problems.append(Problem(shown(name), str(error)))
                    continue
                except InputError as error:
                    raise wrong_usage(error) from error
                yield opened


def choose(
    inputs: Sequence[str],
    every: str | None,
    crop: str | None,
    centre: bool,
    topic: str | None,
    labels: str = "first",
    **others: Any,
) -> FootageInputs | None:
    """Return the footage among inputs, of which there must be all or none; None if none.

    `labels` says nothing of footage where it is "first", its default; `others` are further options
    that are about footage alone.
    """
    from newfound.robot.crops import CENTRE, Crop
    from newfound.robot.every import Every
    from newfound.robot.footage import is_footage

    names = [name for name in inputs if is_footage(name)]
    if not names:
        options = {"crop": crop, "centre": centre, "every": every, "topic": topic, **others}
        for option in (name for name, value in options.items() if value):
            named = f"--{option.replace('_', '-')}"
            raise wrong_usage("that is for videos and recordings", named)
        return None
    if len(names) < len(inputs):
        other = next(name for name in inputs if name not in names)
        raise wrong_usage(
            f"{names[0]} is footage and {other} is not: take them one after the other"
        )
    if crop is not None and centre:
        raise wrong_usage("that is one part, and --centre another", "--crop")
    with usage_errors():
        part = CENTRE if centre else None if crop is None else Crop.parse(crop)
        thinning = Every(1) if every is None else Every.parse(every)
    return FootageInputs(names, part, thinning, topic, None if labels == "first" else labels)


def check_shown(chosen: FootageInputs, label: str | None) -> None:
    """End with wrong usage unless one thing, and a thing that can, says what is shown."""
    if label is not None and chosen.labels is not None:
        raise wrong_usage("that says what is shown, and so does --as", "--labels")
    if label is None and chosen.labels is None:
        raise wrong_usage(f"{chosen.names[0]}: say what it shows with --as, or when with --labels")
    if chosen.labels == "path":
        raise wrong_usage("for footage, that is a .csv file or a topic", "--labels")


class FootageTeacher:
    """Teaches footage that was chosen, and says what became of it."""

    def __init__(
        self, lesson: "Lesson", chosen: FootageInputs, label: str | None, at_most: int | None
    ) -> None:
        from newfound.robot.teaching import FootageLesson

        self.lesson, self.chosen = lesson, chosen
        self.frames = FootageLesson(lesson, label, chosen.every, at_most)

    def run(self, console: Console) -> Iterator[None]:
        """Teach one after the other, and yield after each."""
        for footage in self.chosen.open_each(self.lesson.problems):
            bar = console.progress(footage.frames(), footage.total, footage.name)
            self.frames.run(bar, footage.is_live)
            yield

    def report(self, lesson: "Lesson", seconds: float) -> Iterator[str]:
        """Yield what became of all frames, in words."""
        skipped = self.frames.skipped + Counter({"taught already": lesson.known})
        reasons = ", ".join(f"{n} {why}" for why, n in skipped.most_common())
        seen = plural(self.frames.seen, "frame")
        yield f"Learned {lesson.taught} of {seen} in {seconds:.1f} s."
        if reasons:
            yield f"Skipped {reasons}."


def answer_lines(
    recogniser: "Recogniser",
    chosen: FootageInputs,
    problems: "list[Problem]",
    top: int | None,
    unknown_above: float | None,
    console: Console,
) -> Iterator[Line]:
    """Yield a line for each frame; without `top`, one for each stretch of frames that agree."""
    from newfound.recognition.evidence import Evidence, stretches
    from newfound.robot.looking import look

    bound = recogniser.unknown_above if unknown_above is None else unknown_above
    guesses = len(recogniser.classes) if top is None else top

    def look_at(footage: "Footage") -> "Iterator[tuple[Frame, NDArray[np.float32], Answer]]":
        frames = console.progress(footage.frames(), footage.total, footage.name)
        considered, extractor = chosen.every.of(frames, Counter()), recogniser.extractor
        for frame, vector in look(considered, extractor, problems, footage.is_live):
            (answer,) = recogniser.look_at_vectors(vector[None], guesses, bound, extractor.identity)
            yield frame, vector, answer

    for footage in chosen.open_each(problems):
        if top is not None:
            for frame, _, answer in look_at(footage):
                yield answer_line(frame.name, answer, frame.time)
            continue
        evidence = Evidence()
        smoothed = (
            (evidence.add(answer, frame.time, bound, vector), frame.time)
            for frame, vector, answer in look_at(footage)
        )
        for stretch in stretches(smoothed):
            yield stretch_line(footage.name, stretch, footage.start)
