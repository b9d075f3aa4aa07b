"""What a worker of a cluster does: look at the images of a chunk.

It is pure: done again on another worker, because one was lost, it comes to the same bits.
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
