"""Several penalties at once: one solver each, on the same sums."""

import warnings
from collections.abc import Sequence

import numpy as np

from newfound.labels import Labels
from newfound.rebalancing import RebalancedSolver, check_removal
from newfound.solver import RecursiveSolver
from newfound.statistics import Index, Rows, Statistics

# An error of the weights, relative to their size, that forgetting does not pass over in silence.
FELT = 1e-6


class Candidates:
    """Solvers that learn and forget together; any of them may be asked.

    Parameters
    ----------
    solvers : sequence of solvers
        On the same statistics, by rising penalty.
    """

    # put_off: while it is set, nothing is kept current; the next question rebuilds it.

    def __init__(self, solvers: Sequence[RecursiveSolver | RebalancedSolver]) -> None:
        self.solvers = list(solvers)
        self.put_off = False

    @property
    def statistics(self) -> Statistics:
        """The sums that all are derived from."""
        return self.solvers[0].statistics

    @property
    def penalties(self) -> list[float]:
        """Their penalties, rising."""
        return [solver.penalty for solver in self.solvers]

    def learn(self, X: Rows, index: Index, labels: Labels) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the statistics do."""
        if self.put_off:
            self.discard()
            return
        for solver in self.solvers:
            solver.learn(X, index, labels)

    def forget(self, X: Rows, index: Index) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the statistics do.

        Raises NotTaughtError, and changes nothing that matters, if that cannot be.
        """
        check_removal(self.statistics, X, index)
        try:
            for solver in self.solvers:
                solver.forget(X, index)
        except BaseException:
            # Those before the one that refused have taken the rows out already.
            self.discard()
            raise

    def drop(self, places: Index) -> None:
        """Take out the columns of classes that have no examples left."""
        for solver in self.solvers:
            solver.drop(places)

    def discard(self) -> None:
        """Throw away all that is derived; the next question rebuilds it from the sums."""
        for solver in self.solvers:
            solver.discard()

    def lost_to_rounding(self) -> float:
        """Estimate the relative error that rounding of the sums, when largest, left in the weights.

        It is the rounding of the largest X'X there ever was, beside the mean eigenvalue of the
        present one plus the smallest penalty: eps d peak / (trace + d penalty).
        """
        width, grams = self.statistics.width, self.statistics.grams
        peak, trace = sum(gram.peak for gram in grams), sum(gram.trace for gram in grams)
        eps = float(np.finfo(np.float64).eps)
        return eps * width * peak / (trace + width * self.solvers[0].penalty)


def warn_of_rounding(before: float, after: float) -> None:
    """Warn if forgetting rows has brought `lost_to_rounding` to where it is felt."""
    if after > FELT >= before:
        size = f"{after:.0e} of their size" if after < 1 else "as large as they are"
        warnings.warn(
            "what was forgotten was so large that its rounding stays in the sums: errors of the "
            f"weights may be about {size}; to be rid of them, fit anew",
            UserWarning,
            stacklevel=4,  # whoever called `forget`, over the frame that holds the lock
        )
