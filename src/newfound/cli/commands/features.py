"""`newfound features`: turn images into vectors once, to learn them many times."""

import unicodedata
from pathlib import Path
from typing import Annotated

import typer

from newfound.cli.console import DONE, FAILED, SOME_UNREADABLE, Console, plural, printable
from newfound.cli.errors import naming
from newfound.cli.gather import Row, gather, rows_of, stacked, tell_ignored, tell_problems
from newfound.cli.options import As, By, ExtractorName, Images, Quiet
from newfound.common.errors import InvalidInputError

Output = Annotated[
    Path, typer.Option("--output", "-o", help="Where to put the vectors: .npz", show_default=False)
]


def features(
    images: Images,
    output: Output,
    label: As = None,
    labels: By = "first",
    extractor: ExtractorName = None,
    quiet: Quiet = False,
) -> None:
    """Turn images into vectors and keep them in a file.

    \b
    newfound features photos/ -o vectors.npz
    newfound teach kitchen.newfound vectors.npz
    newfound features photos/ -o small.npz --extractor pixels:size=8

    The file holds vectors, labels, the names and digests of the images and the extractor, and
    numpy.load reads it. Teaching it is teaching the images, without looking at them again. If
    vectors without digests are among what it is made of, it has none: equal rows are then several
    examples, where equal images would be one.
    """
    if output.suffix.lower() != ".npz":
        raise typer.BadParameter(f"{printable(output)} does not end in .npz", param_hint="--output")
    if not output.parent.is_dir():
        raise typer.BadParameter(
            f"there is no folder {printable(output.parent)}", param_hint="--output"
        )
    console = Console(quiet)
    has_classes = label is not None or any(Path(name).is_dir() for name in images)
    gathered = gather(images, label, labels, need_labels=has_classes)
    tell_ignored(gathered.ignored, console)
    problems: list[Row] = []
    taken: list[Row] = []
    for row in console.progress(rows_of(gathered, None, extractor), len(gathered), "looking"):
        (taken if row.problem is None else problems).append(row)
    tell_problems(problems, console)
    if not taken:
        console.error("No images there.")
        raise typer.Exit(FAILED)
    _write(output, taken, console)
    raise typer.Exit(SOME_UNREADABLE if problems else DONE)


def _write(output: Path, rows: list[Row], console: Console) -> None:
    """Write rows; with digests if all are of images, for a file has all of them or none."""
    from newfound.datasets import write_vectors

    vectors, names = stacked(rows), [str(row.label) for row in rows if row.label is not None]
    if 0 < len(names) < len(rows):
        raise InvalidInputError(
            "some of these have labels and others have none: give --as, or part them"
        )
    labels = [unicodedata.normalize("NFC", name) for name in names]
    files, of_images = [row.file for row in rows], all(row.of_image for row in rows)
    digests = [row.digest if of_images else b"" for row in rows]
    with naming(output):
        write_vectors(output, vectors, labels or None, files, digests)
    extractor = vectors.extractor or "an extractor that is not known"
    console.info(f"{plural(len(rows), 'vector')} of {extractor} in {output}")
