"""From what stands on the command line to images and vectors, with labels."""

import os
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import typer

from newfound.cli.console import Console, printable
from newfound.cli.errors import words
from newfound.cli.models import extractor_for
from newfound.common.errors import InvalidInputError
from newfound.common.files import digest_of
from newfound.common.limits import LONGEST_LABEL

if TYPE_CHECKING:
    from newfound.datasets.vectors_file import VectorsFile
    from newfound.features import Extractor
    from newfound.features.vectors import Identity, Vectors
    from newfound.recognition.recogniser import Recogniser

# What `folder` calls images that lie beside the folders of classes.
IN_NO_CLASS = "in no folder of a class"
# What `folder` says of several, said of one.
ONE = {"folders linked again": "folder linked again", "not images": "not an image"}
# A vector must be so small that squares do not overflow if so many like it are taken at once.
MOST_AT_ONCE = 1e6
# Given the label, digest and nth of a row, says whether it is to be learned.
Wanted = Callable[[str | None, bytes, int], bool]


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
    nth: int = 1  # of equal vectors in one file that no image is known of: which of them
    of_image: bool = True  # whether the digest is an image's; otherwise it is of the numbers


class Gathered(NamedTuple):
    """All that the command line names."""

    images: list[Item]
    vectors: "list[tuple[str, VectorsFile]]"  # with the names of the files
    ignored: Counter[str]
    problems: list[Row]  # files of vectors that are none
    need_labels: bool  # whether an example without a label is of no use

    def __len__(self) -> int:
        vectors = sum(len(part.files) for _, part in self.vectors)
        return len(self.images) + vectors + len(self.problems)

    @property
    def extractors(self) -> "list[Identity]":
        """The extractors of the vectors, where they say so."""
        made = (part.vectors.extractor for _, part in self.vectors)
        return [extractor for extractor in made if extractor]


def gather(
    inputs: list[str], label: str | None, by: Literal["first", "path"], need_labels: bool
) -> Gathered:
    """Find the images and vectors that inputs name: files, folders, npz files, "-" for a list.

    Parameters
    ----------
    inputs : list of str
    label : str, optional
        What all of them show. Otherwise the folders tell, or the file of vectors does. A folder
        of images that has no folders of images is a class itself.
    by : "first" or "path"
        Which part of a path below a folder is the label.
    need_labels : bool
        Whether all must have one.
    """
    from newfound.datasets import folder, read_vectors
    from newfound.datasets.folder import images_below, is_folder
    from newfound.datasets.vectors_file import most_unpacked

    most_unpacked()  # if it is set wrongly, no file is to blame
    if label is not None:
        check_label(label)
    images: list[Item] = []
    vectors: list[tuple[str, VectorsFile]] = []
    ignored = Counter[str]()
    problems: list[Row] = []
    for name in _with_list(inputs):
        path = Path(name)
        if is_folder(path) and (label is not None or not need_labels):
            images += [Item(found, label) for found in images_below(path, ignored)]
        elif is_folder(path):
            listing = folder(path, by)
            for each in set(listing.labels):
                check_label(each)
            images += map(Item, listing.files, listing.labels)
            beside = listing.ignored.pop(IN_NO_CLASS, 0)
            ignored += listing.ignored
            if beside and listing.files:
                ignored[f"beside the folders of classes in {printable(path)} (see --as)"] += beside
            elif beside:
                images += [Item(found, _name_of(path)) for found in images_below(path, Counter())]
        elif path.suffix.lower() == ".npz":
            try:
                part = read_vectors(path)
            except (ValueError, OSError) as error:
                problems.append(Row(name, label, b"", None, _reason(error, name)))
                continue
            if label is not None:
                part = part._replace(labels=[label] * len(part.files))
            if part.labels is None and need_labels:
                raise typer.BadParameter(
                    f"the vectors in {printable(path)} have no labels: give --as"
                )
            vectors.append((name, part))
        elif label is None and need_labels:
            raise typer.BadParameter(
                f"{printable(path)} is not a folder: say what it shows with --as"
            )
        else:
            images.append(Item(path, label))
    found = Gathered(images, vectors, ignored, problems, need_labels)
    if not len(found):
        advice = f" (passed over: {_counted(ignored)})" if ignored else ""
        raise typer.BadParameter(f"no images there{advice}")
    return found


def check_label(text: str) -> None:
    """End with wrong usage if a text cannot name a class."""
    if not text:
        raise typer.BadParameter("a class needs a name")
    longest = max(len(text), len(unicodedata.normalize("NFC", text)))
    if longest > LONGEST_LABEL:
        raise typer.BadParameter(
            f"a label of {longest} characters; a label may have {LONGEST_LABEL}"
        )


def _name_of(folder: Path) -> str:
    """Return what a folder is called, also one named "." or ".."."""
    name = folder.name if folder.name not in ("", "..") else Path(os.path.realpath(folder)).name
    if not name:
        raise typer.BadParameter(f"{folder} has no name to call a class by: give --as")
    return name


