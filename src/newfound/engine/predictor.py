"""What a model says of rows, and the weights with which it says it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Counts, Floats, Index, Labels, Rows
from newfound.common.device import Array, device_of, namespace_of, on_host
from newfound.heads.probabilities import softmax
from newfound.layers.layer import SOME_ROWS, Layer, features_of
from newfound.solvers.base import Solver
from newfound.sums.blas import affine
from newfound.sums.device import rows_at

Numbers = NDArray[np.floating]


class Predictions(NamedTuple):
    """What a classifier says of m rows; arrays are of their kind, and on their device."""

    labels: Labels  # sorted, shape (T,), on the host
    recoded: Array  # scores of these classes, shape (m, T)
    sharpness: float  # of their probabilities
    dtype: np.dtype[Any] | None  # of all rows taught
    leverage: Array = None  # if it was asked for, shape (m,)
    unknown: Array = None  # likewise: the probability that they are unknown

    def on_host(self) -> "Predictions":
        """Return it with all arrays as numpy's."""
        leverage, unknown = (
            None if array is None else on_host(array) for array in (self.leverage, self.unknown)
        )
        return self._replace(recoded=on_host(self.recoded), leverage=leverage, unknown=unknown)

    @property
    def probabilities(self) -> Numbers:
        """Of these classes, shape (m, T)."""
        return softmax(self.scores, self.sharpness)

    @property
    def scores(self) -> Numbers:
        """Recoded, in the precision of all rows taught, shape (m, T)."""
        return in_precision(self.recoded, self.dtype)

    @property
    def decisions(self) -> Numbers:
        """The same; of two classes, the second score minus the first, shape (m,)."""
        scores = self.scores
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @property
    def best(self) -> Array:
        """The labels of the highest scores, shape (m,)."""
        labels, scores = self.labels, self.recoded
        if isinstance(scores, np.ndarray):
            return labels[scores.argmax(axis=1)]
        device, index = device_of(scores), namespace_of(scores).argmax(scores, axis=1)
        if labels.dtype.kind == "U" or device is None:  # which no device knows
            return labels[on_host(index)]
        return device.put(labels, double=False)[index]

    @property
    def novelty(self) -> Array:
        """How unlike everything taught they are, from 0 to 1."""
        return novelty(self.leverage)


class Weights(NamedTuple):
    """Weights of one moment, on the host: a solver goes on learning, and changes its own."""

    weights: Floats  # shape (D, T)
    intercept: Floats  # shape (T,)

    def scores(self, X: Rows, factors: Floats) -> Floats:
        """Return the scores of features `X` (m, D) times `factors` (T,), shape (m, T)."""
        return affine(X, self.weights, self.intercept) * factors


class ClassPredictor(NamedTuple):
    """What scores of classes are made with at one moment."""

    solver: Solver | Weights  # what makes scores of features
    layer: Layer | None  # from rows to features
    labels: Labels  # sorted, shape (T,)
    order: Index | slice  # what sorts the classes of all that follows
    counts: Counts  # examples of each class, shape (T,)
    factors: Floats  # of recoding, shape (T,)
    sharpness: float  # of probabilities
    dtype: np.dtype[Any] | None  # of all rows taught

    def copy(self) -> "ClassPredictor":
        """Return one on the host that stays as it is when the model learns."""
        weights, intercept = on_host(self.solver.weights), on_host(self.solver.intercept)
        return self._replace(solver=Weights(weights.copy(order="K"), intercept.copy()))

    def plain_scores(self, rows: Array) -> Array:
        """Return the scores of rows (m, d), not recoded, in the order of arrival, shape (m, T)."""
        return self.solver.scores(features_of(rows, self.layer), np.ones(len(self.factors)))

    def predict(self, rows: Array) -> Predictions:
        """Return what is said of rows (m, d)."""
        if self.layer is None:
            return self.predictions(self.solver.scores(rows, self.factors))
        if type(rows) is not np.ndarray or len(rows) <= SOME_ROWS:
            return self.predictions(self.solver.scores(self.layer(rows), self.factors))
        parts = np.split(rows, range(SOME_ROWS, len(rows), SOME_ROWS))  # features take more room
        scores = [self.solver.scores(self.layer(part), self.factors) for part in parts]
        return self.predictions(np.concatenate(scores))

    def predictions(self, scores: Array) -> Predictions:
        """Return what is said of rows with these scores (m, T), recoded, in order of arrival."""
        if not self.counts.all():
            scores = _without(scores, self.counts == 0)
        if isinstance(scores, np.ndarray):
            scores = scores[:, self.order]
        elif not isinstance(self.order, slice):
            scores = rows_at(scores.T, self.order, device_of(scores)).T
        return Predictions(self.labels, scores, self.sharpness, self.dtype)


def _without(scores: Array, is_empty: NDArray[np.bool_]) -> Array:
    """Return scores (m, T) that are minus infinity for classes without examples, (T,)."""
    device, xp = device_of(scores), namespace_of(scores)
    where = is_empty if device is None else device.put(is_empty, double=False)
    return xp.where(where[None, :], xp.full_like(scores, -np.inf), scores)


class Regression(NamedTuple):
    """What a regressor says of m rows."""

    values: Array  # shape (m, k)

    def on_host(self) -> "Regression":
        """Return it with numpy's array."""
        return Regression(on_host(self.values))


class TargetPredictor(NamedTuple):
    """What targets are predicted with at one moment."""

    layer: Layer | None  # from rows to features
    weights: Array  # shape (D, k)
    intercept: Array  # shape (k,)

    def copy(self) -> "TargetPredictor":
        """Return this one: weights are replaced, and never changed in place."""
        return self

    def predict(self, rows: Array) -> Regression:
        """Return what is expected of rows (m, d)."""
        xp = namespace_of(self.weights)
        features = xp.astype(features_of(rows, self.layer), xp.float64)
        return Regression(features @ self.weights + self.intercept)


def ask(predictor: Any, question: Callable[[Any], Any], rows: Rows) -> Any:
    """Return one thing of all that is said of rows (m, d)."""
    return question(predictor.predict(rows))


def novelty(leverage: Array) -> Array:
    """Return leverage h, shape (m,), as a number from 0 to 1: h / (1 + h).

    >>> novelty(np.array([0.0, 1.0, np.inf]))
    array([0. , 0.5, 1. ])
    """
    xp = namespace_of(leverage)
    # In a form that survives an infinite h, and what float32 has made of one.
    shares = 1 - 1 / (1 + leverage)
    shares = xp.where(xp.isnan(shares), xp.ones_like(shares), shares)
    return xp.clip(shares, 0.0, float(np.nextafter(1.0, 0.0)))


def in_precision(values: Array, dtype: np.dtype[Any] | None) -> Numbers:
    """Return a copy of `values` in this precision, or in float64 if they leave its range.

    >>> in_precision(np.array([1.0, 2.0]), np.dtype(np.float32)).dtype
    dtype('float32')
    >>> in_precision(np.array([1.0, 1e40]), np.dtype(np.float32)).dtype
    dtype('float64')
    """
    xp = namespace_of(values)
    if dtype == np.float32 and values.shape[0]:
        finite = xp.where(xp.isfinite(values), xp.abs(values), xp.zeros_like(values))
        if float(xp.max(finite)) > float(np.finfo(np.float32).max):
            dtype = None
    rounded: Numbers = xp.astype(values, xp.float32 if dtype == np.float32 else xp.float64)
    return rounded
