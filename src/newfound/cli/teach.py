"""`newfound teach`: learn images or vectors, one class or many, into a new model or an old one."""

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.gather import (
    Gathered,
    Row,
    gather,
    rows_of,
    stacked,
    tell_ignored,
    tell_problems,
)
from newfound.cli.models import Change, changing, opened
from newfound.cli.options import As, By, ExtractorName, Images, Quiet, Wait
from newfound.cli.talk import DONE, INTERRUPTED, SOME_UNREADABLE, Talk, known, many

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Recogniser

# Images learned at once. Only whole blocks are, so that a run that was broken off and run again
# learns the same blocks as one that was not.
BLOCK = 16
# Asking takes two matrices of d x d numbers at least; beyond so many bytes few machines hold them.
MOST_TO_ASK = 16 * 2**30
# Saving may take so large a part of the time.
SAVING_SHARE = 0.1

Model = Annotated[
    Path, typer.Argument(help="The model's file; made if it is not there.", show_default=False)
]
Again = Annotated[
    bool, typer.Option("--again", help="Teach images again even if they were taught before.")
]
Lean = Annotated[
    bool,
    typer.Option(
        "--lean",
        help="A new model without sums per class: a smaller file, but no forget-class.",
    ),
]
SaveEvery = Annotated[float, typer.Option(min=0, help="Seconds after which to save on the way.")]


def teach(
    model: Model,
    images: Images,
    label: As = None,
    labels: By = "first",
    again: Again = False,
    extractor: ExtractorName = None,
    lean: Lean = False,
    save_every: SaveEvery = 5.0,
    wait: Wait = 0.0,
    quiet: Quiet = False,
) -> None:
    """Learn images, in folders or one by one.

    \b
    newfound teach kitchen.newfound photos/
    newfound teach kitchen.newfound new/*.jpg --as mug
    newfound teach kitchen.newfound vectors.npz

    A folder of images is a class of its name, a folder of such folders holds several, and --as
    labels whatever is given. An existing model learns more; otherwise one is made, which chooses
    its penalty and recoding itself. Images already taught under that label are skipped. What
    cannot be read is listed, the rest is learned, and the exit code is 3. Interrupted lessons
    resume when run again. newfound undo takes the last lesson back.
    """
    talk = Talk(quiet)
    gathered = gather(images, label, labels, need_labels=True)
    tell_ignored(gathered.ignored, talk)
    with changing(model, wait, talk) as change:
        code = _teach(change, gathered, again, extractor, lean, save_every, talk)
    raise typer.Exit(code)


def _teach(
    change: Change,
    gathered: Gathered,
    again: bool,
    extractor: str | None,
    lean: bool,
    save_every: float,
    talk: Talk,
) -> int:
    from newfound.recognition.recogniser import Recogniser

    path = change.named
    recogniser = opened(path) if path.exists() else Recogniser(lean=lean)
    if lean and recogniser.is_taught and recogniser.model.sums_.per_class:
        talk.say(f"{path} is there already and not lean; --lean is for new models.")

    def wanted(label: str | None, digest: bytes, nth: int) -> bool:
        return again or recogniser.memory.count(recogniser.label(str(label)), digest) < nth

    rows = rows_of(gathered, recogniser, extractor, wanted)
    lesson = _Lesson(recogniser, change, save_every, again)
    try:
        for row in talk.progress(rows, len(gathered), "teaching"):
            lesson.take(row)
        lesson.learn()
        lesson.end()
    except MemoryError as error:
        advice = "fewer features take less, and so does a new model with --lean"
        raise MemoryError(f"{error or 'too much to hold'}; {advice}") from error
    except KeyboardInterrupt:
        lesson.save()
        advice = "" if again else "; run it again to go on"
        talk.complain(f"Interrupted after {many(lesson.learned, 'image')}{advice}.")
        return INTERRUPTED
    lesson.report(talk)
    return SOME_UNREADABLE if lesson.problems else DONE


class _Lesson:
    """Rows on their way into a recogniser, learned in whole blocks and saved now and then."""

    def __init__(
        self, recogniser: "Recogniser", change: Change, save_every: float, again: bool
    ) -> None:
        self.recogniser = recogniser
        self.change = change
        self.save_every = save_every
        self.again = again
        self.waiting: list[tuple[Row, Any]] = []
        self.problems: list[Row] = []
        self.learned = self.skipped = 0
        self.began = monotonic()
        self.save_at = self.began + save_every

    def take(self, row: Row) -> None:
        """Take a row in, or note why it cannot be."""
        label = self.recogniser.label(str(row.label))
        if row.problem is not None:
            self.problems.append(row)
        elif row.vector is None or not (self.again or self._is_new(row, label)):
            self.skipped += 1
        else:
            self.waiting.append((row, label))
        if len(self.waiting) == BLOCK:
            self.learn()
            if monotonic() >= self.save_at:
                self.save()

    def learn(self) -> None:
        """Learn what waits."""
        if not self.waiting:
            return
        vectors = stacked([row for row, _ in self.waiting])
        if not self.learned:
            self._warn_if_wide(vectors.shape[1])
        digests = [row.digest for row, _ in self.waiting]
        self.recogniser.teach(vectors, [label for _, label in self.waiting], digests)
        self.learned += len(self.waiting)
        self.waiting = []

    def end(self) -> None:
        """Bring all up to date that depends on all examples, and save."""
        if self.recogniser.is_taught:
            self.recogniser.settle()
            self.save()

    def save(self) -> None:
        """Save all that is learned."""
        if self.recogniser.is_taught:
            start = monotonic()
            # A lesson that was known already is nothing to undo.
            self.change.save(self.recogniser, undoable=self.learned > 0)
            took = monotonic() - start
            self.save_at = monotonic() + max(self.save_every, took / SAVING_SHARE)

    def report(self, talk: Talk) -> None:
        """Say what was learned, what was not, and why."""
        seconds = monotonic() - self.began
        talk.say(f"Learned {many(self.learned, 'image')} in {seconds:.1f} s.")
        if self.skipped:
            talk.say(f"Skipped {self.skipped} that were taught already (--again teaches them).")
        tell_problems(self.problems, talk)
        if self.recogniser.is_taught:
            model = self.recogniser.model
            talk.say(f"{self.change.named} knows {known(model)}.")
            if self.recogniser.unknown_above is None:
                talk.say("Nothing is called unknown yet: that takes more images.")

    def _warn_if_wide(self, width: int) -> None:
        needed = 2 * 8 * width**2
        if needed > MOST_TO_ASK:
            self.change.talk.complain(
                f"Vectors of {width:,} features are learned, but to ask this model will take "
                f"{needed / 2**30:,.0f} GiB of memory: fewer features take less."
            )

    def _is_new(self, row: Row, label: Any) -> bool:
        waiting: int = sum(row.digest == other.digest and label == at for other, at in self.waiting)
        return self.recogniser.memory.count(label, row.digest) + waiting < row.nth
