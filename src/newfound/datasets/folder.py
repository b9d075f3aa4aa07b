"""Labelled images in folders: one folder a class."""

import os
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from newfound.common.errors import InputError

# By the ends of their names, files are taken for images; whether they are is seen when they are
# read.
SUFFIXES = frozenset(
    f".{suffix}"
    for suffix in (
        *("jpg", "jpeg", "jpe", "jfif", "mpo", "png", "apng", "webp", "gif", "bmp"),
        *("tif", "tiff", "ppm", "pgm", "pbm", "avif", "heic", "heif"),
    )
)


class Listing(NamedTuple):
    """Images found, the label of each, and how many other files were passed over, and why."""

    files: list[Path]
    labels: list[str]
    ignored: Counter[str]


def folder(root: str | os.PathLike[str], labels: Literal["first", "path"] = "first") -> Listing:
    """List the images in folders below `root`, one folder a class.

    Hidden files, files that are not named like images, and images that are in no folder of their
    own are passed over, and counted. Links are followed, but never in a circle.

    Parameters
    ----------
    root : path
    labels : "first" or "path", default="first"
        Whether an image in `root/a/b` is labelled "a" or "a/b".

    Returns
    -------
    Listing
        Sorted by path.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     for name in ("mug/1.jpg", "mug/blue/2.jpg", "cup/3.png", "cup/notes.txt"):
    ...         path = Path(root, name)
    ...         path.parent.mkdir(parents=True, exist_ok=True)
    ...         path.touch()
    ...     first, whole = folder(root), folder(root, labels="path")
    >>> first.labels, whole.labels
    (['cup', 'mug', 'mug'], ['cup', 'mug', 'mug/blue'])
    >>> first.ignored
    Counter({'not images': 1})
    """
    if labels not in ("first", "path"):
        raise InputError(f"labels must be 'first' or 'path', got {labels!r}")
    root, ignored = Path(root), Counter[str]()
    files, names = [], []
    for path in images_below(root, ignored):
        *parents, _ = path.relative_to(root).parts
        if not parents:
            ignored["in no folder of a class"] += 1
            continue
        files.append(path)
        names.append(label_of(parents, labels))
    return Listing(files, names, ignored)


def label_of(parents: Sequence[str], labels: Literal["first", "path"]) -> str:
    """Return the label of an image that lies in these folders.

    >>> label_of(["a", "b"], "first"), label_of(["a", "b"], "path")
    ('a', 'a/b')
    """
    label = parents[0] if labels == "first" else "/".join(parents)
    # The same name, whichever way a file system writes its accents.
    return unicodedata.normalize("NFC", label)


def images_below(root: Path, ignored: Counter[str]) -> Iterator[Path]:
    """Yield files named like images in `root` and its folders, sorted; count all others."""
    yield from _walk(root, set(), ignored, is_root=True)


def _walk(
    folder: Path, seen: set[tuple[int, int]], ignored: Counter[str], is_root: bool = False
) -> Iterator[Path]:
    """Yield the images below a folder, each folder once, by whatever links it can be reached."""
    status = folder.stat()
    identity = status.st_dev, status.st_ino
    if identity in seen:
        ignored["folders linked again"] += 1
        return
    seen.add(identity)
    try:
        paths = sorted(folder.iterdir())
    except PermissionError:
        yield folder / "*"  # for whoever reads images to complain of
        return
    for path in paths:
        if path.name.startswith("."):
            ignored["hidden"] += 1
        elif is_folder(path):
            # Two classes may share a folder.
            yield from _walk(path, {identity} if is_root else seen, ignored)
        elif path.suffix.lower() not in SUFFIXES:
            ignored["not images"] += 1
        else:
            yield path


# Tells whether a path is a folder. `Path.is_dir` would raise an error of a name that is too long,
# and in a folder that may not be entered.
is_folder = os.path.isdir
