"""From what a user names to images and vectors: files, folders, npz files, images in memory."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError, UnreadableImageError
from newfound.common.files import digest_of
from newfound.datasets import folder, read_vectors
from newfound.datasets.addresses import (
    RemoteImage,
    images_at,
    is_address,
    is_folder_at,
    local_path,
    name_at,
    read_address,
)
from newfound.datasets.folder import images_below, is_folder, label_of
from newfound.datasets.vectors_file import VectorsFile, most_unpacked
from newfound.features.identity import Identity
from newfound.sums.labels import as_labels
from newfound.sums.rows import LARGEST_SQUARE

if TYPE_CHECKING:
    from PIL.Image import Image

    from newfound.features.extractor import Extractor
    from newfound.features.images import Source

# What `folder` calls images that lie beside the folders of classes, and what they are called here.
IN_NO_CLASS, BESIDE = "in no folder of a class", "beside the folders of classes in"
# What `folder` says of several, said of one.
ONE = {"folders linked again": "folder linked again", "not images": "not an image"}
# A vector must be so small that squares do not overflow if so many like it are taken at once.
MOST_AT_ONCE = 1e6
# Given the label, digest and nth of an example, says whether its vector is needed.
Wanted = Callable[[Any, bytes, int], bool]


class NoLabelError(InputError):
    """Something is to be taught, and neither a folder nor anybody says what it shows."""


class Problem(NamedTuple):
    """Something that could not be used, and why."""

    name: str
    reason: str


class ImageFile(NamedTuple):
    """An image in a file, and what it is said to show, if anything is."""

    path: Path
    label: Any = None

    def __fspath__(self) -> str:
        return str(self.path)


class ImageAddress(NamedTuple):
    """An image at an address that fsspec reads, and what it is said to show, if anything is."""

    path: str
    label: Any = None

    def read(self) -> bytes:
        """Return the bytes of its file, or raise UnreadableImageError."""
        return read_address(self.path)


class ImageInMemory(NamedTuple):
    """The bytes of an image's file, or an image in RGB."""

    name: str
    label: Any
    image: "Source"
    digest: bytes


class Example(NamedTuple):
    """What became of an image or a vector on its way in."""

    name: str
    label: Any
    digest: bytes
    vector: NDArray[np.floating] | None  # shape (d,); None: unreadable, or not wanted
    problem: str | None
    nth: int = 1  # of equal vectors in one file that no image is known of: which of them
    of_image: bool = True  # whether the digest is an image's; otherwise it is of the numbers
    extractor: Identity | None = None  # what made the vector, where that is known
    thumbnail: bytes | None = None  # a small JPEG, of what is in no file


class NewExample(NamedTuple):
    """A vector on its way into a model, or out of one, and what it is known by."""

    vector: NDArray[np.floating]  # shape (d,)
    digest: bytes
    extractor: Identity | None = None  # what made the vector, where that is known
    source: str = ""  # where it came from, in words
    thumbnail: bytes | None = None  # a small JPEG


class Sources(NamedTuple):
    """All that a user names."""

    need_labels: bool  # whether an example without a label is of no use
    images: list[ImageFile | ImageAddress | ImageInMemory]
    vectors: list[tuple[str, VectorsFile]]  # with the names of the files
    passed_over: Counter[str]  # files that are not images, and the like, by reason
    problems: list[Problem]

    def __len__(self) -> int:
        vectors = sum(len(part.files) for _, part in self.vectors)
        return len(self.images) + vectors + len(self.problems)

    @property
    def extractors(self) -> list[Identity]:
        """The extractors of the vectors, where they say so."""
        made = (part.extractor for _, part in self.vectors)
        return [identity for identity in made if identity is not None]

    @property
    def labels(self) -> list[Any]:
        """The labels there are, each once."""
        of_images = [image.label for image in self.images]
        of_vectors = [label for _, part in self.vectors for label in part.labels or ()]
        return list(
            dict.fromkeys(each for each in of_images + of_vectors if each not in ("", None))
        )

    @property
    def widths(self) -> set[int]:
        """Numbers of features that the vectors have."""
        return {part.vectors.shape[1] for _, part in self.vectors}


