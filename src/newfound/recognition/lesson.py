"""Lessons: examples on their way into a recogniser, in blocks that resume, and out again."""

from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from newfound.common.errors import NotTaughtError, UnreadableImageError
from newfound.recognition.reading import examples
from newfound.recognition.sources import Example, NewExample, Problem, Sources

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Recogniser

# Rows that lessons take at a time: sums of so few are made without rounding.
BLOCK = 16
# Saving may take so large a part of the time.
SAVING_SHARE = 0.1


class Taught(NamedTuple):
    """What became of a lesson."""

    taught: int
    known: int  # taught before under that label, and so not again
    problems: list[Problem]


class Forgotten(NamedTuple):
    """What became of images that were to be forgotten."""

    forgotten: int
    problems: list[Problem]


class Lesson:
    """Examples on their way into a recogniser, learned in whole blocks and saved now and then.

    Parameters
    ----------
    recogniser : Recogniser
    again : bool, default=False
        Whether to teach what was taught before.
    save : callable, optional
        Saves the recogniser on the way and at the end, as `Change.save` does.
    save_every : float, default=5.0
        Seconds after which it is called.
    at_once : bool, default=False
        As for `Recogniser.teach_vectors`.
    """

    # waiting: examples of a block that is not full yet, with their labels.
    # taught, known: how many were learned, and how many had been before.

    def __init__(
        self,
        recogniser: "Recogniser",
        again: bool = False,
        save: Callable[..., None] | None = None,
        save_every: float = 5.0,
        at_once: bool = False,
    ) -> None:
        self.recogniser, self.again, self.at_once = recogniser, again, at_once
        self.save_now, self.save_every = save, save_every
        self.waiting: list[tuple[Example, Any]] = []
        self.problems: list[Problem] = []
        self.taught = self.known = 0
        self.save_at = monotonic() + save_every

    @property
    def report(self) -> Taught:
        """What became of it so far."""
        return Taught(self.taught, self.known, self.problems)

    def wants(self, label: Any, digest: bytes, nth: int) -> bool:
        """Tell whether an image is to be learned; any thread may ask."""
        taught = self.recogniser.taught
        return self.again or taught.count(self.recogniser.label(label), digest) < nth

    def run(self, found: Sources) -> Iterator[None]:
        """Teach all that was found, and yield after each."""
        self.recogniser.knowledge.check_labels(found.labels)
        for example in examples(self.recogniser, found, self.wants):
            self.add(example)
            yield
        self.learn()

    def add(self, example: Example) -> None:
        """Let an example be learned, or note why it cannot be."""
        if example.problem is not None:
            self.problems.append(Problem(example.name, example.problem))
            return
        label = self.recogniser.label(example.label)
        if example.vector is None or not (self.again or self._is_new(example, label)):
            self.known += 1
            return
        self.waiting.append((example, label))
        # Only whole blocks are learned, so that a run that was broken off and run again learns the
        # same ones as a run that was not.
        if len(self.waiting) == BLOCK:
            self.learn()
            if monotonic() >= self.save_at:
                self.save()

    def learn(self) -> None:
        """Learn what waits."""
        with self.recogniser.edits.lock:
            waiting, self.waiting = self.waiting, []
            if not self.again:  # another thread may have taught some of them meanwhile
                for example, label in waiting:
                    if self._is_new(example, label):
                        self.waiting.append((example, label))
                self.known += len(waiting) - len(self.waiting)
                waiting, self.waiting = self.waiting, []
            if waiting:
                edits, labels = self.recogniser.edits, [label for _, label in waiting]
                new = [as_new(example, edits.keeps_thumbnails) for example, _ in waiting]
                edits.teach(new, labels, at_once=self.at_once)
                self.taught += len(waiting)

    def finish(self) -> None:
        """Bring up to date what depends on all examples, and save."""
        if self.recogniser.is_taught:
            self.recogniser.refresh()
        self.save()

    def save(self) -> None:
        """Save all that is learned."""
        if self.save_now is not None and self.recogniser.is_taught:
            start = monotonic()
            # A lesson that was known already is nothing to undo.
            self.save_now(self.recogniser, undoable=self.taught > 0, refresh=False)
            took = monotonic() - start
            self.save_at = monotonic() + max(self.save_every, took / SAVING_SHARE)

    def _is_new(self, example: Example, label: Any) -> bool:
        key = label, example.digest
        waiting = sum(key == (at, other.digest) for other, at in self.waiting)
        return self.recogniser.taught.count(*key) + waiting < example.nth


def forget(recogniser: "Recogniser", examples: Iterable[Example]) -> Forgotten:
    """Take examples back, all at once; those that were not taught under their label are problems.

    Parameters
    ----------
    recogniser : Recogniser
    examples : iterable of Example

    Returns
    -------
    Forgotten
    """
    ready = list(examples)  # turned into vectors before anyone has to wait
    chosen: list[tuple[Example, Any]] = []
    problems: list[Problem] = []
    left: dict[tuple[Any, bytes], int] = {}
    with recogniser.edits.lock:
        for example in ready:
            label, reason = recogniser.label(example.label), example.problem
            key = label, example.digest
            left.setdefault(key, recogniser.taught.count(*key))
            if reason is None and not left[key]:
                reason = f"was not taught as {label}"
            if reason is not None:
                problems.append(Problem(example.name, reason))
            else:
                left[key] -= 1
                chosen.append((example, label))
        if chosen:
            new = [as_new(example) for example, _ in chosen]
            recogniser.edits.forget(new, [label for _, label in chosen])
    return Forgotten(len(chosen), problems)


def as_new(example: Example, with_picture: bool = False) -> NewExample:
    """Return an example that has a vector as what a model takes; with a picture, if it can be."""
    assert example.vector is not None
    picture = None
    if with_picture and example.of_image:
        from newfound.recognition.thumbnails import picture_of

        picture = picture_of(example)
    return NewExample(example.vector, example.digest, example.extractor, example.name, picture)


def raise_problem(problems: list[Problem]) -> None:
    """Raise the first problem, if there is any: that of a single image."""
    for name, reason in problems:
        kind = NotTaughtError if reason.startswith("was not taught") else UnreadableImageError
        raise kind(f"{name}: {reason}")
