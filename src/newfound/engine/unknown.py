"""How probable it is that rows are of no class that was taught: similarity, and near examples."""

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats, Labels, Rows
from newfound.common.device import Array, namespace_of, on_host
from newfound.heads.unknown import cosines, recalled
from newfound.layers.layer import Layer, features_of
from newfound.memory.memory import Memory
from newfound.selection.calibration import Calibration
from newfound.solvers.base import Solver
from newfound.sums.device import column_products, rows_at

# Probability of being unknown beyond which examples are looked at, of so many classes; and how near
# they must be, in the usual distance, as a share of that to the mean, to be looked at closely.
DOUBTFUL, LIKELIEST, NEAR = 0.1, 3, 0.5
# Share of all squares below which those of a feature are what rounding left.
GONE = 1e-30


class Metric:
    """What similarity to classes, and distance to examples, are measured by at one moment.

    Parameters
    ----------
    memory : Memory
    solver : Solver
        For its present penalty.
    layer : Layer, optional
        From rows to what it is for.
    """

    # norms: score of each class of the sum of its rows, shape (T,).
    # mean: of all rows, shape (D,); zeros without an intercept.
    # occurs: which features were other than zero in a row that was taught, shape (d,); of units,
    #     all rows have some.

    def __init__(self, memory: Memory, solver: Solver, layer: Layer | None = None) -> None:
        self.memory, self.solver, self.penalty = memory, solver, solver.penalty
        self.layer = layer
        sums, weight_sums = solver.sums, solver.weight_sums
        weights = weight_sums / np.where(sums.counts > 0, sums.weight_sums, 1.0)
        own = column_products(sums.cross, solver.weights, sums.device) * weights
        mean = on_host(sums.cross @ memory.place(weights)) / weight_sums.sum()
        intercept = on_host(solver.intercept)
        if sums.origin is not None:
            mean = mean + on_host(sums.origin)
            intercept = intercept + on_host(sums.origin @ solver.weights)
        self.norms: Floats = own + weight_sums * intercept
        self.mean: Floats = mean * solver.fit_intercept
        squares, origin = sums.squares, 0.0 if sums.origin is None else on_host(sums.origin)
        # What forgetting leaves of a feature that is gone is below the rounding of twice float64.
        occurs = (squares > GONE * squares.sum()) | (np.asarray(origin) != 0)
        self.occurs = occurs[: memory.width]

    def unknown(
        self, calibration: Calibration, rows: Array, scores: Floats, leverage: Floats
    ) -> Floats:
        """Return how probable it is that rows are of no class that was taught, shape (m,).

        Parameters
        ----------
        calibration : Calibration
            With a bound.
        rows : array of shape (m, d)
            Where the sums live; all else is on the host.
        scores : ndarray of shape (m, T)
            Theirs, not recoded.
        leverage : ndarray of shape (m,)
            Theirs.
        """
        sums, weight_sums, bound = self.memory.sums, self.solver.weight_sums, calibration.bound
        assert bound is not None
        taught = np.flatnonzero(sums.counts)
        labels, leverage = sums.labels[taught], np.nan_to_num(leverage, nan=np.inf)
        total = float(weight_sums.sum()) if self.solver.fit_intercept else None
        of_classes = self.norms[taught], weight_sums[taught]
        angles = cosines(scores[:, taught], leverage, *of_classes, total)
        similarity = calibration.similarity(angles, leverage, labels)
        unknown = bound.unknown(similarity.max(axis=1))
        unknown[~self._overlap(rows)] = 1.0
        doubtful = np.flatnonzero(unknown > DOUBTFUL)
        if self.memory.witnesses.of_class and len(doubtful):
            likeliest = labels[np.argsort(-similarity[doubtful], axis=1)[:, :LIKELIEST]]
            few = on_host(rows_at(rows, doubtful, sums.device))
            unknown[doubtful] = recalled(unknown[doubtful], self._distances(few, likeliest))
        return unknown

    def _overlap(self, rows: Array) -> NDArray[np.bool_]:
        """Tell which rows (m, d) are other than zero in a feature in which a taught row is.

        Others, such as texts of words that never occurred, have nothing in common with any of
        them. They are where a row of zeros is: often near the mean, between all classes.
        """
        if not self.occurs.all():
            rows = rows * self.memory.place(self.occurs.astype(np.float64))
        overlap: NDArray[np.bool_] = on_host(namespace_of(rows).any(rows != 0, axis=1))
        return overlap

    def _distances(self, rows: Rows, labels: Labels) -> Floats:
        """Return how far rows (m, d) are from a witness of one of their labels (m, k) each.

        As a share of what they are from the mean of all rows, in the metric of the model, shape
        (m,); 1 where none is near.
        """
        memory, solver, mean = self.memory, self.solver, self.mean
        share, distances = solver.fit_intercept / solver.weight_sums.sum(), np.ones(len(rows))
        rows = np.asarray(rows, dtype=np.float64)
        nearest = features_of(memory.witnesses.nearest(rows, labels), self.layer)
        rows = features_of(rows, self.layer)
        apart = rows - nearest
        with np.errstate(all="ignore"):
            # Who is not near in the usual way is not asked for, which would cost another product.
            near = np.square(apart).sum(axis=1) < NEAR**2 * np.square(rows - mean).sum(axis=1)
            near = np.flatnonzero(near)
            if len(near):
                both = np.concatenate([apart[near] + mean, rows[near]])
                squares = np.maximum(on_host(solver.leverage(both)) - share, 0.0)
                ratios = np.sqrt(squares[: len(near)] / squares[len(near) :])
                distances[near] = np.nan_to_num(ratios, nan=0.0, posinf=1.0)
        return distances
