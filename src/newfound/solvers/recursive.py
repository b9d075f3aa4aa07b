"""Weights and leverage, derived from the sums and kept current in fixed time."""

from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Index, Labels, Rows
from newfound.common.errors import NotTaughtError
from newfound.common.pieces import at_once
from newfound.common.threads import one_thread
from newfound.solvers.carried import Carried
from newfound.solvers.cholesky import Equations, invert, regularised, solve
from newfound.solvers.inverse import LIMITS, Inverse
from newfound.solvers.renewal import Renewal, derived_in_stages
from newfound.solvers.watch import Watch
from newfound.sums.blas import norm, second_moment, times
from newfound.sums.device import weighted
from newfound.sums.removal import OF_NO_DATA, ROUNDING_SLACK, is_definite
from newfound.sums.sums import Sums

# A drift so many times beyond its limit is mended at once, and not while rows come and go.
URGENT = 10.0


class RecursiveSolver:
    """Ridge weights by the inverse form of recursive least squares.

    Carries A^-1 and the weights W, with A the (centred) gram plus penalty. A row costs one
    product with A^-1, one rank-one change of it and one of W: O(d^2 + dT), whatever was seen
    before. A batch of m rows is one rank-m change, through level-3 BLAS. With an intercept, rows
    are centred as they come, which keeps it exact and out of the penalty.

    Everything here is derived. It is rebuilt from the sums when it is first needed after a large
    batch, and, in pieces while rows come and go, when another penalty is foreseen and when the
    measured `drift` passes its limit. The inverse of a model of float32 rows is carried in float32
    until that drifts too far; from then on in float64.

    Equivalent to `scipy.linalg.solve(A, B, assume_a="pos")`, and to scikit-learn's `Ridge` on
    one-hot targets.
    """

    # _carried: belongs to the same rows as the sums do, except inside `learn` and `forget`. None:
    #     all is to be rebuilt.
    # _foreseen: a penalty that is to be used one day, if it is known.
    # _next: what is to be carried then, or for the same penalty. It learns and forgets all rows
    #     that `_carried` does.
    # _watch: says when what is carried is no longer good enough.
    # _single_failed: whether float32 has drifted too far, so that all is carried in float64.

    def __init__(self, sums: Sums, penalty: float, fit_intercept: bool) -> None:
        self.sums = sums
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.rebuilds = 0
        self._carried: Carried | None = None
        self._foreseen: float | None = None
        self._next: Renewal | None = None
        self._watch = Watch(sums.width, LIMITS[np.dtype(np.float64)])
        self._single_failed = False
        self._probes = np.random.default_rng(0)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_next": None}  # which cannot be copied, but begun anew

    @property
    def masses(self) -> Floats:
        """What each class weighs in the sums, shape (T,): its count, if each example weighs one."""
        return self.sums.masses

    @property
    def weights(self) -> Floats:
        """Weights, shape (d, T), not recoded; must not be written to."""
        return self._current().weights

    @property
    def intercept(self) -> Floats:
        """Intercepts, shape (T,), not recoded; must not be written to."""
        return self._current().intercept

    @one_thread
    def leverage(self, X: Rows) -> Floats:
        """Return x'A^-1 x for each row of `X`, shape (m,); with an intercept, 1/n is part of it."""
        carried = self._current()
        values = carried.inverse.quadratic(X - carried.mean)
        return values + 1 / self.sums.mass if self.fit_intercept else values

    @property
    def mean_leverage(self) -> float:
        """The mean leverage of all rows taught, each with its weight, but for 1/n."""
        # The trace of A^-1 (A - penalty I).
        trace = self.sums.width - self.penalty * self._current().inverse.trace
        return max(0.0, trace) / self.sums.mass

    def equations(self) -> Equations:
        """Return the sums that the weights solve; only the gram may be written to."""
        return Equations(self.sums.gram, self.sums.cross, self.masses)

    @one_thread
    def learn(
        self, X: Rows, index: Index, labels: Labels, sample_weight: Floats | None = None
    ) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the sums do.

        `labels` are all classes there will be then. Each row counts as often as its weight says.
        """
        if not self.sums.total:
            self._start(X)
        if self._carried is None or self._rebuild_is_cheaper(X) or not self._carried.is_writeable:
            self.discard()
            return
        if not self._carried.inverse.suits(X):
            self.rebuild(single=False)
        if self.sums.total:
            self._mend_drift(len(X))
        carried = self._carried
        carried.add_classes(len(labels))
        if len(X) == 1:
            weight = 1.0 if sample_weight is None else float(sample_weight[0])
            pivot = carried.learn_row(X, int(index[0]), weight)
        else:
            pivot = carried.change(X, index, 1, sample_weight)
        if pivot is None:
            self._fail()
            return
        self._watch.note(pivot)
        self._renew(X, index, len(labels), 1, sample_weight)

    @one_thread
    def forget(self, X: Rows, index: Index, sample_weight: Floats | None = None) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the sums do.

        Raises NotTaughtError, and changes nothing that matters, if that cannot be.
        """
        remaining, carried = self.sums.total - len(X), self._carried
        small = carried is not None and carried.is_writeable and not self._rebuild_is_cheaper(X)
        rows = weighted(X, sample_weight, None)
        if remaining and small and not self._leaves_little(rows):
            self._mend_drift(len(X))
            pivot = self._current().change(X, index, -1, sample_weight)
            if pivot is not None:
                self._watch.note(pivot)
                self._renew(X, index, self.sums.n_classes, -1, sample_weight)
                return
        if remaining:
            gone = X.sum(axis=0, dtype=np.float64) if sample_weight is None else sample_weight @ X
            lost = len(X) if sample_weight is None else sample_weight.sum()
            self._check_definite(rows, gone, float(self.sums.mass - lost))
        self.discard()

    def remove_classes(self, index: Index) -> None:
        """Take out the columns of classes that have no examples left."""
        if self._carried is not None and len(index):
            self._carried.remove_classes(index)
            if self._next is not None and self._next.penalty == self.penalty:
                self.discard()  # it is to be rebuilt, and what was begun counts other classes
            self._next = None

    def discard(self) -> None:
        """Throw away all that is derived; the next question rebuilds it from the sums."""
        self._carried = self._next = self._foreseen = None

    def foresee(self, penalty: float) -> None:
        """Derive all for another penalty, a piece with every row that comes from now on."""
        self._foreseen = penalty

    @one_thread
    def use(self, penalty: float) -> None:
        """Answer for another penalty from now on; what was begun for it is finished."""
        coming = self._next
        self.discard()
        self.penalty = penalty
        if coming is not None and coming.penalty == penalty:
            self._take_over(coming)

    def _renew(
        self, X: Rows, index: Index, size: int, sign: int, sample_weight: Floats | None
    ) -> None:
        """Begin or go on with what is to be carried one day, if there is anything."""
        foreseen = self._foreseen
        try:
            if foreseen is not None and (self._next is None or self._next.penalty != foreseen):
                self._next = self._renewal(foreseen) if foreseen != self.penalty else None
            if self._next is not None:
                self._next.change(X, index, size, sign, sample_weight)
        except MemoryError:  # it can be derived at once, when there is more
            self._next = self._foreseen = None

    def _take_over(self, renewal: Renewal) -> None:
        try:
            carried = renewal.finish()
        except MemoryError:  # the next question will say so
            carried = None
        if carried is None:
            self.discard()
            return
        self._carry(carried)
        self._watch.note(renewal.stiffest)

    def _renewal(self, penalty: float) -> Renewal:
        return Renewal(self.sums, penalty, self.fit_intercept, single=self._may_be_single())

    def _may_be_single(self) -> bool:
        return self.sums.dtype == np.float32 and not self._single_failed

    @one_thread
    def drift(self) -> float:
        """Measure how far the carried weights and inverse are from what the sums say.

        The larger of two relative errors along a random combination of the classes' weights: the
        correction that one step of iterative refinement would make to it, and, in float64, what
        the inverse of A times A would make of it. Each takes three products with a d x d matrix.
        """
        errors = [self._drift_of_weights()]
        if not self._current().inverse.is_single:
            errors.append(self._drift_of_inverse())
        return max(errors)

    def _drift_of_weights(self) -> float:
        W, cross = self.weights, self.sums.cross
        mix: Floats = self._probes.standard_normal((W.shape[1],))
        target = times(cross, mix) - self._sums_mean() * (self.sums.masses @ mix)
        correction = self._current().inverse.times(target - self._image(times(W, mix)))
        return norm(correction) / (norm(W) or 1.0)

    def _drift_of_inverse(self) -> float:
        W = self.weights
        direction = times(W, self._probes.standard_normal((W.shape[1],)))
        if not direction.any():  # as long as there is but one class: then any direction will do
            direction = self._probes.standard_normal(direction.shape)
        error = self._current().inverse.times(self._image(direction)) - direction
        return norm(error) / norm(direction)

    @one_thread
    def rebuild(self, single: bool | None = None) -> Carried:
        """Derive everything from the sums, O(d^3); return it.

        In float32 if all rows were, unless that has failed before or `single` says otherwise.
        """
        single = self._may_be_single() if single is None else single
        options = (self.sums, self.penalty, self.fit_intercept)
        carried = at_once(derived_in_stages(*options, single=single)) or self._from_indefinite()
        self._carry(carried)
        return carried

    def _from_indefinite(self) -> Carried:
        """Return what follows from sums whose smallest eigenvalues are lost to rounding."""
        sums, solution = self.sums, solve(self.equations(), self.penalty, self.fit_intercept)
        inverse = Inverse(invert(solution.factor), np.float64)
        derived = (solution.weights, solution.intercept, solution.mean)
        return Carried(inverse, *derived, sums.mass, self.fit_intercept)

    def _start(self, X: Rows) -> None:
        """Derive everything from no rows at all, in the precision of the first that come."""
        options = (self.sums.width, self.penalty, self.fit_intercept)
        single = X.dtype == np.float32 and not self._single_failed
        self._carried = Carried.of_nothing(*options, single=single)
        self._watch.restart(self._carried.inverse.limits)

    def _carry(self, carried: Carried) -> None:
        """Take over what was derived from the sums as they are."""
        self._carried, self._next, self._foreseen = carried, None, None
        self.rebuilds += 1
        self._watch.restart(carried.inverse.limits)
        self._watch.floor = self.drift()

    def _current(self) -> Carried:
        """Return what is carried, with weights that are as good as the sums."""
        if self._carried is None:
            return self.rebuild()
        if self._watch.is_rough:
            self._refine(self._carried)
        return self._carried

    @one_thread
    def _refine(self, carried: Carried) -> None:
        """Take one step of iterative refinement: W += A^-1 (right-hand side - A W)."""
        W, sums = carried.weights, self.sums
        W = W + carried.inverse.times(self._right() - self._image(W))
        carried.weights, carried.mean = W, self._sums_mean()
        if self.fit_intercept:
            carried.intercept = sums.masses / sums.mass - carried.mean @ W
        self._watch.is_rough = False

    def _sums_mean(self) -> Floats:
        if not self.fit_intercept:
            return np.zeros(self.sums.width)
        mean: Floats = self.sums.cross.sum(axis=1) / self.sums.mass
        return mean

    def _right(self) -> Floats:
        """Return the right-hand side of the normal equations, shape (d, T)."""
        return self.sums.cross - np.outer(self._sums_mean(), self.sums.masses)

    def _image(self, columns: Floats) -> Floats:
        """Return A times `columns`, of shape (d,) or (d, k), from the sums."""
        mean, n = self._sums_mean(), self.sums.mass
        image = self.sums.gram_times(columns) + self.penalty * columns
        image -= np.multiply.outer(n * mean, mean @ columns)
        return image

    def _rebuild_is_cheaper(self, X: Rows) -> bool:
        # A rank-m change takes about 3 d^2 m operations, an inversion d^3.
        return len(X) > 1 and 3 * len(X) > self.sums.width

    def _leaves_little(self, X: Rows) -> bool:
        held = self.sums.trace
        squares = np.einsum("ij,ij->", X, X, dtype=np.float64)
        return self._watch.leaves_little(held, float(squares))

    def _mend_drift(self, coming: int) -> None:
        """Before rows come or go: rebuild if what is carried is no longer good enough."""
        inverse, watch = self._current().inverse, self._watch
        watch.count(coming)
        if self._next is not None and self._next.penalty == self.penalty:
            if self._next.is_done:
                self._take_over(self._next)
                self._current()
        elif watch.is_recovered:
            self._next = self._next or self._renewal(self.penalty)
        elif watch.is_due:
            of_inverse = watch.turn and not inverse.is_single
            drift = self._drift_of_inverse() if of_inverse else self._drift_of_weights()
            if watch.asks_for_rebuild(drift):
                self._single_failed |= inverse.is_single
                if drift > URGENT * max(watch.limits.drift, watch.floor):
                    self.rebuild()
                else:
                    self._next = self._next or self._renewal(self.penalty)

    def _fail(self) -> None:
        """Discard all, for it is no good; if float32 was, it is not tried again."""
        self._single_failed |= self._carried is not None and self._carried.inverse.is_single
        self.discard()

    def _check_definite(self, rows: Rows, gone: Floats, remaining: float) -> None:
        """Raise NotTaughtError if the sums without weighted rows, and their sum, are of no data."""
        gram = self.sums.gram
        slack = ROUNDING_SLACK * gram.trace() + self.sums.rounding
        gram -= second_moment(rows)
        mean = np.zeros(len(gram))
        if self.fit_intercept:
            mean = (self.sums.cross.sum(axis=1) - gone) / remaining
        if not is_definite(regularised(gram, mean, remaining, self.penalty + slack)):
            raise NotTaughtError(OF_NO_DATA)
