"""From what stands on the command line to images and vectors, with labels."""

import os
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import typer

from newfound.cli.models import extractor_for
from newfound.cli.talk import Talk, shown
from newfound.files import digest_of

if TYPE_CHECKING:
    from newfound.datasets.vectors_file import VectorsFile
    from newfound.features import Extractor
    from newfound.vectors import Identity, Vectors


class Item(NamedTuple):
    """An image, and what it is said to show, if anything is."""

    path: Path
    label: str | None

    def __fspath__(self) -> str:
        return str(self.path)


class Row(NamedTuple):
    """What became of an image or a vector on its way in."""

    file: str
    label: str | None
    digest: bytes
    vector: "Vectors | None"  # shape (d,); None: unreadable, or not wanted
    problem: str | None


class Gathered(NamedTuple):
    """All that the command line names."""

    images: list[Item]
    vectors: "list[VectorsFile]"
    ignored: Counter[str]
    problems: list[Row]  # files of vectors that are none

    def __len__(self) -> int:
        vectors = sum(len(part.files) for part in self.vectors)
        return len(self.images) + vectors + len(self.problems)

    @property
    def extractors(self) -> "list[Identity]":
        """The extractors of the vectors, where they say so."""
        return [part.vectors.extractor for part in self.vectors if part.vectors.extractor]


def gather(
    inputs: list[str], label: str | None, by: Literal["first", "path"], need_labels: bool
) -> Gathered:
    """Find the images and vectors that inputs name: files, folders, npz files, "-" for a list.

    Parameters
    ----------
    inputs : list of str
    label : str, optional
        What all of them show. Otherwise the folders tell, or the file of vectors does.
    by : "first" or "path"
        Which part of a path below a folder is the label.
    need_labels : bool
        Whether all must have one.
    """
    from newfound.datasets import folder, read_vectors
    from newfound.datasets.folder import images_below, is_folder

    label = None if label is None else label_from(label)
    images: list[Item] = []
    vectors: list[VectorsFile] = []
    ignored = Counter[str]()
    problems: list[Row] = []
    for name in _with_list(inputs):
        path = Path(name)
        if is_folder(path) and (label is not None or not need_labels):
            images += [Item(found, label) for found in images_below(path, ignored)]
        elif is_folder(path):
            listing = folder(path, by)
            images += map(Item, listing.files, listing.labels)
            ignored += listing.ignored
        elif path.suffix.lower() == ".npz":
            try:
                part = read_vectors(path)
            except (ValueError, OSError) as error:
                problems.append(Row(name, label, b"", None, _reason(error, name)))
                continue
            if label is not None:
                part = part._replace(labels=[label] * len(part.files))
            elif part.labels is not None:
                part = part._replace(labels=list(map(label_from, part.labels)))
            if part.labels is None and need_labels:
                raise typer.BadParameter(f"the vectors in {shown(path)} have no labels: give --as")
            vectors.append(part)
        elif label is None and need_labels:
            raise typer.BadParameter(
                f"{shown(path)} is not a folder with a folder for each class: "
                "say what it shows with --as"
            )
        else:
            images.append(Item(path, label))
    found = Gathered(images, vectors, ignored, problems)
    if not len(found):
        passed = ", ".join(f"{n} {why}" for why, n in sorted(ignored.items()))
        advice = f" (passed over: {passed})" if passed else ""
        if any("class" in why for why in ignored):
            advice += "; say with --as what they show"
        raise typer.BadParameter(f"no images there{advice}")
    return found


def label_from(text: str) -> str:
    """Return a label as folders have it too: the same, whichever way its accents are written."""
    if not text:
        raise typer.BadParameter("a class needs a name")
    return unicodedata.normalize("NFC", text)


