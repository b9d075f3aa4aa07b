"""Peers from papers that solve for a classifier behind a random layer.

ACIL, AIR, RanPAC, RanDumb and KLDA. Each is written from its paper and compared with what its
authors published, not copied: github.com/ZHUANGHP/Analytic-continual-learning,
github.com/RanPAC/RanPAC, github.com/drimpossible/RanDumb and github.com/salehmomeni/klda.
"""

import warnings
from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning, blas, solve

Rows = NDArray[np.float64]

# The papers take 8,192 (ACIL, on CIFAR-100), 10,000 (RanPAC), 25,000 (RanDumb) and 5,000 (KLDA): a
# step costs their square, or more.
UNITS = 2000


class Layer(Protocol):
    """From rows to features."""

    def __call__(self, X: Rows) -> Rows: ...


class RandomLayer:
    """ReLU of random sums of the features, drawn once and never trained."""

    def __init__(self, width: int, units: int = UNITS, seed: int = 0, spread: float = 1.0) -> None:
        self.weights = spread * np.random.default_rng(seed).normal(size=(width, units))

    def __call__(self, X: Rows) -> Rows:
        return np.maximum(0.0, X @ self.weights)


class FourierLayer:
    """Random Fourier features of the kernel exp(-gamma ||x - y||^2), drawn once and never trained.

    Without a gamma, the first rows that come, which are those of the first lesson, say it: as
    scikit-learn's "scale", 1 / (features * variance of all entries).
    """

    def __init__(
        self, width: int, units: int = UNITS, seed: int = 0, gamma: float | None = None
    ) -> None:
        rng = np.random.default_rng(seed)
        self.directions = rng.normal(size=(width, units))
        self.phases = rng.uniform(0, 2 * np.pi, units)
        self.gamma = gamma

    def __call__(self, X: Rows) -> Rows:
        if self.gamma is None:
            variance = X.var()
            varies = variance > np.finfo(np.float64).eps * np.square(X).mean()  # beyond rounding
            self.gamma = float(1 / (X.shape[1] * variance)) if varies else 1.0
        H: Rows = np.cos((np.sqrt(2 * self.gamma) * X) @ self.directions + self.phases)
        H *= np.sqrt(2 / len(self.phases))
        return H


class Behind:
    """Any classifier behind a layer that is not trained."""

    def __init__(self, layer: Layer, model: Any) -> None:
        self.layer, self.model = layer, model

    def partial_fit(self, X: Rows, y: Any) -> None:
        self.model.partial_fit(self.layer(X), y)

    def predict(self, X: Rows) -> Any:
        return self.model.predict(self.layer(X))


class ClosedForm(ABC):
    """What all share: one-hot targets, and the class of the largest score.

    Told all classes from the start, in order; one that was not seen yet is never the answer.
    """

    def __init__(self, classes: Any) -> None:
        self.classes = np.asarray(classes)
        self.counts = np.zeros(len(self.classes))

    def partial_fit(self, H: Rows, y: Any) -> None:
        index = np.searchsorted(self.classes, y)
        if not self.counts.any():
            self.start(H.shape[1])
        self.counts += np.bincount(index, minlength=len(self.classes))
        self.learn(H, index, np.eye(len(self.classes))[index])

    def predict(self, H: Rows) -> Any:
        scores = self.scores(H)
        scores[:, self.counts == 0] = -np.inf
        return self.classes[scores.argmax(axis=1)]

    def scores(self, H: Rows) -> Rows:
        return H @ self.weights()

    @abstractmethod
    def start(self, width: int) -> None: ...

    @abstractmethod
    def learn(self, H: Rows, index: NDArray[np.intp], Y: Rows) -> None: ...

    @abstractmethod
    def weights(self) -> Rows: ...


class ACIL(ClosedForm):
    """Ridge regression by recursion over batches of rows.

    Zhuang et al., "ACIL: Analytic Class-Incremental Learning with Absolute Memorization and Privacy
    Protection", NeurIPS 2022, equations 9 and 10, as G-ACIL (2024) writes them; penalty 0.1.
    """

    penalty = 0.1

    def start(self, width: int) -> None:
        self.inverse = np.eye(width) / self.penalty
        self.solution = np.zeros((width, len(self.classes)))

    def learn(self, H: Rows, index: NDArray[np.intp], Y: Rows) -> None:
        half = H @ self.inverse
        self.inverse -= half.T @ solve(np.eye(len(H)) + half @ H.T, half, assume_a="pos")
        self.solution += self.inverse @ (H.T @ (Y - H @ self.solution))

    def weights(self) -> Rows:
        return self.solution


class AIR(ClosedForm):
    """Ridge regression in which every class weighs the same: one Gram matrix a class.

    Fang et al., "AIR: Analytic Imbalance Rectifier for Continual Learning", 2024, the generalised
    one; penalty 0.1. Weights of classes are proportional to 1 / count, and their mean is 1.
    """

    penalty = 0.1

    def start(self, width: int) -> None:
        self.grams = np.zeros((len(self.classes), width, width))
        self.cross = np.zeros((width, len(self.classes)))

    def learn(self, H: Rows, index: NDArray[np.intp], Y: Rows) -> None:
        self.cross += H.T @ Y
        for t in np.unique(index):
            rows, gram = H[index == t].T, self.grams[t].T  # in place: a matrix a class is large
            blas.dgemm(1.0, rows, rows, 1.0, gram, trans_b=True, overwrite_c=True)
        self.solution: Rows | None = None

    def weights(self) -> Rows:
        if self.solution is None:
            share = (self.counts > 0) / np.maximum(self.counts, 1)
            share *= len(share) / share.sum()
            gram = np.tensordot(share, self.grams, 1)
            gram.flat[:: len(gram) + 1] += self.penalty
            self.solution = solve(gram, self.cross * share, assume_a="pos")
        return self.solution


