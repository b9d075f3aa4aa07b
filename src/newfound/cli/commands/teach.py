"""`newfound teach`: learn images or vectors, one class or many, into a new model or an old one."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.console import INTERRUPTED, Console, doubts, exit_code, plural, summary
from newfound.cli.footage import MOST_LISTED, FootageInputs, FootageTeacher, check_shown, choose
from newfound.cli.footage_options import AtMost, Centre, Crop, Every, Labels, Topic
from newfound.cli.inputs import check_label, find, folder_labels, tell_problems, use_extractor
from newfound.cli.models import locked
from newfound.cli.option_kinds import duration, flag
from newfound.cli.options import As, ExtractorName, Images, NewModel, Quiet, Wait
from newfound.common.errors import ClusterError
from newfound.recognition.beginning import Beginning
from newfound.recognition.locking import Change

if TYPE_CHECKING:
    from newfound.recognition.lesson import Lesson
    from newfound.recognition.recogniser import Recogniser
    from newfound.recognition.sources import Sources

# Asking takes two matrices of d x d numbers at least: few machines hold more bytes than this.
MOST_TO_ASK = 16 * 2**30

Again = Annotated[bool, flag("--again", "Teach images again even if they were taught before.")]
NoClassSums = Annotated[
    bool,
    flag(
        "--no-class-sums",
        "Make a new model without sums per class. It takes less memory and a smaller file, "
        "but no class can be forgotten at once (forget-class).",
    ),
]
WithLayer = Annotated[
    bool,
    flag(
        "--layer",
        "Give a new model a layer: 2,000 random units beside the features, used where they pay. "
        "It is for pixels and your own vectors; the features of newfound's network gain next to "
        "nothing. With sums per class, a class of many images takes up to 31 MB (28 x 28 pixels); "
        "--no-class-sums does without.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Let the workers of a Dask cluster turn the images into vectors. Give the "
        "address of its scheduler, as tcp://10.0.0.1:8786, or local for one process per core of "
        "this machine. Workers must see the images under the same paths or addresses.",
    ),
]
SaveEvery = Annotated[float, duration("Save this often while learning.")]


def teach(
    model: NewModel,
    images: Images,
    label: As = None,
    labels: Labels = "first",
    every: Every = None,
    at_most: AtMost = None,
    crop: Crop = None,
    centre: Centre = False,
    topic: Topic = None,
    again: Again = False,
    extractor: ExtractorName = None,
    layer: WithLayer = False,
    no_class_sums: NoClassSums = False,
    cluster: Cluster = None,
    save_every: SaveEvery = 5.0,
    wait: Wait = 0.0,
    quiet: Quiet = False,
) -> None:
    """Learn images from folders and files.

    \b
    newfound teach kitchen.newfound photos/
    newfound teach kitchen.newfound new/*.jpg --as mug
    newfound teach kitchen.newfound vectors.npz
    newfound teach house.newfound photos/ --cluster local
    newfound teach kitchen.newfound clip.mp4 --as mug
    newfound teach kitchen.newfound run.mcap --labels labels.csv

    A folder of images is a class with the name of the folder; a folder of such folders holds
    several classes. With --as, all images have that label. An existing model learns more; otherwise
    a new one is made, which chooses its penalty and recoding itself. Images that were taught under
    the same label before are skipped. Images that cannot be read are listed, the rest is learned,
    and the exit code is 3. Run an interrupted lesson again to resume it. The undo command takes the
    last lesson back.

    From videos, recordings and cameras (camera:0, rtsp://…), frames are taught. Frames that hardly
    differ from others of the same label, or are far more blurred than their neighbours, are
    skipped. A camera is taught until Ctrl-C, or until --at-most is reached.
    """
    console = Console(quiet)
    if label is not None:
        check_label(label)
    chosen = choose(images, every, crop, centre, topic, labels, at_most=at_most)
    if chosen is None:
        sources = find(images, label, folder_labels(labels), console)
    else:
        _check_footage(chosen, label, cluster)
    with locked(model, wait, console) as change:
        from newfound.recognition.lesson import Lesson

        wanted = Beginning(not no_class_sums, layer)
        recogniser = change.open(wanted)
        _tell_what_is_too_late(recogniser, wanted, change, console)
        lesson = Lesson(recogniser, again, change.save, save_every)
        try:
            if chosen is None:
                use_extractor(recogniser, extractor, sources)
                with _steps(lesson, sources, cluster) as steps:
                    bar = console.progress(steps, len(sources), "teaching")
                    code = _teach(lesson, bar, _report, change, console)
            else:
                use_extractor(recogniser, extractor)
                teacher = FootageTeacher(lesson, chosen, label, at_most)
                steps = teacher.run(console)
                code = _teach(lesson, steps, teacher.report, change, console, MOST_LISTED)
        except KeyboardInterrupt:  # while a cluster starts, or ends
            code = _interrupted(lesson, console)
    raise typer.Exit(code)


def _tell_what_is_too_late(
    recogniser: "Recogniser", wanted: Beginning, change: Change, console: Console
) -> None:
    """Say which wishes come too late, because a model exists that was made otherwise."""
    if not wanted.class_sums and recogniser.is_taught and recogniser.holds_class_sums:
        console.info(
            f"{change.named} exists, with sums per class: --no-class-sums is for new models."
        )
    if wanted.layer and recogniser.knowledge.learner.settings.layer is None:
        console.info(f"{change.named} exists, without a layer: --layer is for new models.")


def _check_footage(chosen: FootageInputs, label: str | None, cluster: str | None) -> None:
    """End with wrong usage if footage cannot be taught so, before any work is done."""
    if cluster is not None:
        raise typer.BadParameter("footage is taught here", param_hint="--cluster")
    check_shown(chosen, label)
    if len(chosen.names) > 1 and not chosen.is_live:
        for _ in chosen.open_each([]):  # what is wrong with the last is said before any is learned
            pass


@contextmanager
def _steps(lesson: "Lesson", sources: "Sources", cluster: str | None) -> Iterator[Iterator[None]]:
    """Yield what teaches one after the other of all that was found, here or on a cluster."""
    if cluster is None:
        yield lesson.run(sources)
        return
    from newfound.recognition.cluster import connected
    from newfound.recognition.remote import teach as teach_there

    logging.disable(logging.CRITICAL)  # workers come and go; what matters of it is said
    try:
        with connected(cluster) as client:
            yield teach_there(lesson, sources, client)
    except ClusterError:
        lesson.save()
        raise
    finally:
        logging.disable(logging.NOTSET)


def _teach(
    lesson: "Lesson",
    steps: Iterator[None],
    report: "Callable[[Lesson, float], Iterator[str]]",
    change: Change,
    console: Console,
    most: int | None = None,
) -> int:
    recogniser, start = lesson.recogniser, monotonic()
    try:
        for _ in steps:
            pass
        if lesson.taught:
            _warn_if_wide(recogniser.knowledge.width or 0, console)
        lesson.finish()
    except MemoryError as error:
        advice = "fewer features take less, and so does a new model with --no-class-sums"
        raise MemoryError(f"{error or 'too much to hold'}; {advice}") from error
    except KeyboardInterrupt:
        return _interrupted(lesson, console)
    for line in report(lesson, monotonic() - start):
        console.info(line)
    tell_problems(lesson.problems, console, most)
    if recogniser.is_taught:
        console.info(f"{change.named} knows {summary(recogniser)}.")
        if doubt := doubts(recogniser):
            console.info(doubt)
    return exit_code(lesson.problems)


def _report(lesson: "Lesson", seconds: float) -> Iterator[str]:
    yield f"Learned {plural(lesson.taught, 'image')} in {seconds:.1f} s."
    if lesson.known:
        yield f"Skipped {lesson.known} that were taught already (--again teaches them)."


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