def find(
    inputs: "Iterable[Source]",
    label: Any = None,
    labels: Literal["first", "path"] = "first",
    need_labels: bool = True,
) -> Sources:
    """Find the images and vectors that are named.

    Parameters
    ----------
    inputs : iterable of paths, bytes of image files, PIL images or uint8 arrays
        Paths of images, folders, or npz files of vectors; addresses of images or folders that
        fsspec reads, such as "s3://bucket/photos".
    label : str, bool or int, optional
        What all of them show. Otherwise the folders tell, or the file of vectors does. A folder
        of images that has no folders of images is a class itself.
    labels : "first" or "path", default="first"
        Which part of a path below a folder is the label.
    need_labels : bool, default=True
        Whether all must have one.

    Returns
    -------
    Sources

    Raises
    ------
    NoLabelError
        If something needs a label and has none.
    InputError
        If nothing is there, or a label cannot be one.

    Examples
    --------
    >>> found = find([np.zeros((8, 8), dtype=np.uint8), "no such file.jpg"], "night")
    >>> [image.label for image in found.images]
    ['night', 'night']
    """
    most_unpacked()  # if it is set wrongly, no file is to blame
    if label == "":
        raise InputError("a class needs a name")
    if label is not None:
        as_labels([label], "label")
    found = Sources(need_labels, [], [], Counter(), [])
    for number, given in enumerate(inputs):
        if not isinstance(given, str | os.PathLike):
            _from_memory(found, given, f"image {number}", label)
        elif not os.fspath(given):
            raise InputError("an empty name is no image, and no folder of images")
        elif is_address(os.fspath(given)):
            _from_address(found, os.fspath(given), label, labels)
        else:
            _from_path(found, Path(given), label, labels)
    if not len(found):
        counted = describe(found.passed_over)
        raise InputError(f"no images there{counted and f' (passed over: {counted})'}")
    return found


def as_list(images: Any) -> tuple[list[Any], bool]:
    """Return images as a list, and whether there was a single one, which is no list."""
    is_one = isinstance(images, str | bytes | os.PathLike) or (
        images.ndim < 4 if isinstance(images, np.ndarray) else hasattr(images, "tobytes")
    )
    if not is_one and not isinstance(images, Iterable):
        raise InputError(f"not an image, and no images, but a {type(images).__name__}")
    return ([images] if is_one else list(images)), is_one


