"""What a model says of rows, and the weights with which it says it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Counts, Floats, Index, Labels, Rows
from newfound.common.device import device_of, namespace_of, on_host
from newfound.heads.probabilities import softmax
from newfound.sums.blas import rows_times, times


class Answered(NamedTuple):
    """What a model says of m rows; arrays are of their kind, and on their device."""

    labels: Labels  # sorted, shape (T,), on the host
    scores: Floats  # recoded, of these classes, shape (m, T)
    sharpness: float  # of their probabilities
    dtype: np.dtype[Any] | None  # of all rows taught
    leverage: Floats | None = None  # if it was asked for, shape (m,)
    unknown: Floats | None = None  # likewise: the probability that they are unknown

    def on_host(self) -> "Answered":
        """Return it with all arrays as numpy's."""
        leverage, unknown = (
            None if each is None else on_host(each) for each in (self.leverage, self.unknown)
        )
        return self._replace(scores=on_host(self.scores), leverage=leverage, unknown=unknown)

    @property
    def probabilities(self) -> NDArray[np.floating]:
        """Of these classes, shape (m, T)."""
        return softmax(in_precision(self.scores, self.dtype), self.sharpness)

    @property
    def precise(self) -> NDArray[np.floating]:
        """The scores, in the precision of all rows taught."""
        return in_precision(self.scores, self.dtype)

    @property
    def decisions(self) -> NDArray[np.floating]:
        """The same; of two classes, the second score minus the first, shape (m,)."""
        scores = self.precise
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @property
    def best(self) -> Labels:
        """The labels of the highest scores, shape (m,)."""
        device, labels = device_of(self.scores), self.labels
        best: Labels
        if device is None:
            best = labels[self.scores.argmax(axis=1)]
            return best
        index = device.xp.argmax(self.scores, axis=1)
        if labels.dtype.kind == "U":  # which no device knows
            best = labels[on_host(index)]
        else:
            best = device.put(labels, double=False)[index]
        return best

    @property
    def novelty(self) -> Floats:
        """How unlike everything taught they are, from 0 to 1."""
        assert self.leverage is not None
        return novelty(self.leverage)


class Reading(NamedTuple):
    """What scores are made with at one moment."""

    labels: Labels  # sorted, shape (T,)
    order: Index | slice  # what sorts the classes of all that follows
    counts: Counts  # examples of each class, shape (T,)
    weights: Floats  # shape (d, T)
    intercept: Floats  # shape (T,)
    factors: Floats  # of recoding, shape (T,)
    sharpness: float  # of probabilities
    dtype: np.dtype[Any] | None  # of all rows taught

    def copy(self) -> "Reading":
        """Return one that stays as it is when the model learns, which changes weights in place."""
        return self._replace(weights=self.weights.copy(order="K"), intercept=self.intercept.copy())

    def products(self, rows: Rows) -> Floats:
        """Return rows (m, d) times weights, shape (m, T)."""
        if len(rows) == 1:
            return times(self.weights.T, rows[0].astype(np.float64, copy=False))[None]
        return rows_times(rows, self.weights)

    def answered(
        self, products: Floats, leverage: Floats | None = None, unknown: Floats | None = None
    ) -> Answered:
        """Return what is said of rows, of which the products (m, T) are known."""
        scores: Floats = (products + self.intercept) * self.factors
        if not self.counts.all():
            scores[:, self.counts == 0] = -np.inf
        ordered = scores[:, self.order]
        return Answered(self.labels, ordered, self.sharpness, self.dtype, leverage, unknown)

    def ask(self, question: Callable[[Answered], Any], rows: Rows) -> Any:
        """Return one thing of all that is said of rows (m, d)."""
        return question(self.answered(self.products(rows)))


def novelty(leverage: Floats) -> Floats:
    """Return leverage h, shape (m,), as a number from 0 to 1: h / (1 + h).

    >>> novelty(np.array([0.0, 1.0, np.inf]))
    array([0. , 0.5, 1. ])
    """
    xp = namespace_of(leverage)
    # In a form that survives an infinite h, and what float32 has made of one.
    shares = 1 - 1 / (1 + leverage)
    shares = xp.where(xp.isnan(shares), xp.ones_like(shares), shares)
    found: Floats = xp.clip(shares, 0.0, float(np.nextafter(1.0, 0.0)))
    return found


def in_precision(values: Floats, dtype: np.dtype[Any] | None) -> NDArray[np.floating]:
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
    found: NDArray[np.floating] = xp.astype(
        values, xp.float32 if dtype == np.float32 else xp.float64
    )
    return found
