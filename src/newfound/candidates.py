"""Several penalties at once: one solver each, on the same sums."""

from collections.abc import Sequence

from newfound.gram import Floats
from newfound.labels import Labels
from newfound.rebalancing import RebalancedSolver
from newfound.solver import RecursiveSolver
from newfound.statistics import Index, Rows, Statistics


class Candidates:
    """Solvers that learn together, one of which is asked.

    Equivalent to the one that is chosen, whichever that is: all are always current.

    Parameters
    ----------
    solvers : sequence of solvers
        On the same statistics, by rising penalty.
    """

    def __init__(self, solvers: Sequence[RecursiveSolver | RebalancedSolver]) -> None:
        self.solvers = list(solvers)
        self.chosen = 0

    @property
    def statistics(self) -> Statistics:
        """The sums that all are derived from."""
        return self.solvers[0].statistics

    @property
    def penalties(self) -> list[float]:
        """Their penalties, rising."""
        return [solver.penalty for solver in self.solvers]

    @property
    def masses(self) -> Floats:
        """What each class weighs in the sums, shape (T,)."""
        return self.solvers[0].masses

    @property
    def weights(self) -> Floats:
        """Weights of the chosen one, shape (d, T), not recoded; must not be written to."""
        return self.solvers[self.chosen].weights

    @property
    def intercept(self) -> Floats:
        """Intercepts of the chosen one, shape (T,), not recoded; must not be written to."""
        return self.solvers[self.chosen].intercept

    def leverage(self, X: Rows) -> Floats:
        """Return x'A^-1 x of the chosen one for each row of `X`, shape (m,)."""
        return self.solvers[self.chosen].leverage(X)

    def learn(self, X: Rows, index: Index, labels: Labels) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the statistics do."""
        for solver in self.solvers:
            solver.learn(X, index, labels)

    def forget(self, X: Rows, index: Index) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the statistics do.

        Raises NotTaughtError, and changes nothing that matters, if that cannot be.
        """
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
