"""Weights and leverage of sums that live on a device: all of it happens there.

The mathematics is that of `RecursiveSolver`, but whatever that does in pieces, so that no step is
slow, is done here at once: inverting a matrix takes a GPU as long as a processor takes for a row.
"""

from typing import Any

import numpy as np

from newfound.common.arrays import Counts, Floats, Index, Labels
from newfound.common.device import Array, Device
from newfound.common.errors import NotTaughtError
from newfound.common.recorded import Recorded
from newfound.solvers.cholesky import Equations, invert, solve
from newfound.solvers.in_place import invert_in_place
from newfound.solvers.inverse import COMING_MARGIN, GOING_MARGIN, LIMITS
from newfound.solvers.settings import ClassWeight
from newfound.solvers.watch import Watch
from newfound.solvers.weighted import RebalancedSolver
from newfound.sums.arrays import moved
from newfound.sums.device import (
    add_outer,
    add_products,
    add_times,
    add_to_diagonal,
    blocks,
    both_triangles,
    cholesky,
    chunks,
    rows_at,
    square_of,
)
from newfound.sums.removal import OF_NO_DATA, ROUNDING_SLACK
from newfound.sums.sums import Sums

DOUBLE = LIMITS[np.dtype(np.float64)]
EPS = float(np.finfo(np.float64).eps)
# Rows whose changes of the inverse wait, to be made together.
MOST_PENDING = 64


class DeviceInverse:
    """A^-1 on a device, in float64; one row costs one product with it.

    Parameters
    ----------
    matrix : array of shape (d, d)
        A^-1, both triangles; taken over and changed.
    device : Device
    """

    # matrix - pending' pending is A^-1; all but the first `waiting` rows are zeros.
    # diagonal: of the matrix; not negative, whatever rounding did.

    def __init__(self, matrix: Array, device: Device) -> None:
        self.matrix, self.device = matrix, device
        self.pending, self.waiting = device.zeros(MOST_PENDING, matrix.shape[0]), 0
        self.places = device.put(np.arange(float(MOST_PENDING)))
        self.diagonal = device.xp.abs(device.xp.linalg.diagonal(matrix))

    def times(self, columns: Array) -> Array:
        """Return A^-1 times `columns`, of shape (d,) or (d, k)."""
        product = self.matrix @ columns
        if self.waiting:
            pending = self.pending[: self.waiting, :]
            if columns.ndim == 1:
                add_times(product, pending.T, pending @ columns, -1.0)
            else:
                product -= pending.T @ (pending @ columns)
        return product

    @property
    def trace(self) -> float:
        """The sum of the diagonal of A^-1."""
        pending, xp = self.pending[: self.waiting, :], self.device.xp
        return float(xp.linalg.trace(self.matrix) - xp.sum(pending * pending))

    def change(self, Z: Array, sign: int) -> tuple[Array, Array, float] | None:
        """Add sign Z'Z to A; return V, R and the most extreme pivot, or None if that is unsafe.

        As `Inverse.change` has them: R R' = I + sign Z A^-1 Z' and V = A^-1 Z' R^-T.
        """
        self.flush()
        xp, product = self.device.xp, self.times(Z.T)
        inner = sign * (Z @ product)
        add_to_diagonal(inner, 1.0, self.device)
        factor = cholesky(inner, self.device)
        if factor is None:
            return None
        diagonal = self.device.host(xp.linalg.diagonal(factor))
        least, most, rounding = diagonal.min() ** 2, diagonal.max() ** 2, self._rounding(Z)
        if sign > 0:
            is_safe = COMING_MARGIN * rounding < least and most < DOUBLE.largest_pivot
        else:
            is_safe = least > max(DOUBLE.smallest_pivot, GOING_MARGIN * rounding)
        if not is_safe:
            return None
        gain = xp.linalg.solve(factor, product.T).T
        self._subtract(gain.T, sign)
        return gain, factor, float(max(1.0, most, 1 / least))

    def flush(self) -> None:
        """Make all changes that wait."""
        if self.waiting:
            self._subtract(self.pending[: self.waiting, :], 1)
            self.pending[:, :] = 0.0
            self.waiting = 0

    def _subtract(self, rows: Array, sign: int) -> None:
        """Overwrite the matrix with itself less sign rows' rows."""
        add_products(self.matrix, rows, float(-sign))
        # In place, for what is recorded reads it.
        self.diagonal[...] = self.device.xp.abs(self.device.xp.linalg.diagonal(self.matrix))

    def _rounding(self, Z: Array) -> float:
        """Estimate the rounding error of z'A^-1 z, the largest of several rows; as `Inverse`."""
        return EPS * float(self.device.xp.max((Z * Z) @ self.diagonal))


