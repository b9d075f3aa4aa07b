"""From what stands on the command line to images and vectors, with labels."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import typer

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

    def __len__(self) -> int:
        return len(self.images) + sum(len(part.files) for part in self.vectors)

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
    from newfound.datasets.folder import images_below

    images: list[Item] = []
    vectors: list[VectorsFile] = []
    ignored = Counter[str]()
    for name in _with_list(inputs):
        path = Path(name)
        if path.is_dir() and (label is not None or not need_labels):
            images += [Item(found, label) for found in images_below(path, ignored)]
        elif path.is_dir():
            listing = folder(path, by)
            images += map(Item, listing.files, listing.labels)
            ignored += listing.ignored
        elif path.suffix.lower() == ".npz":
            part = read_vectors(path)
            if label is not None:
                part = part._replace(labels=[label] * len(part.files))
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
    return Gathered(images, vectors, ignored)


def rows_of(
    gathered: Gathered,
    extractor: "Callable[[], Extractor]",
    wanted: Callable[[str | None, bytes], bool] | None = None,
) -> Iterator[Row]:
    """Yield a row for each image and vector, in order; the extractor is made if it is needed.

    `wanted`, given a label and a digest, says whether the vector is; it is called in other threads.
    """
    from newfound.vectors import Vectors

    for part in gathered.vectors:
        labels: Sequence[str | None] = part.labels or [None] * len(part.files)
        for name, label, digest, vector in zip(
            part.files, labels, part.digests, part.vectors, strict=True
        ):
            mark = digest or digest_of(vector.tobytes())
            is_wanted = wanted is None or wanted(label, mark)
            yield Row(name, label, mark, vector if is_wanted else None, None)
    if gathered.images:
        ask = None if wanted is None else (lambda item, digest: wanted(item.label, digest))
        network = extractor()
        for item, digest, row, problem in network.stream(gathered.images, ask):
            vector = None if row is None else Vectors(row, network.identity)
            reason = None if problem is None else str(problem)
            yield Row(str(item.path), item.label, digest, vector, reason)


def stacked(rows: Sequence[Row]) -> "Vectors":
    """Return the vectors of rows, which have one, shape (m, d)."""
    import numpy as np

    from newfound.vectors import Vectors, made_by

    extractors = [made_by(row.vector) for row in rows]
    known = next((extractor for extractor in extractors if extractor is not None), None)
    return Vectors(np.stack([np.asarray(row.vector) for row in rows]), known)


def _with_list(inputs: list[str]) -> Iterator[str]:
    """Yield inputs, with "-" replaced by the names on stdin: one a line, or ended by NULs."""
    for name in inputs:
        if name != "-":
            yield name
            continue
        data = sys.stdin.buffer.read()
        ends = b"\0" if b"\0" in data else b"\n"
        yield from (os.fsdecode(line) for line in data.replace(b"\r\n", b"\n").split(ends) if line)


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
