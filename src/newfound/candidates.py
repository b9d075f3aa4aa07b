"""Several penalties at once: one solver each, on the same sums."""

from collections.abc import Sequence

from newfound.labels import Labels
from newfound.rebalancing import RebalancedSolver, check_removal
from newfound.solver import RecursiveSolver
from newfound.statistics import Index, Rows, Statistics


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