class DeviceCarried:
    """Inverse, weights and mean of the same rows, changed by every further row.

    The intercept is not carried: it is what the means of rows and targets make of the weights.

    Parameters
    ----------
    inverse : DeviceInverse
    columns : array of shape (T, d)
        The weights of each class.
    mean : array of shape (d,)
        Of the rows, or zeros without an intercept.
    """

    # _columns[:size]: the weights of each class; zeros follow.
    # _recorded: what a row does to the arrays in _held.

    def __init__(self, inverse: DeviceInverse, columns: Array, mean: Array) -> None:
        self.inverse, self.device = inverse, inverse.device
        self.columns, self.mean = columns, mean
        self._recorded: Recorded | None = None
        self._held: tuple[Array, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_recorded": None, "_held": ()}

    @property
    def columns(self) -> Array:
        """The weights of each class, shape (T, d)."""
        return self._columns[: self.size, :]

    @columns.setter
    def columns(self, columns: Array) -> None:
        self._columns, self.size = columns, columns.shape[0]

    def add_classes(self, size: int) -> None:
        """Add zeros for classes that are new, so that there are `size` of them."""
        capacity, width = self._columns.shape
        if size > capacity:
            grown = self.device.zeros(max(size, 2 * capacity), width)
            grown[: self.size, :] = self.columns
            self._columns = grown
        self.size = max(size, self.size)

    def remove_classes(self, index: Index) -> None:
        """Take out classes that have no examples left."""
        kept = np.delete(np.arange(self.size), index)
        self.columns = rows_at(self.columns, kept, self.device)

    def learn_row(self, row: Array, label: int, counts: Counts | None) -> float | None:
        """Take in one row (d,); return the pivot, or None, with nothing changed, if unsafe.

        Parameters
        ----------
        row : array of shape (d,)
        label : int
            Its class.
        counts : ndarray of int or None
            Rows of each class so far; None without an intercept.
        """
        inverse = self.inverse
        if inverse.waiting == MOST_PENDING:
            inverse.flush()
        given, share, rate = np.zeros(3 + self._columns.shape[0]), 1.0, 0.0
        if counts is not None:  # without an intercept the mean is zero and stays so
            before = int(counts.sum())
            share, rate = before / (before + 1), 1 / (before + 1)
            given[3 : 3 + len(counts)] = counts * (-1.0 / max(1, before))
        given[0], given[1], given[2] = share, rate, inverse.waiting
        given[3 + label] += 1.0
        found = self._recording()(self._take_in, row, self.device.put(given))
        leverage, is_safe = self.device.host(found).tolist()
        if not is_safe:
            return None
        inverse.waiting += 1
        return 1.0 + float(share * leverage)

    def _recording(self) -> Recorded:
        """Return what has recorded `_take_in`, for the arrays that are held now."""
        held = (self._columns, self.mean, self.inverse.matrix)
        if self._recorded is None or any(a is not b for a, b in zip(self._held, held, strict=True)):
            self._recorded, self._held = Recorded(self.device), held
        return self._recorded

    def _take_in(self, row: Array, given: Array) -> Array:
        """Take in one row (d,), unless that is unsafe; return its leverage, and 1.0 if it was safe.

        `given` are what the row weighs, by how much it moves the mean, the first place that is
        free among pending changes, and the target. Nothing waits for the host here.
        """
        xp, inverse = self.device.xp, self.inverse
        share, rate, place, target = given[0], given[1], given[2], given[3:]
        z = row - self.mean
        product = inverse.matrix @ z
        add_times(product, inverse.pending.T, inverse.pending @ z, -1.0)
        leverage = z @ product
        pivot, rounding = 1.0 + share * leverage, (EPS * COMING_MARGIN) * share
        is_safe = (rounding * ((z * z) @ inverse.diagonal) < pivot) & (pivot < DOUBLE.largest_pivot)
        nothing = xp.zeros_like(z)
        z, product = xp.where(is_safe, z, nothing), xp.where(is_safe, product, nothing)
        weight = xp.where(is_safe, share / pivot, nothing[0])
        here = xp.astype(inverse.places == place, xp.float64) * xp.sqrt(weight)
        add_outer(inverse.pending, here, product, 1.0)
        error = target * weight
        add_times(error, self._columns, z * weight, -1.0)
        add_outer(self._columns, error, product, 1.0)
        self.mean += rate * z
        return xp.stack((leverage, xp.astype(is_safe, xp.float64)))

    def change(self, X: Array, targets: Floats, sign: int, before: float | None) -> float | None:
        """Add (sign 1) or take out (sign -1) rows `X` (m, d).

        As `Carried.change`. `targets` (m, T) are theirs, less the mean of the targets so far.
        Returns the most extreme pivot; None, with nothing changed, if that is unsafe.
        """
        xp, Z, shift = self.device.xp, X, None
        if before is not None:
            Z, after = X - self.mean, before + sign * X.shape[0]
        errors = self.device.put(targets) - Z @ self.columns.T
        if before is not None:
            shift = sign * xp.sum(Z, axis=0) / after
            share = 1 - (before / after) ** 0.5
            Z, errors = (each - share * xp.mean(each, axis=0) for each in (Z, errors))
        changed = self.inverse.change(Z, sign)
        if changed is None:
            return None
        gain, factor, pivot = changed
        step = sign * xp.linalg.solve(factor, errors)
        columns = self.columns
        columns += step.T @ gain.T
        if shift is not None:
            self.mean += shift
        return pivot


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
            return self.sums.counts.astype(np.float64)
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

    def learn(self, X: Array, index: Index, labels: Labels) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the sums do.

        `labels` are all classes there will be then.
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
            counts = self.sums.counts if self.fit_intercept else None
            pivot = carried.learn_row(rows[0, :], int(index[0]), counts)
        else:
            targets = self._own_targets(index, len(labels))
            pivot = carried.change(rows, targets, 1, self._weight())
        if pivot is None:
            self.discard()
            return
        self._watch.note(pivot)

    def forget(self, X: Array, index: Index) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the sums do.

        Raises NotTaughtError, and changes nothing that matters, if that cannot be.
        """
        rows, remaining = self.device.double(X), self.sums.total - X.shape[0]
        carried = None if self.class_weight or self._rebuild_is_cheaper(X) else self._carried
        if remaining and carried is not None and not self._leaves_little(rows):
            self._mend_drift(rows.shape[0])
            targets = self._own_targets(index, self.sums.n_classes)
            pivot = self._current().change(rows, targets, -1, self._weight())
            if pivot is not None:
                self._watch.note(pivot)
                return
        if remaining and not self.class_weight:  # whose sums are checked class by class
            self._check_definite(rows, remaining)
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
        masses, counts = self.masses, self.sums.counts
        return np.where(counts > 0, masses / np.maximum(counts, 1), 0.0)

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

    def _weight(self) -> float | None:
        """Return how many rows the mean is of; None without an intercept."""
        return float(self.sums.total) if self.fit_intercept else None

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

    def _check_definite(self, X: Array, remaining: int) -> None:
        self.discard()
        room = self._room if self._room is not None else self._zeros()
        self.sums.gram_in(room)
        slack = ROUNDING_SLACK * self.sums.trace + self.sums.rounding
        add_products(room, X, -1.0)
        if self.fit_intercept:
            xp = self.device.xp
            gone, held = xp.sum(X, axis=0), xp.sum(self.sums.cross, axis=1)
            mean = (held - gone) / remaining
            for columns in blocks(self.sums.width):
                room[:, columns] -= (remaining * mean)[:, None] * mean[None, columns]
        add_to_diagonal(room, self.penalty + slack, self.device)
        self._room = room
        if not invert_in_place(room, self.device):
            raise NotTaughtError(OF_NO_DATA)