def rows_of(
    gathered: Gathered,
    recogniser: "Recogniser | None",
    extractor: str | None,
    wanted: Wanted | None = None,
) -> Iterator[Row]:
    """Yield a row for each vector and image, in order.

    Parameters
    ----------
    gathered : Gathered
    recogniser : Recogniser, optional
        The one they are for. Vectors that it cannot take are refused before any work.
    extractor : str, optional
        Name of the extractor for images. It is made if there are any.
    wanted : callable, optional
        Says whether the vector is; it is called in other threads.
    """
    from newfound.features.vectors import same_extractor

    known = None if recogniser is None else recogniser.model.extractor_
    whose = "some vectors are those" if known is None else "this model was taught vectors"
    for identity in gathered.extractors:
        known = same_extractor(known, identity, "there are vectors", whose)
    network = extractor_for(known, extractor) if gathered.images else None
    widths = {part.vectors.shape[1] for _, part in gathered.vectors}
    widths |= set() if network is None else {network.width}
    if len(widths) > 1:
        raise InvalidInputError(f"vectors of {' and of '.join(map(str, sorted(widths)))} features")
    if recogniser is not None and recogniser.is_taught:
        taught = recogniser.model.n_features_in_
        for width in widths - {taught}:
            raise InvalidInputError(
                f"vectors of {width} features, but this model was taught {taught}"
            )
    return _rows(gathered, network, wanted)


def _rows(
    gathered: Gathered,
    network: "Extractor | None",
    wanted: Wanted | None,
) -> Iterator[Row]:
    from newfound.features.vectors import Vectors

    yield from gathered.problems
    for file, part in gathered.vectors:
        yield from _vector_rows(file, part, wanted, gathered.need_labels)
    if network is None:
        return
    ask = None if wanted is None else (lambda item, digest: wanted(item.label, digest, 1))
    for item, digest, row, problem in network.stream(gathered.images, ask):
        vector = None if row is None else Vectors(row, network.identity)
        reason = None if problem is None else str(problem)
        yield Row(str(item.path), item.label, digest, vector, reason)


def _vector_rows(
    file: str, part: "VectorsFile", wanted: Wanted | None, need_labels: bool
) -> Iterator[Row]:
    labels: Sequence[str | None] = part.labels or [None] * len(part.files)
    copies = Counter[tuple[str | None, bytes]]()
    for number, (name, label, digest, vector) in enumerate(
        zip(part.files, labels, part.digests, part.vectors, strict=True)
    ):
        mark = digest or digest_of(vector.tobytes())
        if not digest:  # equal photos are one photo, but equal measurements are several
            copies[label, mark] += 1
        nth = copies.get((label, mark), 1)
        problem = "a label that is empty" if need_labels and not label else _problem(vector)
        if problem is not None:
            where = f"{file}, row {number}" + ("" if name == f"row {number}" else f" ({name})")
            yield Row(where, label, mark, None, problem)
        elif wanted is None or wanted(label, mark, nth):
            yield Row(name, label, mark, vector, None, nth, bool(digest))
        else:
            yield Row(name, label, mark, None, None, nth, bool(digest))


def _problem(vector: "Vectors") -> str | None:
    """Return why a vector cannot be learned, if it cannot."""
    import numpy as np

    from newfound.estimators.inputs import LARGEST_SQUARE

    numbers = np.asarray(vector, dtype=np.float64)
    if np.vdot(numbers, numbers) < LARGEST_SQUARE / MOST_AT_ONCE:
        return None
    if not np.isfinite(numbers).all():
        return "a vector with numbers that are not finite"
    largest = np.abs(numbers).max()
    return f"a vector with numbers up to {largest:.1e}, whose squares overflow: scale them first"


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

    from newfound.features.vectors import Vectors, made_by

    known = next(filter(None, (made_by(row.vector) for row in rows)), None)
    return Vectors(np.stack([np.asarray(row.vector) for row in rows]), known)


def _reason(error: Exception, name: str) -> str:
    """Return what is wrong with a file of vectors, without its name."""
    return (words(error) or str(error)).removeprefix(f"{name}: ")


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


def _counted(ignored: Counter[str]) -> str:
    """Return how many files were passed over for each reason, in words."""
    return ", ".join(
        f"{n} {ONE.get(why, why) if n == 1 else why}" for why, n in sorted(ignored.items())
    )


def tell_ignored(ignored: Counter[str], console: Console) -> None:
    """Say how many files were passed over, and why."""
    if ignored:
        console.info(f"Passed over: {_counted(ignored)}")


def tell_problems(problems: Sequence[Row], console: Console) -> None:
    """List what could not be used, and why."""
    if problems:
        console.error(f"{len(problems)} could not be used:")
    for row in problems:
        console.error(f"  {row.file}: {row.problem}")