class RanPAC(ClosedForm):
    """Class prototypes, decorrelated: sums of features by class, solved by their Gram matrix.

    McDonnell et al., "RanPAC: Random Projections and Pre-trained Models for Continual Learning",
    NeurIPS 2023, without the adapters that train the network on the first task. The penalty is
    chosen anew with each lesson of five rows or more: trained on four fifths of it, the least
    squared error on the rest.
    """

    penalties = 10.0 ** np.arange(-8, 9)

    def start(self, width: int) -> None:
        self.gram = np.zeros((width, width))
        self.cross = np.zeros((width, len(self.classes)))
        self.penalty = 1.0

    def learn(self, H: Rows, index: NDArray[np.intp], Y: Rows) -> None:
        self.gram += H.T @ H
        self.cross += H.T @ Y
        if len(H) >= 5:
            order = np.random.default_rng(0).permutation(len(H))  # their loader shuffles
            self.penalty = self.choose(H[order], Y[order])
        self.solution: Rows | None = None

    def choose(self, H: Rows, Y: Rows) -> float:
        """Return the penalty of least error; by the kernel matrix, which is small for a lesson."""
        n = int(0.8 * len(H))
        values, vectors = np.linalg.eigh(H[:n] @ H[:n].T)
        values, right, left = np.maximum(values, 0), vectors.T @ Y[:n], H[n:] @ H[:n].T @ vectors
        errors = [
            ((left @ (right / (values + penalty)[:, None]) - Y[n:]) ** 2).mean()
            for penalty in self.penalties
        ]
        return float(self.penalties[np.argmin(errors)])

    def weights(self) -> Rows:
        if self.solution is None:
            gram = self.gram.copy()
            gram.flat[:: len(gram) + 1] += self.penalty
            with warnings.catch_warnings():  # a lesson of one class may choose next to nothing
                warnings.simplefilter("ignore", LinAlgWarning)
                self.solution = solve(gram, self.cross, assume_a="sym")
        return self.solution


class Discriminant(ClosedForm):
    """Nearest class mean, by the Mahalanobis distance of one covariance within all classes.

    Means and covariance are those of all rows, in lessons of any size. As long as no class has two
    rows that differ there is no covariance, and distance is Euclidean.
    """

    def start(self, width: int) -> None:
        self.means = np.zeros((len(self.classes), width))
        self.scatter = np.zeros((width, width))

    def learn(self, H: Rows, index: NDArray[np.intp], Y: Rows) -> None:
        parts = []
        for t in np.unique(index):
            rows = H[index == t]
            mean, share = rows.mean(axis=0), len(rows) / self.counts[t]  # which counts them too
            gap = mean - self.means[t]
            parts += [rows - mean, np.sqrt(len(rows) * (1 - share)) * gap[None]]
            self.means[t] += share * gap
        offs = np.concatenate(parts)
        self.scatter += offs.T @ offs
        self.solution: Rows | None = None

    def weights(self) -> Rows:
        if self.solution is None:
            lengths = self.counts @ np.square(self.means).sum(axis=1)
            varies = np.trace(self.scatter) > np.finfo(np.float64).eps * lengths  # beyond rounding
            self.solution = self.decorrelated() if varies else self.means.T
        return self.solution

    def scores(self, H: Rows) -> Rows:
        weights = self.weights()
        scores: Rows = H @ weights
        scores -= 0.5 * (self.means.T * weights).sum(axis=0)
        return scores

    @abstractmethod
    def decorrelated(self) -> Rows:
        """Return means times the inverse of the covariance, shape (features, classes)."""


class RanDumb(Discriminant):
    """Streaming LDA behind a `FourierLayer`, its covariance shrunk by a formula.

    Prabhu et al., "RanDumb: Random Representations Outperform Online Continually Learned
    Representations", NeurIPS 2024. The shrinkage is OAS (Chen et al., 2010), as in the published
    code, which leaves nothing to tune. Its gamma is "scale" too, of all training rows at once.
    Priors of classes, which one of its two classifiers has, are left out. Images are not flipped.
    """

    def decorrelated(self) -> Rows:
        n, width = self.counts.sum(), len(self.scatter)
        covariance = self.scatter / n
        mean, square = np.trace(covariance) / width, np.square(covariance).mean()
        off = (n + 1) * (square - mean**2 / width)  # from a multiple of the identity
        shrinkage = min(1.0, (square + mean**2) / off) if off > 0 else 1.0
        covariance *= 1 - shrinkage
        covariance.flat[:: width + 1] += shrinkage * mean
        return np.asarray(solve(covariance, self.means.T, assume_a="pos"))


class KLDA(Discriminant):
    """LDA behind a `FourierLayer`, by a pseudoinverse: nothing is shrunk.

    Momeni, Mazumder and Liu, "Continual Learning Using a Kernel-Based Method Over Foundation
    Models", AAAI 2025; one model, not the ensemble of five. The authors pick gamma by hand for each
    network, from 5e-6 to 5e-2, which says nothing of other features: the rule of the layer stands
    in for it. Their code adds up in single precision and inverts all that is there, which is
    rounding too where rows are fewer than units. Here, what single precision cannot tell from zero
    counts as zero.
    """

    def decorrelated(self) -> Rows:
        values, vectors = np.linalg.eigh(self.scatter)
        kept = values > len(values) * np.finfo(np.float32).eps * values[-1]
        vectors = vectors[:, kept]
        return np.asarray(vectors @ (vectors.T @ self.means.T / values[kept, None]))
