"""Real features for the peers: Washington RGB-D where it is at hand, the digits elsewhere."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.datasets import digits, mnist, rgbd
from newfound.datasets.rgbd import Frames

DATA = Path(os.environ.get("NEWFOUND_DATA", "."))
Floats = NDArray[np.floating]


class Data(NamedTuple):
    """Rows to learn, in random order, and rows to test on."""

    name: str
    X: Floats
    y: NDArray[Any]
    X_test: Floats
    y_test: NDArray[Any]


def load(per_class: int, tests_per_class: int = 40) -> Data:
    """Return real features with at most so many examples of each class."""
    frames = washington()
    X: Floats
    y: NDArray[Any]
    if frames is not None:
        name, X, y = "Washington RGB-D, EfficientNet-Lite0", frames.X, frames.categories
        is_test = np.isin(frames.objects, list(frames.trials[0]))
    else:
        name, (X, y) = "digits", digits()
        is_test = np.random.default_rng(0).random(len(y)) < 0.3
    rng = np.random.default_rng(0)
    train = _sample(rng, y, ~is_test, per_class)
    test = _sample(rng, y, is_test, tests_per_class)
    return Data(name, X[train], y[train], X[test], y[test])


def _sample(rng: Any, y: NDArray[Any], allowed: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    chosen = [
        rng.permutation(np.flatnonzero((y == label) & allowed))[:most] for label in np.unique(y)
    ]
    return np.asarray(rng.permutation(np.concatenate(chosen)))


def washington() -> Frames | None:
    """Return all frames with the ten official trials, if `NEWFOUND_DATA` holds them."""
    if not (DATA / "washington-rgbd").is_dir():
        return None
    frames = rgbd()
    return frames._replace(X=frames.X.astype(np.float64))


def pixels() -> tuple[Floats, NDArray[Any], Floats, NDArray[Any]] | None:
    """Return MNIST: pixels in [-1, 1] and digits, to learn and to test, if it is at hand."""
    if not (DATA / "mnist").is_dir():
        return None
    data = mnist()
    X, X_test = (
        images.reshape(len(images), -1) / 127.5 - 1 for images in (data.images, data.test_images)
    )
    return X, data.labels.astype(np.int64), X_test, data.test_labels.astype(np.int64)


def tables() -> dict[str, tuple[Floats, NDArray[Any]]]:
    """Return rows and labels of each table of `NEWFOUND_DATA`, by name; none, if it has none."""
    found = {}
    for path in sorted((DATA / "tables").glob("*.npz")):
        with np.load(path) as table:
            found[path.stem] = table["X"], table["y"]
    return found
