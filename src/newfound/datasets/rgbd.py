"""The RGB-D Object Dataset of the University of Washington: 300 objects of 51 categories."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.datasets.cached import cached_features
from newfound.datasets.origin import Origin

if TYPE_CHECKING:
    from newfound.features import Extractor

ORIGIN = Origin(
    name="Washington RGB-D",
    folder="washington-rgbd",
    address="https://rgbd-dataset.cs.washington.edu/",
    size="several GB (cropped images), and testinstance_ids.txt",
    licence="for research use, as its owners state (Lai, Bo, Ren and Fox, ICRA 2011)",
)
PACKED, CROPS, TRIALS = "efficientnet_lite0.npz", "rgbd-dataset", "testinstance_ids.txt"
_CROP = re.compile(r"(?P<object>(?P<category>.+)_\d+)_(?P<sequence>\d+)_(?P<number>\d+)_crop\.png")


class Frames(NamedTuple):
    """Features of frames, of which category and object each is, and the official trials."""

    X: NDArray[np.float32]  # shape (n, d)
    categories: NDArray[np.str_]  # shape (n,)
    objects: NDArray[np.str_]  # shape (n,), such as apple_1
    sequences: NDArray[np.int64]  # shape (n,): 1, 2 and 4 are of a camera 30, 45 and 60 degrees up
    trials: list[frozenset[str]]  # the objects that each trial leaves out for testing
    features: str  # what made them
    numbers: NDArray[np.int64]  # shape (n,): which frame of its sequence, of 30 a second


def rgbd(extractor: "Extractor | None" = None) -> Frames:
    """Return features of Washington RGB-D, with the ten official trials.

    Without an extractor, packed features are read, if they are there: `efficientnet_lite0.npz`,
    square-root coded in 8 bits, with the names of the frames. Otherwise the crops, in the
    data set's own folders `rgbd-dataset/apple/apple_1/apple_1_1_1_crop.png`, are looked at by the
    extractor (by default EfficientNet-Lite0 without roots, on the whole crop), once: its vectors
    are kept in the user's cache.

    Parameters
    ----------
    extractor : Extractor, optional

    Returns
    -------
    Frames

    Raises
    ------
    MissingDataError
        If it is not there; the message says how to get it.
    """
    for folder in ORIGIN.folders:
        if extractor is None and (folder / PACKED).is_file():
            with np.load(folder / PACKED, allow_pickle=False) as arrays:
                X = np.square(arrays["codes"].T / np.float32(255.0)) * np.float32(6.0)
                names = [str(name) for name in arrays["files"]]
            return _frames(np.ascontiguousarray(X), names, folder, "EfficientNet-Lite0, packed")
        if (folder / CROPS).is_dir():
            from newfound.features import EfficientNetLite0

            # As the packed ones: numbers as the network gives them.
            look = EfficientNetLite0(crop=None, root=False) if extractor is None else extractor
            paths = (folder / CROPS).rglob("*_crop.png")
            crops = sorted(path for path in paths if _CROP.fullmatch(path.name))
            X = cached_features("rgbd", folder, crops, look)
            return _frames(X, [path.name for path in crops], folder, str(look.identity))
    raise ORIGIN.missing(f"no {CROPS} folder with crops, and no packed features")


def _frames(X: NDArray[np.float32], names: list[str], folder: Path, features: str) -> Frames:
    matches = [_CROP.fullmatch(name) for name in names]
    if not (folder / TRIALS).is_file():
        raise ORIGIN.missing(f"{TRIALS} is not beside it")
    objects = np.array([match["object"] if match else "" for match in matches])
    categories = np.array([match["category"] if match else "" for match in matches])
    sequences = np.array([int(match["sequence"]) if match else 0 for match in matches])
    numbers = np.array([int(match["number"]) if match else 0 for match in matches])
    all_objects = set(objects.tolist())
    parts = (folder / TRIALS).read_text().split("trial")[1:]
    trials = [frozenset(set(part.split()) & all_objects) for part in parts]
    return Frames(X, categories, objects, sequences, trials, features, numbers)