def describe(passed_over: Counter[str], advice: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return how many files were passed over for each reason, in words.

    Parameters
    ----------
    passed_over : Counter of reasons
    advice : mapping, optional
        What to add to reasons that begin so.

    Returns
    -------
    str

    Examples
    --------
    >>> describe(Counter({"hidden": 2, "not images": 1}))
    '2 hidden, 1 not an image'
    """
    parts = []
    for why, n in sorted(passed_over.items()):
        more = [f" ({hint})" for start, hint in advice.items() if why.startswith(start)]
        parts.append(f"{n} {ONE.get(why, why) if n == 1 else why}{''.join(more)}")
    return ", ".join(parts)


def _needed(found: Sources, label: Any, given: Any) -> Any:
    if label is None and found.need_labels:
        raise NoLabelError(f"{given} is not a folder, so it needs a label")
    return label


def _from_path(found: Sources, path: Path, label: Any, labels: Literal["first", "path"]) -> None:
    if is_folder(path):
        _from_folder(found, path, label, labels)
    elif path.suffix.lower() == ".npz":
        _from_vectors(found, str(path), label)
    else:
        found.images.append(ImageFile(path, _needed(found, label, path)))


def _from_address(
    found: Sources, address: str, label: Any, labels: Literal["first", "path"]
) -> None:
    if (path := local_path(address)) is not None:
        _from_path(found, path, label, labels)
        return
    if name_at(address).lower().endswith(".npz"):
        found.problems.append(Problem(address, "files of vectors are read from paths only"))
        return
    if not is_folder_at(address):
        found.images.append(ImageAddress(address, _needed(found, label, address)))
        return
    below = list(images_at(address, found.passed_over))
    if label is None and found.need_labels:
        found.images.extend(_in_classes(found, address, below, labels))
    else:
        found.images.extend(ImageAddress(each.address, label) for each in below)


def _in_classes(
    found: Sources, address: str, below: list[RemoteImage], labels: Literal["first", "path"]
) -> Iterator[ImageAddress]:
    """Yield images below an address with the labels that their folders tell."""
    inside = [each for each in below if each.parents]
    if not inside:
        name = name_at(address)
        if below and not name:
            raise NoLabelError(f"{address} has no name to call a class by, so it needs a label")
        inside = [RemoteImage(each.address, (name,)) for each in below]
    elif len(inside) < len(below):
        found.passed_over[f"{BESIDE} {address}"] += len(below) - len(inside)
    for each in inside:
        yield ImageAddress(each.address, label_of(each.parents, labels))


def _from_folder(found: Sources, path: Path, label: Any, labels: Literal["first", "path"]) -> None:
    if label is not None or not found.need_labels:
        below = images_below(path, found.passed_over)
        found.images.extend(ImageFile(file, label) for file in below)
        return
    listing = folder(path, labels)
    found.images.extend(map(ImageFile, listing.files, listing.labels))
    beside = listing.ignored.pop(IN_NO_CLASS, 0)
    found.passed_over.update(listing.ignored)
    if beside and listing.files:
        found.passed_over[f"{BESIDE} {path}"] += beside
    elif beside:
        name = _name_of(path)
        found.images.extend(ImageFile(file, name) for file in images_below(path, Counter()))


def _name_of(folder: Path) -> str:
    """Return what a folder is called, also one named "." or ".."."""
    name = folder.name if folder.name not in ("", "..") else Path(os.path.realpath(folder)).name
    if not name:
        raise NoLabelError(f"{folder} has no name to call a class by, so it needs a label")
    return name


def _from_vectors(found: Sources, name: str, label: Any) -> None:
    try:
        part = read_vectors(name)
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) else None
        found.problems.append(Problem(name, words or str(error).removeprefix(f"{name}: ")))
        return
    if label is not None:
        part = part._replace(labels=[label] * len(part.files))
    if part.labels is None and found.need_labels:
        raise NoLabelError(f"{name} has no labels, so it needs one")
    found.vectors.append((name, part))


def _from_memory(found: Sources, image: "Source", name: str, label: Any) -> None:
    from newfound.features.images import as_rgb

    label = _needed(found, label, name)
    if isinstance(image, bytes):
        found.images.append(ImageInMemory(name, label, image, digest_of(image)))
        return
    try:
        image = as_rgb(image)
    except UnreadableImageError as error:
        found.problems.append(Problem(name, str(error)))
        return
    found.images.append(ImageInMemory(name, label, image, digest_of_pixels(image)))


def digest_of_pixels(image: "Image") -> bytes:
    """Return what an image in RGB is known by that is in no file.

    >>> from PIL import Image
    >>> digest_of_pixels(Image.new("RGB", (2, 1))) == digest_of_pixels(Image.new("RGB", (1, 2)))
    False
    """
    return digest_of(f"RGB {image.size} ".encode() + image.tobytes())


def read(
    found: Sources, extractor: "Extractor | None", wanted: Wanted | None = None
) -> Iterator[Example]:
    """Yield an example for each vector and image, in order.

    Parameters
    ----------
    found : Sources
    extractor : Extractor, optional
        Turns the images into vectors; needed if there are any.
    wanted : callable, optional
        Says whether a vector is needed. It is called in other threads.
    """
    for problem in found.problems:
        yield Example(problem.name, None, b"", None, problem.reason)
    for file, part in found.vectors:
        yield from _vectors(file, part, wanted, found.need_labels)
    if extractor is None:
        return
    for in_memory, group in groupby(found.images, lambda image: isinstance(image, ImageInMemory)):
        yield from (_images if in_memory else _files)(list(group), extractor, wanted)


def _vectors(
    file: str, part: VectorsFile, wanted: Wanted | None, need_labels: bool
) -> Iterator[Example]:
    labels: Sequence[Any] = part.labels or [None] * len(part.files)
    copies = Counter[tuple[Any, bytes]]()
    rows = zip(part.files, labels, part.digests, np.asarray(part.vectors), strict=True)
    for number, (name, label, digest, vector) in enumerate(rows):
        mark = digest or digest_of(vector.tobytes())
        if not digest:  # equal photos are one photo, but equal measurements are several
            copies[label, mark] += 1
        nth = copies.get((label, mark), 1)
        empty = need_labels and (label is None or label == "")
        problem = "a label that is empty" if empty else _problem(vector)
        if problem is not None:
            where = f"{file}, row {number}" + ("" if name == f"row {number}" else f" ({name})")
            yield Example(where, label, mark, None, problem)
            continue
        needed = wanted is None or wanted(label, mark, nth)
        row = vector if needed else None
        yield Example(name, label, mark, row, None, nth, bool(digest), part.extractor)


def _problem(vector: NDArray[np.floating]) -> str | None:
    """Return why a vector cannot be learned, if it cannot."""
    numbers = np.asarray(vector, dtype=np.float64)
    if np.vdot(numbers, numbers) < LARGEST_SQUARE / MOST_AT_ONCE:
        return None
    if not np.isfinite(numbers).all():
        return "a vector with numbers that are not finite"
    largest = np.abs(numbers).max()
    return f"a vector with numbers up to {largest:.1e}, whose squares overflow: scale them first"


def _files(files: list[Any], extractor: "Extractor", wanted: Wanted | None) -> Iterator[Example]:
    ask = None if wanted is None else (lambda file, digest: wanted(file.label, digest, 1))
    for file, digest, vector, problem in extractor.stream(files, ask):
        yield _seen(str(file.path), file.label, digest, vector, problem, extractor)


def _images(images: list[Any], extractor: "Extractor", wanted: Wanted | None) -> Iterator[Example]:
    needed = [wanted is None or wanted(each.label, each.digest, 1) for each in images]
    pictures = [each.image for each, is_needed in zip(images, needed, strict=True) if is_needed]
    stream = extractor.stream(pictures)
    for each, is_needed in zip(images, needed, strict=True):
        _, _, vector, problem = next(stream) if is_needed else (None, None, None, None)
        yield _seen(each.name, each.label, each.digest, vector, problem, extractor)


def _seen(
    name: str, label: Any, digest: bytes, vector: Any, problem: Any, extractor: "Extractor"
) -> Example:
    reason = None if problem is None else str(problem)
    return Example(name, label, digest, vector, reason, extractor=extractor.identity)


def blocks(
    examples: Iterable[Example], problems: list[Problem], size: int = 64
) -> Iterator[list[Example]]:
    """Yield examples that have a vector, some at a time; put the others in `problems`."""
    block: list[Example] = []
    for example in examples:
        if example.problem is None:
            block.append(example)
        else:
            problems.append(Problem(example.name, example.problem))
        if len(block) == size:
            yield block
            block = []
    if block:
        yield block


def stack(examples: Sequence[Example | NewExample]) -> tuple[NDArray[np.floating], Identity | None]:
    """Return the vectors of examples, which all have one, (m, d), and what made them."""
    made = (example.extractor for example in examples if example.extractor is not None)
    rows = [example.vector for example in examples if example.vector is not None]
    return np.stack(rows), next(made, None)
