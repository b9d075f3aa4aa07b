"""How do steps and accuracy compare with what people use today."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB

from benchmarks.common import Measurement, show
from benchmarks.streams import Data, load
from newfound import IncrementalRidgeClassifier
from newfound.paper.timing import step, time_call

TITLE = "Peers: the same rows, one at a time"
SIZES = (100, 300, 1000, 3000, 10_000)
REFITS = (1000, 5000, 20_000)

Rows = NDArray[np.float64]


class Refit:
    """scikit-learn's RidgeClassifier, fitted anew with every row."""

    def __init__(self, classes: Any) -> None:
        self.X: list[Rows] = []
        self.y: list[Any] = []

    def partial_fit(self, X: Rows, y: Any) -> None:
        self.X.append(X)
        self.y.append(y)
        self.stale = True

    def predict(self, X: Rows) -> Any:
        if self.stale:
            self.model = RidgeClassifier().fit(np.concatenate(self.X), np.concatenate(self.y))
            self.stale = False
        return self.model.predict(X)


class Sklearn:
    """A scikit-learn classifier with partial_fit, told all classes from the start."""

    def __init__(self, model: Any, classes: Any) -> None:
        self.model, self.classes = model, classes

    def partial_fit(self, X: Rows, y: Any) -> None:
        self.model.partial_fit(X, y, classes=self.classes)

    def predict(self, X: Rows) -> Any:
        with np.errstate(all="ignore"):  # naive Bayes divides by variances of nothing
            return self.model.predict(X)


class Means:
    """Running class means, and what needs nothing else: nearest class mean."""

    def __init__(self, classes: Any) -> None:
        self.classes = np.asarray(classes)
        self.place = {label: place for place, label in enumerate(self.classes.tolist())}
        self.counts = np.zeros(len(self.classes))
        self.means: Rows | None = None

    def partial_fit(self, X: Rows, y: Any) -> None:
        if self.means is None:
            self.means = np.zeros((len(self.classes), X.shape[1]))
        for row, label in zip(X, y.tolist(), strict=True):
            place = self.place[label]
            self.before(row, place)
            self.counts[place] += 1
            self.means[place] += (row - self.means[place]) / self.counts[place]

    def before(self, row: Rows, place: int) -> None:
        """Nothing more to learn from a row."""

    def predict(self, X: Rows) -> Any:
        assert self.means is not None
        distances = (self.means**2).sum(axis=1) - 2 * X @ self.means.T
        distances[:, self.counts == 0] = np.inf
        return self.classes[distances.argmin(axis=1)]


class StreamingLDA(Means):
    """Class means and one running covariance, shrunk and inverted at each question.

    After Hayes and Kanan, "Lifelong Machine Learning with Deep Streaming Linear Discriminant
    Analysis", 2020: equations 1 to 4, shrinkage 1e-4.
    """

    def __init__(self, classes: Any) -> None:
        super().__init__(classes)
        self.total = 0
        self.offs: list[Rows] = []
        self.scatter: Rows | None = None

    def partial_fit(self, X: Rows, y: Any) -> None:
        super().partial_fit(X, y)
        offs, self.offs = np.array(self.offs), []
        added = offs.T @ offs
        self.scatter = added if self.scatter is None else self.scatter + added

    def before(self, row: Rows, place: int) -> None:
        assert self.means is not None
        off = row - self.means[place]
        self.offs.append(np.sqrt(self.total / (self.total + 1)) * off)
        self.total += 1

    def predict(self, X: Rows) -> Any:
        assert self.means is not None
        assert self.scatter is not None
        d = X.shape[1]
        precision = np.linalg.inv((1 - 1e-4) / self.total * self.scatter + 1e-4 * np.eye(d))
        weights = self.means @ precision
        scores = X @ weights.T - 0.5 * (self.means * weights).sum(axis=1)
        scores[:, self.counts == 0] = -np.inf
        return self.classes[scores.argmax(axis=1)]


