"""Several penalties at once: one solver each, on the same sums."""

import warnings
from collections.abc import Sequence

import numpy as np

from newfound.common.arrays import Index, Labels, Rows
from newfound.solvers.base import Solver
from newfound.sums.sums import Sums

# An error of the weights, relative to their size, that forgetting does not pass over in silence.
FELT = 1e-6
# How often longer than what is left, typically, a row must have been to be suspected of it.
OUTLIER = 100.0


class Candidates:
    """Solvers that learn and forget together; any of them may be asked.

    Parameters
    ----------
    solvers : sequence of solvers
        On the same sums, by rising penalty.
    """

    def __init__(self, solvers: Sequence[Solver]) -> None:
        self.solvers = list(solvers)

    @property
    def sums(self) -> Sums:
        """The sums that all are derived from."""
        return self.solvers[0].sums

    @property
    def penalties(self) -> list[float]:
        """Their penalties, rising."""
        return [solver.penalty for solver in self.solvers]

    def learn(self, X: Rows, index: Index, labels: Labels) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the sums do."""
        for solver in self.solvers:
            solver.learn(X, index, labels)

    def forget(self, X: Rows, index: Index) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the sums do.

        Raises NotTaughtError, and changes nothing that matters, if that cannot be.
        """
        try:
            for solver in self.solvers:
                solver.forget(X, index)
        except BaseException:
            # Those before the one that refused have taken the rows out already.
            self.discard()
            raise

    def remove_classes(self, index: Index) -> None:
        """Take out the columns of classes that have no examples left."""
        for solver in self.solvers:
            solver.remove_classes(index)

    def discard(self) -> None:
        """Throw away all that is derived; the next question rebuilds it from the sums."""
        for solver in self.solvers:
            solver.discard()

    def rounding_left_by(self, gone: Rows) -> float:
        """Estimate the relative error of the weights that rows `gone`, (m, d), left in the sums.

        0 unless one of them was far longer than what is left. Then it is the rounding of the
        largest X'X there ever was, beside the least sum of squares of a feature around its mean,
        plus the smallest penalty: eps peak / (least + penalty). Rows that were still waiting to be
        added up leave nothing.
        """
        sums, solver = self.sums, self.solvers[0]
        if not sums.total:
            return 0.0
        longest = np.einsum("ij,ij->i", gone, gone, dtype=np.float64).max()
        squares = sums.squares
        if longest <= OUTLIER**2 * squares.sum() / sums.total:
            return 0.0
        if solver.fit_intercept:
            squares = squares - sums.cross.sum(axis=1) ** 2 / sums.total
        peak, eps = sum(gram.peak for gram in sums.grams), np.finfo(np.float64).eps
        return float(eps * peak / (max(0.0, squares.min()) + solver.penalty))


def warn_of_rounding(error: float, stacklevel: int) -> None:
    """Warn if an error that forgetting left is one to be felt."""
    if error > FELT:
        size = f"{error:.0e} of their size" if error < 1 else "as large as they are"
        warnings.warn(
            "what was forgotten was so large that its rounding stays in the sums: errors of the "
            f"weights may be about {size}; to be rid of them, fit anew",
            UserWarning,
            stacklevel=stacklevel + 1,
        )
