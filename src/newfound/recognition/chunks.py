"""What a worker of a cluster does: look at the images of a chunk, and sum what was seen in several.

All of it is pure: done again on another worker, because one was lost, it comes to the same bits.
"""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import ClusterError, NewfoundError
from newfound.common.files import DIGEST_BYTES
from newfound.recognition.recogniser import Recogniser
from newfound.recognition.sources import ImageAddress, ImageFile

if TYPE_CHECKING:
    from newfound.features.extractor import Extractor

# Threads that read from addresses at once: what is far away is waited for.
READERS = 8


def version() -> str:
    """Return which newfound this is."""
    return str(import_module("newfound").__version__)  # by name: it stands above all rooms


@dataclass(frozen=True)
class Recipe:
    """How to make an extractor on a worker, and of which newfound."""

    pickled: bytes
    version: str = field(default_factory=version)


@dataclass(frozen=True)
class Chunk:
    """Images to look at, with the labels of the model."""

    images: list[ImageFile | ImageAddress]
    remembered: list[Any]  # labels of which a worker is told what was taught already


class Seen(NamedTuple):
    """What became of an image."""

    digest: bytes
    vector: NDArray[np.float32] | None  # None: unreadable, or taught already
    problem: str | None


class Record(NamedTuple):
    """The same without the vector, which stays with the workers."""

    digest: bytes
    has_vector: bool
    problem: str | None


class Choice(NamedTuple):
    """An image that is to be learned."""

    chunk: int
    place: int  # in its chunk
    label: Any
    digest: bytes
    name: str


def remembered(digests: bytes) -> frozenset[bytes]:
    """Return the digests that stand one after the other.

    >>> len(remembered(b"0" * 16 + b"1" * 16))
    2
    """
    starts = range(0, len(digests), DIGEST_BYTES)
    return frozenset(digests[start : start + DIGEST_BYTES] for start in starts)


def look(recipe: Recipe, chunk: Chunk, *taught: frozenset[bytes]) -> list[Seen]:
    """Read the images of a chunk, and turn those into vectors that were not taught already.

    Parameters
    ----------
    recipe : Recipe
    chunk : Chunk
    *taught : set of digests
        What was taught under each of the labels in `chunk.remembered`.

    Returns
    -------
    list of Seen
        In order.

    Raises
    ------
    ClusterError
        If this worker cannot look at images, whatever they are.

    Examples
    --------
    >>> from newfound.features import Pixels
    >>> chunk = Chunk([ImageFile("no such file.jpg", "mug")], [])
    >>> look(Recipe(pickle.dumps(Pixels(size=4))), chunk)
    [Seen(digest=b'', vector=None, problem='there is no such file')]
    """
    known = dict(zip(chunk.remembered, taught, strict=True))
    is_far = any(isinstance(image, ImageAddress) for image in chunk.images)
    with _naming_worker():
        extractor = _extractor(recipe)
        stream = extractor.stream(
            chunk.images,  # type: ignore[arg-type]  # addresses read themselves
            lambda image, digest: digest not in known.get(image.label, ()),
            threads=READERS if is_far else 1,
        )
        return [
            Seen(digest, row, None if problem is None else str(problem))
            for _, digest, row, problem in stream
        ]


def records_of(seen: list[Seen]) -> list[Record]:
    """Return all but the vectors.

    >>> records_of([Seen(b"1", np.zeros(4, np.float32), None)])
    [Record(digest=b'1', has_vector=True, problem=None)]
    """
    return [Record(each.digest, each.vector is not None, each.problem) for each in seen]


def add_up(
    blank: Recogniser, recipe: Recipe, choices: list[Choice], *seen: list[Seen]
) -> Recogniser:
    """Learn the images that were chosen among those of several chunks, and no others.

    Parameters
    ----------
    blank : Recogniser
        With the parameters of the one that all is for.
    recipe : Recipe
    choices : list of Choice
        Which images of several chunks are to be learned together.
    *seen : list of Seen
        Of each chunk.

    Returns
    -------
    Recogniser
        To be merged.

    Raises
    ------
    ClusterError
        If an image, looked at once more because a worker was lost, is no longer what it was.
    """
    with _naming_worker():
        vectors = []
        for chunk, place, _, digest, name in choices:
            found = seen[chunk][place]
            if found.vector is None or found.digest != digest:
                raise ClusterError(f"{name} changed while it was being taught: run it again")
            vectors.append(found.vector)
        labels = [choice.label for choice in choices]
        digests = [choice.digest for choice in choices]
        identity = _extractor(recipe).identity
        return blank.apart(np.stack(vectors), labels, digests, identity)


@lru_cache(maxsize=1)
def _extractor(recipe: Recipe) -> "Extractor":
    """Return the extractor, which a process makes once."""
    if recipe.version != version():
        raise ClusterError(
            f"newfound {version()} is there, but newfound {recipe.version} here: "
            "use the same on both"
        )
    made: Extractor = pickle.loads(recipe.pickled)
    return made


@contextmanager
def _naming_worker() -> Iterator[None]:
    """Let what goes wrong be said with the address of the worker on which it did."""
    try:
        yield
    except Exception as error:
        known = isinstance(error, NewfoundError | ModuleNotFoundError | OSError)
        said = str(error) if known else f"{type(error).__name__}: {error}"
        raise ClusterError(f"worker {_worker()}: {said}") from error


def _worker() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return "here"
