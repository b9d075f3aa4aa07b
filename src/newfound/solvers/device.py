"""Weights and leverage of sums that live on a device: all of it happens there.

The mathematics is that of `RecursiveSolver`, but whatever that does in pieces, so that no step is
slow, is done here at once: to invert a matrix of 4,096 features takes a GPU 25 ms, and is rare.
"""

from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Index, Labels
from newfound.common.device import Array
from newfound.common.errors import NotTaughtError
from newfound.solvers.cholesky import Equations, invert, solve
from newfound.solvers.device_carried import DOUBLE, DeviceCarried, DeviceInverse
from newfound.solvers.in_place import invert_in_place
from newfound.solvers.settings import ClassWeight
from newfound.solvers.watch import Watch
from newfound.solvers.weighted import RebalancedSolver
from newfound.sums.arrays import moved
from newfound.sums.device import (
    add_products,
    add_to_diagonal,
    blocks,
    both_triangles,
    chunks,
    square_of,
    weighted,
)
from newfound.sums.removal import OF_NO_DATA, ROUNDING_SLACK
from newfound.sums.sums import Sums


class DeviceSolver:
    """Ridge weights on a device, of rows that weigh all the same or as much as their class does.

    Without class weights, A^-1 and W are carried along: a row costs O(d^2 + dT). With them, every
    question after something was learned inverts the weighted sums anew, O(d^3).

    Parameters
    ----------
    sums : Sums
        On a device.
    penalty : float
    fit_intercept : bool
    class_weight : "balanced" or mapping, optional
    """

    # _carried: belongs to the same rows as the sums do, except inside `learn` and `forget`. None:
    #     all is to be rebuilt.
    # _watch: says when what is carried is no longer good enough.
    # _room: where the last inverse was, to build the next in.

    def __init__(
        self,
        sums: Sums,
        penalty: float,
        fit_intercept: bool,
        class_weight: ClassWeight | None = None,
    ) -> None:
        assert sums.device is not None
        self.sums, self.device = sums, sums.device
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.rebuilds = 0
        self._weighing = RebalancedSolver(sums, penalty, fit_intercept, class_weight or {})
        self._carried: DeviceCarried | None = None
        self._watch = Watch(sums.width, DOUBLE)
        self._probes = np.random.default_rng(0)
        self._room: Array | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_room": None}

    @property
    def masses(self) -> Floats:
        """What each class weighs in the sums, shape (T,), on the host."""
        if not self.class_weight:
            return self.sums.masses
        return self._weighing.masses

    @property
    def weights(self) -> Array:
        """Weights, shape (d, T), not recoded; must not be written to."""
        return self._current().columns.T

    @property
    def intercept(self) -> Array:
        """Intercepts, shape (T,), not recoded; must not be written to."""
        carried = self._current()
        return self.device.put(self._targets()) - carried.columns @ carried.mean

    def _targets(self) -> Floats:
        """Return the mean of the targets, shape (T,), on the host; zeros without an intercept."""
        masses = self.masses
        return masses / (masses.sum() or 1.0) if self.fit_intercept else 0.0 * masses

    def scores(self, X: Array, factors: Floats) -> Array:
        """Return the scores of rows `X` (m, d) times `factors` (T,), shape (m, T)."""
        carried, targets = self._current(), self._targets()
        Z = X - carried.mean if self.fit_intercept else X
        both = self.device.put(np.stack((factors, targets * factors)))
        return (Z @ carried.columns.T) * both[0, :] + both[1, :]

    def leverage(self, X: Array) -> Array:
        """Return x'A^-1 x for each row of `X`, shape (m,); with an intercept, 1/n is part of it."""
        carried, xp, X = self._current(), self.device.xp, self.device.put(X, double=False)
        parts = []
        for part in chunks(X):
            Z = self.device.double(X[part, :]) - carried.mean
            parts.append(xp.sum(Z.T * carried.inverse.times(Z.T), axis=0))
        values = xp.concat(parts)
        return values + 1 / float(self.masses.sum()) if self.fit_intercept else values

    @property
    def mean_leverage(self) -> float:
        """The mean leverage of all rows taught, each with its weight, but for 1/n."""
        trace = self.sums.width - self.penalty * self._current().inverse.trace
        return max(0.0, trace) / float(self.masses.sum())

    def equations(self) -> Equations:
        """Return the sums that the weights solve, on the host."""
        there = moved(self.sums, None)
        if not self.class_weight:
            return Equations(there.gram, there.cross, self.masses)
        options = (self.penalty, self.fit_intercept, self.class_weight)
        return RebalancedSolver(there, *options).equations()

    def learn(
        self, X: Array, index: Index, labels: Labels, sample_weight: Floats | None = None
    ) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the sums do.

        `labels` are all classes there will be then. Each row counts as often as its weight says.
        """
        if self.class_weight:
            self.discard()
            return
        if not self.sums.total:
            self._start(len(labels))
        if self._carried is None or self._rebuild_is_cheaper(X):
            self.discard()
            return
        if self.sums.total:
            self._mend_drift(X.shape[0])
        carried, rows = self._carried, self.device.double(X)
        carried.add_classes(len(labels))
        if len(index) == 1:
            masses = self.sums.masses if self.fit_intercept else None
            weight = 1.0 if sample_weight is None else float(sample_weight[0])
            pivot = carried.learn_row(rows[0, :], int(index[0]), masses, weight)
        else:
            targets = self._own_targets(index, len(labels))
            pivot = carried.change(rows, targets, 1, self._mass(), sample_weight)
        if pivot is None:
            self.discard()
            return
        self._watch.note(pivot)

    def forget(self, X: Array, index: Index, sample_weight: Floats | None = None) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the sums do.

        Raises NotTaughtError, and changes nothing that matters, if that cannot be.
        """
        rows, remaining = self.device.double(X), self.sums.total - X.shape[0]
        carried = None if self.class_weight or self._rebuild_is_cheaper(X) else self._carried
        roots = weighted(rows, sample_weight, self.device)
        if remaining and carried is not None and not self._leaves_little(roots):
            self._mend_drift(rows.shape[0])
            targets = self._own_targets(index, self.sums.n_classes)
            pivot = self._current().change(rows, targets, -1, self._mass(), sample_weight)
            if pivot is not None:
                self._watch.note(pivot)
                return
        if remaining and not self.class_weight:  # whose sums are checked class by class
            given = np.ones(len(index)) if sample_weight is None else sample_weight
            gone = self.device.put(given) @ rows
            self._check_definite(roots, gone, float(self.sums.mass - given.sum()))
        self.discard()

    def remove_classes(self, index: Index) -> None:
        """Take out the columns of classes that have no examples left."""
        if self._carried is not None and len(index):
            self._carried.remove_classes(index)

    def foresee(self, penalty: float) -> None:
        """Do nothing: all is rebuilt at once when the time has come."""

    def use(self, penalty: float) -> None:
        """Answer for another penalty from now on."""
        self.discard()
        self.penalty = penalty

    def discard(self) -> None:
        """Throw away all that is derived; the next question rebuilds it from the sums."""
        if self._carried is not None:
            self._room = self._carried.inverse.matrix
        self._carried = None

    def drift(self) -> float:
        """Measure how far the carried weights and inverse are from what the sums say.

        The larger of two relative errors, as `RecursiveSolver.drift` has them.
        """
        return max(self._drift_of_weights(), self._drift_of_inverse())

    def _drift_of_weights(self) -> float:
        carried = self._current()
        mix = self.device.put(self._probes.standard_normal((carried.size,)))
        target = mix @ self._right()
        correction = carried.inverse.times(target - self._image(mix @ carried.columns))
        return self._norm(correction) / (self._norm(carried.columns) or 1.0)

    def _drift_of_inverse(self) -> float:
        direction = self.device.put(self._probes.standard_normal((self.sums.width,)))
        error = self._current().inverse.times(self._image(direction)) - direction
        return self._norm(error) / self._norm(direction)

    def _norm(self, array: Array) -> float:
        return float(self.device.xp.linalg.vector_norm(array))

    def rebuild(self) -> DeviceCarried:
        """Derive everything from the sums, O(d^3); return it."""
        self.discard()
        room = self._room if self._room is not None else self._zeros()
        self._room = None
        mean, mass = self._mean(), float(self.masses.sum())
        self._write_matrix(room, mean, mass)
        if invert_in_place(room, self.device):
            inverse = DeviceInverse(room, self.device)
            columns = inverse.times(self._right().T).T
            # One step of iterative refinement, for the inverse is the inverse of a rounded matrix.
            columns = columns + inverse.times(self._right().T - self._image(columns.T)).T
        else:
            del room
            inverse, columns = self._from_indefinite()
        carried = DeviceCarried(inverse, columns, mean)
        self._carried, self.rebuilds = carried, self.rebuilds + 1
        self._watch.restart(DOUBLE)
        if not self.class_weight:
            self._watch.floor = self.drift()
        return carried

    def _zeros(self) -> Array:
        return self.device.zeros(self.sums.width, self.sums.width)

    def _start(self, size: int) -> None:
        """Derive everything from no rows at all."""
        width, device = self.sums.width, self.device
        identity = self._room if self._room is not None else self._zeros()
        identity[:, :] = 0.0
        add_to_diagonal(identity, 1 / self.penalty, device)
        empty, mean = device.zeros(size, width), device.zeros(width)
        self._carried = DeviceCarried(DeviceInverse(identity, device), empty, mean)
        self._room = None
        self._watch.restart(DOUBLE)

    def _class_weights(self) -> Floats:
        """Return what an example of each class weighs, shape (T,)."""
        masses, plain = self.masses, self.sums.masses
        return np.where(plain > 0, masses / np.where(plain > 0, plain, 1.0), 0.0)

    def _write_matrix(self, room: Array, mean: Array, mass: float) -> None:
        """Overwrite a matrix (d, d) with A: the weighted sums, centred, plus the penalty."""
        if self.class_weight:
            room[:, :] = 0.0
            for gram, weight in zip(self.sums.grams, self._class_weights().tolist(), strict=True):
                gram.add_to(room, weight)
        else:
            self.sums.gram_in(room)
        if self.fit_intercept:
            for columns in blocks(self.sums.width):
                room[:, columns] -= (mass * mean)[:, None] * mean[None, columns]
        add_to_diagonal(room, self.penalty, self.device)

    def _from_indefinite(self) -> tuple[DeviceInverse, Array]:
        """Return what follows from sums that rounding has made indefinite: rare, so on the host."""
        solution = solve(self.equations(), self.penalty, self.fit_intercept)
        lower = invert(solution.factor)
        inverse = self.device.put(both_triangles(lower))
        return DeviceInverse(inverse, self.device), self.device.put(solution.weights.T)

    def _current(self) -> DeviceCarried:
        """Return what is carried, with weights that are as good as the sums."""
        if self._carried is None:
            return self.rebuild()
        if self._watch.is_rough:
            self._refine(self._carried)
        return self._carried

    def _refine(self, carried: DeviceCarried) -> None:
        """Take one step of iterative refinement: W += A^-1 (right-hand side - A W)."""
        W = carried.columns.T
        carried.columns = (W + carried.inverse.times(self._right().T - self._image(W))).T
        carried.mean = self._mean()
        self._watch.is_rough = False

    def _mass(self) -> float | None:
        """Return what the rows weigh that the mean is of; None without an intercept."""
        return self.sums.mass if self.fit_intercept else None

    def _own_targets(self, index: Index, size: int) -> Floats:
        """Return targets of rows of classes `index`, less their mean so far, shape (m, size)."""
        targets = np.zeros((len(index), size))
        if self.fit_intercept:
            targets[:, : self.sums.n_classes] -= self._targets()
        targets[np.arange(len(index)), index] += 1.0
        return targets

    def _cross(self) -> Array:
        """Return the weighted sums of the rows of each class, shape (T, d)."""
        cross = self.sums.cross.T
        if self.class_weight:
            cross = cross * self.device.put(self._class_weights())[:, None]
        return cross

    def _mean(self) -> Array:
        if not self.fit_intercept:
            return self.device.zeros(self.sums.width)
        return self.device.xp.sum(self._cross(), axis=0) / float(self.masses.sum())

    def _right(self) -> Array:
        """Return the right-hand side of the normal equations, shape (T, d)."""
        cross = self._cross()
        if not self.fit_intercept:
            return cross
        return cross - self.device.put(self.masses)[:, None] * self._mean()[None, :]

    def _image(self, columns: Array) -> Array:
        """Return A times `columns`, of shape (d,) or (d, k), from the sums."""
        image = self.penalty * columns
        if self.class_weight:
            for gram, weight in zip(self.sums.grams, self._class_weights().tolist(), strict=True):
                image = image + weight * gram.times(columns)
        else:
            image = image + self.sums.gram_times(columns)
        if not self.fit_intercept:
            return image
        mean, mass = self._mean(), float(self.masses.sum())
        inner = mean @ columns
        outer = mean * inner if columns.ndim == 1 else mean[:, None] * inner[None, :]
        return image - mass * outer

    def _rebuild_is_cheaper(self, X: Array) -> bool:
        # A rank-m change takes about 3 d^2 m operations, an inversion d^3.
        return bool(X.shape[0] > 1 and 3 * X.shape[0] > self.sums.width)

    def _leaves_little(self, X: Array) -> bool:
        return self._watch.leaves_little(self.sums.trace, square_of(X, self.device))

    def _mend_drift(self, coming: int) -> None:
        """Before rows come or go: rebuild if what is carried is no longer good enough."""
        self._current()
        watch = self._watch
        watch.count(coming)
        if watch.is_recovered:
            self.rebuild()
        elif watch.is_due:
            drift = self._drift_of_inverse() if watch.turn else self._drift_of_weights()
            if watch.asks_for_rebuild(drift):
                self.rebuild()

    def _check_definite(self, rows: Array, gone: Array, remaining: float) -> None:
        """Raise NotTaughtError if the sums without weighted rows, and their sum, are of no data."""
        self.discard()
        room = self._room if self._room is not None else self._zeros()
        self.sums.gram_in(room)
        slack = ROUNDING_SLACK * self.sums.trace + self.sums.rounding
        add_products(room, rows, -1.0)
        if self.fit_intercept:
            held = self.device.xp.sum(self.sums.cross, axis=1)
            mean = (held - gone) / remaining
            for columns in blocks(self.sums.width):
                room[:, columns] -= (remaining * mean)[:, None] * mean[None, columns]
        add_to_diagonal(room, self.penalty + slack, self.device)
        self._room = room
        if not invert_in_place(room, self.device):
            raise NotTaughtError(OF_NO_DATA)
