"""What roots at unit length are worth: to a network's features, and to pixels."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import Floats, Measurement, show
from benchmarks.streams import DATA, pixels, washington
from newfound import IncrementalRidgeClassifier
from newfound.datasets import digits
from newfound.features import Pixels, take_root

TITLE = "Roots at unit length, beside vectors as they are"
# Penalties, in mean squared distances of a row from the mean of all.
PENALTIES = (0.01, 0.1, 0.5, 2.0)
DRAWS = 5


class Data(NamedTuple):
    """Rows to draw from, rows to test on, and how many of a class are drawn."""

    name: str
    X: Floats
    y: Any
    X_test: Floats
    y_test: Any
    counts: tuple[int, ...]


def accuracies(X: Floats, y: Any, X_test: Floats, y_test: Any) -> list[float]:
    """Return the mean of the accuracies of classes, in %, with each penalty."""
    spread = float(np.square(X - X.mean(axis=0)).sum(axis=1).mean())
    model = IncrementalRidgeClassifier(recoding=0.7).fit(X, y)
    found = []
    for penalty in PENALTIES:
        is_right = model.set_params(penalty=penalty * spread).predict(X_test) == y_test
        classes = [is_right[y_test == label].mean() for label in np.unique(y_test)]
        found.append(100 * float(np.mean(classes)))
    return found


def sets() -> Iterator[Data]:
    """Yield what is at hand of Washington RGB-D and MNIST, and the digits of scikit-learn."""
    frames, mnist, crops = washington(), pixels(), DATA / "washington-rgbd" / "rgbd-dataset"
    if frames is not None:
        is_test = np.isin(frames.objects, list(frames.trials[0]))
        parts = _parted(frames.X, frames.categories, is_test)
        yield Data("Washington RGB-D, EfficientNet-Lite0", *parts, (1, 3, 10, 300))
    if mnist is not None:
        X, y, X_test, y_test = mnist  # from -1, black, to 1; here black is 0, as for `Pixels`
        yield Data("MNIST, pixels", (X + 1) / 2, y, (X_test + 1) / 2, y_test, (1, 3, 10, 5000))
    is_test = np.random.default_rng(0).random(1797) < 0.5
    yield Data("digits, pixels", *_parted(*digits(), is_test), (1, 3, 10, 80))
    if crops.is_dir():  # twelve categories of three objects, of which the third is asked about
        objects = [sorted(category.iterdir()) for category in sorted(crops.iterdir())]
        files = [
            (file, at) for of in objects for at in range(3) for file in sorted(of[at].iterdir())
        ]
        rows = Pixels(size=28)([file for file, _ in files]).astype(np.float64)
        labels = np.array([file.parent.parent.name for file, _ in files])
        is_test = np.array([at == 2 for _, at in files])
        yield Data("Washington RGB-D, grey pixels", *_parted(rows, labels, is_test), (1, 3, 10, 16))


def _parted(X: Any, y: Any, is_test: Any) -> tuple[Floats, Any, Floats, Any]:
    return X[~is_test], y[~is_test], X[is_test], y[is_test]


def measure() -> Iterator[Measurement]:
    for data in sets():
        kinds = [(data.X, data.X_test), (take_root(data.X), take_root(data.X_test))]
        for count in data.counts:
            found: list[list[list[float]]] = [[], []]
            for draw in range(DRAWS if count <= 10 else 1):
                rng = np.random.default_rng(draw)
                classes = [np.flatnonzero(data.y == label) for label in np.unique(data.y)]
                rows = np.concatenate([rng.permutation(each)[:count] for each in classes])
                for kind, (X, X_test) in zip(found, kinds, strict=True):
                    kind.append(accuracies(X[rows], data.y[rows], X_test, data.y_test))
            plain, rooted = np.mean(found, axis=1)  # by penalty
            yield Measurement(
                f"{data.name}, {count} of a class",
                round(float(rooted.max() - plain.max()), 2),
                "points",
                note=f"{plain.max():.1f} to {rooted.max():.1f} % at the best penalty of each; "
                f"{min(rooted - plain):+.1f} to {max(rooted - plain):+.1f} points at the same",
            )


if __name__ == "__main__":
    show(TITLE, measure())
