"""Real features for the peers: Washington RGB-D where it is at hand, the digits elsewhere."""

import gzip
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.datasets import digits


class Data(NamedTuple):
    """Rows to learn, in random order, and rows to test on."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]


def load(per_class: int, tests_per_class: int = 40) -> Data:
    """Return real features with at most so many examples of each class."""
    folder = os.environ.get("NEWFOUND_DATA")
    packed = Path(folder or ".") / "washington-rgbd" / "efficientnet_lite0.npz"
    if packed.exists():
        name, (X, y, is_test) = "Washington RGB-D, EfficientNet-Lite0", _washington(packed)
    else:
        name, (X, y) = "digits", digits()
        is_test = np.random.default_rng(0).random(len(y)) < 0.3
    rng = np.random.default_rng(0)
    train = _sample(rng, y, ~is_test, per_class)
    test = _sample(rng, y, is_test, tests_per_class)
    return Data(name, X[train], y[train], X[test], y[test])


def _washington(packed: Path) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[np.bool_]]:
    """Features, categories, and whether the first official trial leaves the instance out."""
    with np.load(packed) as arrays:
        X, files = (arrays["codes"].T / 255.0) ** 2 * 6, arrays["files"]
    instances = [str(name).rsplit("_", 3)[0] for name in files]
    y = np.array([instance.rsplit("_", 1)[0] for instance in instances])
    text = (packed.parent / "testinstance_ids.txt").read_text().split("trial 2")[0]
    left_out = set(text.split())
    return X, y, np.array([instance in left_out for instance in instances])


def _sample(rng: Any, y: NDArray[Any], allowed: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    chosen = [
        rng.permutation(np.flatnonzero((y == label) & allowed))[:most] for label in np.unique(y)
    ]
    return np.asarray(rng.permutation(np.concatenate(chosen)))


class Frames(NamedTuple):
    """Washington RGB-D: features, categories, instances; and those that each trial leaves out."""

    X: NDArray[np.float64]
    categories: NDArray[Any]
    instances: NDArray[Any]
    trials: list[set[str]]


def washington() -> Frames | None:
    """Return all frames with the ten official trials, if `NEWFOUND_DATA` holds them."""
    folder = Path(os.environ.get("NEWFOUND_DATA", ".")) / "washington-rgbd"
    if not (folder / "efficientnet_lite0.npz").exists():
        return None
    with np.load(folder / "efficientnet_lite0.npz") as arrays:
        X, files = (arrays["codes"].T / 255.0) ** 2 * 6, arrays["files"]
    instances = np.array([str(name).rsplit("_", 3)[0] for name in files])
    categories = np.array([instance.rsplit("_", 1)[0] for instance in instances])
    parts = (folder / "testinstance_ids.txt").read_text().split("trial")[1:]
    return Frames(X, categories, instances, [set(part.split()) & set(instances) for part in parts])


def mnist() -> tuple[NDArray[np.float64], NDArray[Any], NDArray[np.float64], NDArray[Any]] | None:
    """Return pixels in [-1, 1] and digits, to learn and to test, if `NEWFOUND_DATA` holds them."""
    folder = Path(os.environ.get("NEWFOUND_DATA", ".")) / "mnist"
    if not folder.exists():
        return None
    arrays: list[NDArray[Any]] = []
    for part in ("train", "t10k"):
        images = _idx(folder / f"{part}-images-idx3-ubyte.gz")
        labels = _idx(folder / f"{part}-labels-idx1-ubyte.gz")
        arrays += [images.reshape(len(images), -1) / 127.5 - 1, labels.astype(np.int64)]
    X, y, X_test, y_test = arrays
    return X, y, X_test, y_test


def _idx(path: Path) -> NDArray[Any]:
    data = gzip.decompress(path.read_bytes())
    shape = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)