def rows_of(
    gathered: Gathered,
    known: "Identity | None",
    extractor: str | None,
    wanted: Callable[[str | None, bytes], bool] | None = None,
) -> Iterator[Row]:
    """Yield a row for each vector and image, in order.

    Parameters
    ----------
    gathered : Gathered
    known : Identity, optional
        The extractor whose vectors are needed; those of others are refused before any work.
    extractor : str, optional
        Name of the extractor for images. It is made if there are any.
    wanted : callable, optional
        Given a label and a digest, says whether the vector is; it is called in other threads.
    """
    from newfound.vectors import same_extractor

    whose = "some vectors are those" if known is None else "this model was taught vectors"
    for identity in gathered.extractors:
        known = same_extractor(known, identity, "there are vectors", whose)
    network = extractor_for(known, extractor) if gathered.images else None
    widths = {part.vectors.shape[1] for part in gathered.vectors}
    widths |= set() if network is None else {network.width}
    if len(widths) > 1:
        raise ValueError(f"vectors of {' and of '.join(map(str, sorted(widths)))} features")
    return _rows(gathered, network, wanted)


def _rows(
    gathered: Gathered,
    network: "Extractor | None",
    wanted: Callable[[str | None, bytes], bool] | None,
) -> Iterator[Row]:
    import numpy as np

    from newfound.vectors import Vectors

    yield from gathered.problems
    for part in gathered.vectors:
        labels: Sequence[str | None] = part.labels or [None] * len(part.files)
        for name, label, digest, vector in zip(
            part.files, labels, part.digests, part.vectors, strict=True
        ):
            mark = digest or digest_of(vector.tobytes())
            if not np.isfinite(vector).all():
                yield Row(name, label, mark, None, "a vector with numbers that are not finite")
            elif wanted is None or wanted(label, mark):
                yield Row(name, label, mark, vector, None)
            else:
                yield Row(name, label, mark, None, None)
    if network is None:
        return
    ask = None if wanted is None else (lambda item, digest: wanted(item.label, digest))
    for item, digest, row, problem in network.stream(gathered.images, ask):
        vector = None if row is None else Vectors(row, network.identity)
        reason = None if problem is None else str(problem)
        yield Row(str(item.path), item.label, digest, vector, reason)


def blocks(rows: Iterator[Row], problems: list[Row], size: int = 64) -> Iterator[list[Row]]:
    """Yield rows that have a vector, some at a time; put the others in `problems`."""
    block: list[Row] = []
    for row in rows:
        (block if row.problem is None else problems).append(row)
        if len(block) == size:
            yield block
            block = []
    if block:
        yield block


def stacked(rows: Sequence[Row]) -> "Vectors":
    """Return the vectors of rows, which have one, shape (m, d)."""
    import numpy as np

    from newfound.vectors import Vectors, made_by

    known = next(filter(None, (made_by(row.vector) for row in rows)), None)
    return Vectors(np.stack([np.asarray(row.vector) for row in rows]), known)


def _reason(error: Exception, name: str) -> str:
    """Return what is wrong with a file of vectors, without its name."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.removeprefix(f"{name}: ")


def _with_list(inputs: list[str]) -> Iterator[str]:
    """Yield inputs, with "-" replaced by the names on stdin: one a line, or ended by NULs."""
    for name in inputs:
        if name != "-":
            yield name
            continue
        if sys.stdin is None:
            raise typer.BadParameter("there is no stdin to read a list from")
        data = sys.stdin.buffer.read()
        lines = data.split(b"\0") if b"\0" in data else data.replace(b"\r\n", b"\n").split(b"\n")
        yield from (os.fsdecode(line) for line in lines if line)


def tell_ignored(ignored: Counter[str], talk: Talk) -> None:
    """Say how many files were passed over, and why."""
    if ignored:
        talk.say("Passed over: " + ", ".join(f"{n} {why}" for why, n in sorted(ignored.items())))


def tell_problems(problems: Sequence[Row], talk: Talk) -> None:
    """List what could not be used, and why."""
    if problems:
        talk.complain(f"{len(problems)} could not be used:")
    for row in problems:
        talk.complain(f"  {shown(row.file)}: {shown(row.problem)}")