class Paper:
    """Algorithm 1 as written: a rank-one Cholesky update and T triangular solves, recoded."""

    def __init__(self, classes: Any) -> None:
        self.classes = np.asarray(classes)
        self.place = {label: place for place, label in enumerate(self.classes.tolist())}
        self.counts = np.zeros(len(self.classes))
        self.factor: Rows | None = None

    def partial_fit(self, X: Rows, y: Any) -> None:
        d = X.shape[1]
        if self.factor is None:
            self.factor = np.asfortranarray(np.eye(d))
            self.cross = np.zeros((d, len(self.classes)), order="F")
        rows = np.asfortranarray(X.copy())
        self.factor, *_ = lapack.dtpqrt(0, min(32, d), self.factor, rows, overwrite_a=1)
        for row, label in zip(X, y.tolist(), strict=True):
            self.cross[:, self.place[label]] += row
            self.counts[self.place[label]] += 1

    def predict(self, X: Rows) -> Any:
        half, _ = lapack.dtrtrs(self.factor, self.cross, trans=1)
        weights, _ = lapack.dtrtrs(self.factor, half)
        recoding = (self.counts.sum() / np.maximum(self.counts, 1)) ** 0.7
        scores = X @ weights * recoding
        scores[:, self.counts == 0] = -np.inf
        return self.classes[scores.argmax(axis=1)]


def peers(classes: Any) -> dict[str, Any]:
    passive = SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0)
    return {
        "newfound": IncrementalRidgeClassifier(),
        "the paper's step": Paper(classes),
        "streaming LDA": StreamingLDA(classes),
        "SGD": Sklearn(SGDClassifier(random_state=0), classes),
        "passive-aggressive": Sklearn(passive, classes),
        "naive Bayes": Sklearn(GaussianNB(), classes),
        "nearest class mean": Means(classes),
    }


def step_times(
    name: str, model: Any, data: Data, sizes: tuple[int, ...]
) -> Iterator[tuple[int, float]]:
    """Median seconds of a step once so many rows have been seen."""
    rng, seen = np.random.default_rng(0), 0
    for size in sizes:
        places = rng.integers(0, len(data.y), max(size - seen, 1))
        for part in np.array_split(places, max(1, len(places) // 500)):
            model.partial_fit(data.X[part], data.y[part])
        seen = max(size, seen + 1)
        model.predict(data.X[:1])
        times = []
        repeats = {"RidgeClassifier, refitted": 4, "newfound": 200}.get(name, 15)
        for i in rng.integers(0, len(data.y), repeats):
            times.append(time_call(step(model, data.X, data.y, i)))
            seen += 1
        yield size, median(times)


def octave_step(data: Data, T: int) -> float | None:
    """Seconds of the paper's step with GNU Octave's cholupdate; None without octave."""
    if shutil.which("octave") is None:
        return None
    d = data.X.shape[1]
    program = f"""
        d = {d}; T = {T}; R = eye(d); b = randn(d, T); steps = 5; t = zeros(1, steps);
        for k = 1:steps
            x = randn(d, 1); tic; R = cholupdate(R, x); b(:, 1) += x; W = R \\ (R' \\ b); x' * W;
            t(k) = toc;
        end
        printf("%g", median(t));
    """
    with tempfile.NamedTemporaryFile("w", suffix=".m") as file:
        Path(file.name).write_text(program)
        done = subprocess.run(["octave", "--quiet", file.name], capture_output=True, check=True)
    return float(done.stdout)


def accuracy(model: Any, data: Data, order: NDArray[np.intp]) -> float:
    """Percent right at the end of a stream that shows the rows in this order, five at a time."""
    for part in np.array_split(order, len(order) // 5):
        model.partial_fit(data.X[part], data.y[part])
    return 100 * float(np.mean(model.predict(data.X_test) == data.y_test))


def measure() -> Iterator[Measurement]:
    data = load(per_class=60)
    classes = np.unique(data.y)
    shape = f"d = {data.X.shape[1]}, T = {len(classes)}"
    contestants = {**peers(classes), "RidgeClassifier, refitted": Refit(classes)}
    for name, model in contestants.items():
        sizes = REFITS if isinstance(model, Refit) else SIZES
        for n, seconds in step_times(name, model, data, sizes):
            yield Measurement(f"{name}: step after {n} rows", 1e3 * seconds, "ms", note=shape)
    in_octave = octave_step(data, len(classes))
    if in_octave is None:
        print("octave is not installed: its cholupdate is left out", file=sys.stderr)
    else:
        yield Measurement("the paper's step in Octave", 1e3 * in_octave, "ms", note=shape)
    one_by_one = np.argsort(data.y, kind="stable")
    shuffled = np.random.default_rng(0).permutation(len(data.y))
    again = peers(classes)
    for name, model in peers(classes).items():
        found, mixed = accuracy(model, data, one_by_one), accuracy(again[name], data, shuffled)
        yield Measurement(f"{name}: accuracy, one class after another", found, "%", note=data.name)
        yield Measurement(f"{name}: forgotten, beside a shuffled stream", mixed - found, "points")


if __name__ == "__main__":
    show(TITLE, measure())
