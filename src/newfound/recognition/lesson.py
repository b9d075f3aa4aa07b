"""Lessons: examples on their way into a recogniser, in blocks that resume, and out again."""

from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from newfound.common.interrupts import uninterrupted
from newfound.estimators.learner import BLOCK
from newfound.recognition.sources import Example, Problem, Sources, stack

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Recogniser

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
        for example in self.recogniser.examples(found, self.wants):
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
            self._save_if_due()

    def learn(self) -> None:
        """Learn what waits."""
        with self.recogniser.editing:
            waiting, self.waiting = self.waiting, []
            if not self.again:  # another thread may have taught some of them meanwhile
                for example, label in waiting:
                    if self._is_new(example, label):
                        self.waiting.append((example, label))
                self.known += len(waiting) - len(self.waiting)
                waiting, self.waiting = self.waiting, []
            if waiting:
                examples, labels = [each for each, _ in waiting], [at for _, at in waiting]
                self.recogniser.teach_examples(examples, labels, at_once=self.at_once)
                self.taught += len(waiting)

    def take(self, part: "Recogniser") -> None:
        """Learn what was summed elsewhere, sums and memory of images together."""
        with uninterrupted():
            self.recogniser.merge(part)
            self.taught += len(part.taught)
        self._save_if_due()

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

    def _save_if_due(self) -> None:
        if monotonic() >= self.save_at:
            self.save()

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
    with recogniser.editing:
        return _forget(recogniser, ready)


def _forget(recogniser: "Recogniser", examples: Iterable[Example]) -> Forgotten:
    chosen: list[tuple[Example, Any]] = []
    problems: list[Problem] = []
    left: dict[tuple[Any, bytes], int] = {}
    for example in examples:
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
        taken, labels = [example for example, _ in chosen], [label for _, label in chosen]
        vectors, made_by = stack(taken)
        digests = [example.digest for example in taken]
        recogniser.forget_vectors(vectors, labels, digests, made_by)
    return Forgotten(len(chosen), problems)
