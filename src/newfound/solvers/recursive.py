"""Weights and leverage, derived from the sums and kept current in fixed time."""

from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Index, Labels, Rows
from newfound.common.device import Array
from newfound.common.errors import NotTaughtError
from newfound.common.threads import one_thread
from newfound.solvers.cholesky import Equations
from newfound.solvers.inverse import LIMITS
from newfound.solvers.kernel import Kernel
from newfound.solvers.monitor import DriftMonitor
from newfound.solvers.renewal import Rebuild
from newfound.solvers.state import SolverState
from newfound.sums.removal import OF_NO_DATA
from newfound.sums.sums import Sums

# A drift so many times beyond its limit is mended at once, and not while rows come and go.
URGENT = 10.0


class RecursiveSolver:
    """Ridge weights by the inverse form of recursive least squares.

    Carries A^-1 and the weights W, with A the (centred) gram plus penalty. A row costs one
    product with A^-1, one rank-one change of it and one of W: O(d^2 + dT), whatever was seen
    before. A batch of m rows is one rank-m change. With an intercept, rows are centred as they
    come, which keeps it exact and out of the penalty.

    Everything here is derived. It is rebuilt from the sums when it is first needed after a large
    batch, when another penalty is foreseen and when the measured `drift` passes its limit: on the
    host, in pieces while rows come and go. When that is, is decided here; what is done then is the
    kernel's, which knows where the sums live.

    Equivalent to `scipy.linalg.solve(A, B, assume_a="pos")`, and to scikit-learn's `Ridge` on
    one-hot targets.

    Parameters
    ----------
    sums : Sums
    penalty : float
    fit_intercept : bool
    kernel : Kernel, optional
        That of the host, if none is given.
    """

    # _state: belongs to the same rows as the sums do, except inside `learn` and `forget`. None:
    #     all is to be rebuilt.
    # _foreseen: a penalty that is to be used one day, if it is known.
    # _next: what is to be carried then, or for the same penalty. It learns and forgets all rows
    #     that `_state` does.
    # _monitor: says when what is carried is no longer good enough.
    # _most: rows by which what is carried is changed at most. A rank-m change takes about 3 d^2 m
    #     operations, and a rebuild d^3.

    def __init__(
        self, sums: Sums, penalty: float, fit_intercept: bool, kernel: Kernel | None = None
    ) -> None:
        self.sums, self.penalty, self.fit_intercept = sums, penalty, fit_intercept
        self.kernel = Kernel(sums, fit_intercept) if kernel is None else kernel
        self.rebuilds = 0
        self._state: SolverState | None = None
        self._foreseen: float | None = None
        self._next: Rebuild | None = None
        self._monitor = DriftMonitor(sums.width, LIMITS[np.dtype(np.float64)])
        self._most = max(1, sums.width // 3)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_next": None}  # which cannot be copied, but begun anew

    @property
    def weight_sums(self) -> Floats:
        """What each class weighs in the sums, shape (T,): its count, if each example weighs one."""
        return self.kernel.weight_sums

    @property
    def weights(self) -> Array:
        """Weights, shape (d, T), not recoded; must not be written to."""
        return self._current().weights

    @property
    def intercept(self) -> Array:
        """Intercepts, shape (T,), not recoded; must not be written to."""
        return self._current().intercept

    def scores(self, X: Rows, factors: Floats) -> Array:
        """Return the scores of rows `X` (m, d) times `factors` (T,), shape (m, T)."""
        return self._current().scores(X, factors)

    @one_thread
    def leverage(self, X: Rows) -> Array:
        """Return x'A^-1 x for each row of `X`, shape (m,); with an intercept, 1/n is part of it."""
        values = self._current().leverage(X)
        return values + 1 / self.kernel.weight_sum if self.fit_intercept else values

    @property
    def mean_leverage(self) -> float:
        """The mean leverage of all rows taught, each with its weight, but for 1/n."""
        # The trace of A^-1 (A - penalty I).
        trace = self.sums.width - self.penalty * self._current().inverse.trace
        return max(0.0, trace) / self.kernel.weight_sum

    def equations(self) -> Equations:
        """Return the sums that the weights solve, on the host; only the gram may be written to."""
        return self.kernel.equations()

    def learn(
        self, X: Rows, index: Index, labels: Labels, sample_weight: Floats | None = None
    ) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the sums do.

        `labels` are all classes there will be then. Each row counts as often as its weight says.
        """
        state = self._ready(len(index)) if self.sums.total else self._start(X)
        if state is None and self._state is None and self._next is not None:
            self._go_on(X, index, len(labels), 1, sample_weight)
            return
        if state is None:
            self.discard()
            return
        if state.inverse.is_single and not state.inverse.suits(X):
            self.kernel.may_be_single = False
            state = self.rebuild()
        state.add_classes(len(labels))
        if len(index) == 1:
            weight = 1.0 if sample_weight is None else float(sample_weight[0])
            pivot = state.learn_row(X, int(index[0]), weight)
        else:
            pivot = state.change(X, index, 1, sample_weight)
        if pivot is None:
            self.kernel.may_be_single &= not state.inverse.is_single
            self.discard()
            return
        self._monitor.note(pivot)
        if self._next is not None or self._foreseen is not None:
            self._go_on(X, index, len(labels), 1, sample_weight)

    def forget(self, X: Rows, index: Index, sample_weight: Floats | None = None) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the sums do.

        Raises NotTaughtError, and changes nothing that matters, if that cannot be.
        """
        remaining, state = self.sums.total - len(index), None
        if remaining and self._state and not self._leaves_little(X, index, sample_weight):
            state = self._ready(len(index))
        if state is not None:
            pivot = state.change(X, index, -1, sample_weight)
            if pivot is not None:
                self._monitor.note(pivot)
                if self._next is not None or self._foreseen is not None:
                    self._go_on(X, index, self.sums.n_classes, -1, sample_weight)
                return
        if remaining:
            if self.kernel.overwrites:
                self._state = None
            if not self.kernel.is_definite_without(X, index, sample_weight, self.penalty):
                raise NotTaughtError(OF_NO_DATA)
        self.discard()

    def _ready(self, m: int) -> SolverState | None:
        """Before m rows come or go, return what is carried, mended if it is no longer good enough.

        None: it cannot be changed, or is rebuilt sooner than that.
        """
        state, monitor = self._state, self._monitor
        if state is None or m > self._most or not state.is_writeable:
            return None
        if monitor.is_rough:
            self._refine(state)
        is_due = monitor.count(m)
        return self._mended(state, is_due) if is_due or self._next is not None else state

    def _leaves_little(self, X: Rows, index: Index, sample_weight: Floats | None) -> bool:
        """Tell whether so little is left without rows that what is carried is no good for it."""
        sums, trace = self.sums, self.sums.trace
        squares = trace - self.kernel.square(X, sample_weight)
        left = squares, sums.weight_sum_without(index, sample_weight)
        return self._monitor.leaves_little((trace, sums.weight_sum), left)

    def remove_classes(self, index: Index) -> None:
        """Take out the columns of classes that have no examples left."""
        if self._state is not None and len(index):
            self._state.remove_classes(index)
            if self._next is not None and self._next.penalty == self.penalty:
                self.discard()  # it is to be rebuilt, and what was begun counts other classes
            self._next = None

    def discard(self) -> None:
        """Throw away all that is derived; the next question rebuilds it from the sums."""
        self._state = self._next = self._foreseen = None

    def begin(self) -> None:
        """Derive everything a piece with every row that comes, before anybody asks."""
        if self._state is None:
            self._next = self.kernel.begin(self.penalty)

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

    @one_thread
    def drift(self) -> float:
        """Measure how far the carried weights and inverse are from what the sums say.

        The larger of two relative errors along a random combination of the classes' weights: the
        correction that one step of iterative refinement would make to it, and, in float64, what
        the inverse of A times A would make of it. Each takes three products with a d x d matrix.
        """
        state = self._current()
        errors = [self._drift(state, of_inverse=False)]
        if not state.inverse.is_single:
            errors.append(self._drift(state, of_inverse=True))
        return max(errors)

    def _drift(self, state: SolverState, *, of_inverse: bool) -> float:
        measure = self.kernel.drift_of_inverse if of_inverse else self.kernel.drift_of_weights
        return measure(state, self.penalty)

    def rebuild(self) -> SolverState:
        """Derive everything from the sums, O(d^3); return it."""
        self._state = None  # whose memory may be needed
        return self._carry(self.kernel.derive(self.penalty))

    def _start(self, X: Rows) -> SolverState | None:
        """Derive everything from no rows, unless it can be rebuilt sooner than changed by `X`."""
        self._state = None
        if X.shape[0] <= self._most:
            self._state = self.kernel.start(X, self.penalty)
        if self._state is not None:
            self._monitor.restart(self._state.inverse.limits)
        return self._state

    def _carry(self, state: SolverState) -> SolverState:
        """Take over what was derived from the sums as they are; return it."""
        self._state, self._next, self._foreseen = state, None, None
        self.rebuilds += 1
        self._monitor.restart(state.inverse.limits)
        if state.is_writeable:
            self._monitor.floor = self.drift()
        return state

    def _current(self) -> SolverState:
        """Return what is carried, with weights that are as good as the sums."""
        if self._state is None and self._next is not None and self._next.penalty == self.penalty:
            self._take_over(self._next)
        if self._state is None:
            return self.rebuild()
        if self._monitor.is_rough:
            self._refine(self._state)
        return self._state

    @one_thread
    def _refine(self, state: SolverState) -> None:
        self.kernel.refine(state, self.penalty)
        self._monitor.is_rough = False

    def _mended(self, state: SolverState, is_due: bool) -> SolverState:
        """End a rebuild, or begin one if it is due and asked for; return what is carried then."""
        monitor, coming = self._monitor, self._next
        if coming is not None and coming.penalty == self.penalty:
            if coming.is_done:
                self._take_over(coming)
        elif is_due and monitor.since_stiff is not None:
            self._renew()
        elif is_due:
            is_single = state.inverse.is_single
            drift = self._drift(state, of_inverse=monitor.turn and not is_single)
            if monitor.asks_for_rebuild(drift):
                self.kernel.may_be_single &= not is_single
                if drift > URGENT * max(monitor.limits.drift, monitor.floor):
                    self.rebuild()
                else:
                    self._renew()
        return self._current()

    def _renew(self) -> None:
        """Rebuild: in pieces from now on, if the kernel does so, or at once."""
        self._next = self._next or self.kernel.begin(self.penalty)
        if self._next is None:
            self.rebuild()

    def _go_on(
        self, X: Rows, index: Index, size: int, sign: int, sample_weight: Floats | None
    ) -> None:
        """Begin or go on with what is to be carried one day, if there is anything."""
        foreseen = self._foreseen
        try:
            if foreseen is not None and (self._next is None or self._next.penalty != foreseen):
                self._next = self.kernel.begin(foreseen) if foreseen != self.penalty else None
            if self._next is not None:
                self._next.change(X, index, size, sign, sample_weight)
        except MemoryError:  # it can be derived at once, when there is more
            self._next = self._foreseen = None

    def _take_over(self, coming: Rebuild) -> None:
        try:
            state = coming.finish()
        except MemoryError:  # the next question will say so
            state = None
        if state is None:
            self.discard()
            return
        self._carry(state)
        self._monitor.note(coming.stiffest)
