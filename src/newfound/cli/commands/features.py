"""`newfound features`: turn images into vectors once, to learn them many times."""

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.console import Console, exit_code, plural
from newfound.cli.inputs import files_of, find, looked_at, tell_problems, use_extractor
from newfound.cli.option_kinds import output_to
from newfound.cli.options import As, ExtractorName, Force, Images, LabelsFrom, Quiet
from newfound.cli.outputs import check_output, check_replaced
from newfound.common.errors import InputError
from newfound.recognition.locking import name_in_errors

if TYPE_CHECKING:
    from newfound.recognition.sources import Example, Problem

Output = Annotated[Path, output_to("Write the vectors to this .npz file.")]


def features(
    images: Images,
    output: Output,
    label: As = None,
    labels: LabelsFrom = "first",
    extractor: ExtractorName = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Turn images into vectors and save them.

    \b
    newfound features photos/ -o vectors.npz
    newfound teach kitchen.newfound vectors.npz
    newfound features photos/ -o small.npz --extractor pixels:size=8

    The file holds the vectors, their labels, the names and digests of the images, and the name of
    the extractor; numpy.load reads it. Teaching the file equals teaching the images, without
    running the extractor again. If any of the vectors has no digest, the file holds none: equal
    rows then count as several examples, where equal images would count as one.
    """
    check_output(output, ".npz")
    from newfound.recognition.recogniser import Recogniser
    from newfound.recognition.sources import blocks

    console = Console(quiet)
    has_classes = label is not None or any(Path(name).is_dir() for name in images)
    sources = find(images, label, labels, console, need_labels=has_classes)
    check_replaced(output, files_of(images, sources), force)
    recogniser = Recogniser()
    use_extractor(recogniser, extractor, sources)
    problems: list[Problem] = []
    examples = looked_at(recogniser, sources, console)
    usable = [example for block in blocks(examples, problems) for example in block]
    tell_problems(problems, console)
    if not usable:
        console.fail("No images there.")
    _write(output, usable, console)
    raise typer.Exit(exit_code(problems))


def _write(output: Path, examples: "list[Example]", console: Console) -> None:
    """Write vectors; with digests if all are of images, for a file has all of them or none."""
    from newfound.datasets import write_vectors
    from newfound.recognition.sources import stack

    names = [str(example.label) for example in examples if example.label is not None]
    if 0 < len(names) < len(examples):
        raise InputError("some of these have labels and others have none: give --as, or part them")
    vectors, made_by = stack(examples)
    labels = [unicodedata.normalize("NFC", name) for name in names]
    of_images = all(example.of_image for example in examples)
    digests = [example.digest if of_images else b"" for example in examples]
    files = [example.name for example in examples]
    with name_in_errors(output):
        write_vectors(output, vectors, labels or None, files, digests, made_by)
    extractor = made_by or "an extractor that is not known"
    console.info(f"{plural(len(examples), 'vector')} of {extractor} in {output}")
