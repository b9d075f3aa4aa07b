"""`newfound teach`: learn images or vectors, one class or many, into a new model or an old one."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.console import (
    DONE,
    INTERRUPTED,
    SOME_UNREADABLE,
    Console,
    doubts,
    plural,
    summary,
)
from newfound.cli.inputs import find, tell_problems, use_extractor
from newfound.cli.models import locked
from newfound.cli.options import (
    As,
    ExtractorName,
    Images,
    LabelsFrom,
    NewModel,
    Quiet,
    Wait,
)
from newfound.common.errors import ClusterError
from newfound.recognition.locking import Change

if TYPE_CHECKING:
    from newfound.recognition.lesson import Lesson
    from newfound.recognition.sources import Sources

# Asking takes two matrices of d x d numbers at least; beyond so many bytes few machines hold them.
MOST_TO_ASK = 16 * 2**30

Again = Annotated[
    bool, typer.Option("--again", help="Teach images again even if they were taught before.")
]
Lean = Annotated[
    bool,
    typer.Option(
        "--lean",
        help="Make a new model without sums per class: its file is smaller, but forget-class "
        "does not work.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Let workers of a Dask cluster read the images, look at them and sum what they see: "
        "the address of its scheduler, as tcp://10.0.0.1:8786, or local for a process on each core "
        "of this machine. Workers must see the images under the same paths or addresses.",
        show_default=False,
    ),
]
SaveEvery = Annotated[float, typer.Option(min=0, help="Save every so many seconds on the way.")]


def teach(
    model: NewModel,
    images: Images,
    label: As = None,
    labels: LabelsFrom = "first",
    again: Again = False,
    extractor: ExtractorName = None,
    lean: Lean = False,
    cluster: Cluster = None,
    save_every: SaveEvery = 5.0,
    wait: Wait = 0.0,
    quiet: Quiet = False,
) -> None:
    """Learn images, in folders or one by one.

    \b
    newfound teach kitchen.newfound photos/
    newfound teach kitchen.newfound new/*.jpg --as mug
    newfound teach kitchen.newfound vectors.npz
    newfound teach house.newfound photos/ --cluster local

    A folder of images is a class of its name. A folder of such folders holds several classes. The
    option --as labels everything that is given. An existing model learns more. A new one is made
    otherwise; it chooses its penalty and recoding itself. Images that were taught under that label
    before are skipped. Images that cannot be read are listed, the rest is learned, and the exit
    code is 3. An interrupted lesson resumes when it is run again. The undo command takes the last
    lesson back.
    """
    console = Console(quiet)
    found = find(images, label, labels, console)
    with locked(model, wait, console) as change:
        from newfound.recognition.lesson import Lesson

        recogniser = change.open(lean)
        if lean and recogniser.is_taught and not recogniser.is_lean:
            console.info(f"{model} exists already and is not lean; --lean is for new models.")
        use_extractor(recogniser, extractor, found)
        lesson = Lesson(recogniser, again, change.save, save_every)
        try:
            with _steps(lesson, found, cluster) as steps:
                bar = console.progress(steps, len(found), "teaching")
                code = _teach(lesson, bar, change, console)
        except KeyboardInterrupt:  # while a cluster starts, or ends
            code = _interrupted(lesson, console)
    raise typer.Exit(code)


@contextmanager
def _steps(lesson: "Lesson", found: "Sources", cluster: str | None) -> Iterator[Iterator[None]]:
    """Yield what teaches one after the other of all that was found, here or on a cluster."""
    if cluster is None:
        yield lesson.run(found)
        return
    from newfound.recognition.cluster import connected
    from newfound.recognition.course import teach as teach_there

    logging.disable(logging.CRITICAL)  # workers come and go; what matters of it is said
    try:
        with connected(cluster) as client:
            yield teach_there(lesson, found, client)
    except ClusterError:
        lesson.save()
        raise
    finally:
        logging.disable(logging.NOTSET)


def _teach(lesson: "Lesson", steps: Iterator[None], change: Change, console: Console) -> int:
    recogniser, start = lesson.recogniser, monotonic()
    try:
        for _ in steps:
            pass
        if lesson.taught and recogniser.width is not None:
            _warn_if_wide(recogniser.width, console)
        lesson.finish()
    except MemoryError as error:
        advice = "fewer features take less, and so does a new model with --lean"
        raise MemoryError(f"{error or 'too much to hold'}; {advice}") from error
    except KeyboardInterrupt:
        return _interrupted(lesson, console)
    console.info(f"Learned {plural(lesson.taught, 'image')} in {monotonic() - start:.1f} s.")
    if lesson.known:
        console.info(f"Skipped {lesson.known} that were taught already (--again teaches them).")
    tell_problems(lesson.problems, console)
    if recogniser.is_taught:
        console.info(f"{change.named} knows {summary(recogniser)}.")
        if doubt := doubts(recogniser):
            console.info(doubt)
    return SOME_UNREADABLE if lesson.problems else DONE


def _interrupted(lesson: "Lesson", console: Console) -> int:
    lesson.save()
    advice = "" if lesson.again else "; run it again to go on"
    console.error(f"Interrupted after {plural(lesson.taught, 'image')}{advice}.")
    return INTERRUPTED


def _warn_if_wide(width: int, console: Console) -> None:
    needed = 2 * 8 * width**2
    if needed > MOST_TO_ASK:
        console.error(
            f"Vectors of {width:,} features are learned, but to ask this model will take "
            f"{needed / 2**30:,.0f} GiB of memory: fewer features take less."
        )
