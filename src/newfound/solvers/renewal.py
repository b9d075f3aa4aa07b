"""Deriving everything anew while rows come and go, a piece with each of them."""

from functools import partial

import numpy as np

from newfound.common.arrays import Floats, Index, Rows
from newfound.common.pieces import Pieces, Stages
from newfound.common.threads import one_thread
from newfound.solvers.cholesky import Equations
from newfound.solvers.state import (
    SOME_ROWS,
    SolverState,
    state_from_rows_in_stages,
    state_in_stages,
)
from newfound.sums.gram import raw_rows
from newfound.sums.strips import block_rows
from newfound.sums.sums import Sums

# Operations of a piece, in d^2: about fifteen times as long as a plain step.
PIECE = 128
# In how many parts memory for a matrix is touched for the first time.
NEW_PARTS = 8


def derived_in_stages(
    sums: Sums,
    penalty: float,
    fit_intercept: bool,
    *,
    single: bool,
    workspace: Floats | None = None,
) -> Stages[SolverState | None]:
    """Derive everything from the sums as they are now; None, if rounding stands against it.

    A matrix (d, d) in Fortran order may be given as workspace.
    """
    weight_sums, options = sums.weight_sums.copy(), (penalty, fit_intercept)
    rows = sums.held_rows if 3 * sums.total <= sums.width else None
    workspace = np.empty((sums.width, sums.width), order="F") if workspace is None else workspace
    if rows is not None:
        equations = Equations(workspace, sums.cross.copy(), weight_sums, sums.origin)
        return state_from_rows_in_stages(rows, equations, *options, single=single)
    equations = Equations(sums.gram_in(workspace), sums.cross.copy(), weight_sums, sums.origin)
    return state_in_stages(equations, *options, single=single)


def pieces_of_renewal(width: int, total: int, classes: int) -> int:
    """Return how many pieces it takes, and a few more, to derive everything from so many rows.

    >>> pieces_of_renewal(1280, 10, 5), pieces_of_renewal(1280, 90, 5)
    (0, 14)
    >>> pieces_of_renewal(1280, 8000, 51)
    23
    """
    if total <= block_rows(width):  # so few that it may as well be done at once
        return 0
    from_rows, from_sums = total // SOME_ROWS, (width + 4 * classes) // PIECE
    return NEW_PARTS + 4 + (from_rows if total + SOME_ROWS <= raw_rows(width) else from_sums)


class Rebuild:
    """What a solver will carry, for a penalty: of the sums as they are, and rows that come and go.

    Parameters
    ----------
    sums : Sums
    penalty : float
    fit_intercept : bool
    single : bool
        Whether to carry the inverse in float32, if that will do.

    Examples
    --------
    >>> sums = Sums.of([[0.0], [1.0]], ["cup", "mug"])
    >>> rebuild = Rebuild(sums, penalty=2.0, fit_intercept=False, single=False)
    >>> more = np.array([[3.0]]), np.array([1])
    >>> rebuild.change(*more, size=2, sign=1)
    >>> sums.add(*more, sums.labels)
    >>> state = rebuild.finish()
    >>> state.weight_sum, state.weights.round(3)
    (3.0, array([[0.   , 0.333]]))
    """

    # stiffest: the most extreme pivot of what came or went meanwhile.
    # _derive: begins to derive everything from the sums as they are then, in pieces of `_size`.
    # _new: parts of its workspace that were never touched: new memory is slow to come.
    # _pieces: of deriving everything. None: the sums have not been copied yet.
    # _rows: by sign, those to be learned, and those to be forgotten once these are, each with their
    #     classes and weights, and how many classes there are then.
    # _state: once it is made. None before; and for good, if it cannot be made.

    def __init__(self, sums: Sums, penalty: float, fit_intercept: bool, *, single: bool) -> None:
        self.penalty = penalty
        self.stiffest = 1.0
        workspace = np.empty((sums.width, sums.width), order="F")
        self._derive = partial(
            derived_in_stages, sums, penalty, fit_intercept, single=single, workspace=workspace
        )
        self._new = np.array_split(workspace, NEW_PARTS, axis=1)
        self._size = float(PIECE * sums.width**2)
        self._pieces: Pieces[SolverState | None] | None = None
        self._rows: dict[int, list[tuple[Rows, Index, Floats, int]]] = {1: [], -1: []}
        self._state: SolverState | None = None

    @property
    def is_done(self) -> bool:
        """Whether it knows all rows that came and went, or never will."""
        is_made = self._pieces is not None and self._pieces.is_done
        return is_made and (self._state is None or not any(self._rows.values()))

    @one_thread
    def change(
        self, X: Rows, index: Index, size: int, sign: int, sample_weight: Floats | None = None
    ) -> None:
        """Go on a piece, before rows `X` (m, d) of classes `index` (m,) come (sign 1) or go (-1).

        There are `size` classes in all then.
        """
        if self._new:
            self._new.pop().fill(0.0)
            return
        before = self._pieces
        if before is None:
            self._begin()
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        self._rows[sign].append((X.copy(), index, weights, size))
        if before is not None:
            self._step(before)

    def _begin(self) -> Pieces[SolverState | None]:
        self._pieces = Pieces(self._derive(), self._size)
        return self._pieces

    @one_thread
    def finish(self) -> SolverState | None:
        """Do all that is left; return what is to be carried, or None if it cannot be made."""
        pieces = self._pieces or self._begin()
        if not pieces.is_done:
            self._state = pieces.finish()
        while not self.is_done:
            self._step(pieces)
        return self._state

    def _step(self, pieces: Pieces[SolverState | None]) -> None:
        if not pieces.is_done:
            pieces.step()
            self._state = pieces.result
        elif self._state is not None:
            self._catch_up(self._state)

    def _catch_up(self, state: SolverState) -> None:
        # Not in their turn: if they come and go by turns, it could take but one of them at a time.
        sign = 1 if self._rows[1] else -1
        rows = self._rows[sign]
        so_far = np.cumsum([len(X) for X, *_ in rows])
        some = 1 + int(np.searchsorted(so_far[:-1], SOME_ROWS))
        blocks, indices, weights, sizes = zip(*rows[:some], strict=True)
        X, index, weight = map(np.concatenate, (blocks, indices, weights))
        state.add_classes(sizes[-1])
        sample_weight = None if (weight == 1).all() else weight
        pivot = None
        if state.inverse.suits(X):
            pivot = state.change(X, index, sign, sample_weight)
        if pivot is None:
            self._state = None
            return
        self.stiffest = max(self.stiffest, pivot)
        del rows[:some]
