"""What every solver can do, and which one the settings ask for."""

from typing import Protocol

from newfound.common.arrays import Floats, Index, Labels, Rows
from newfound.common.errors import InputError
from newfound.solvers.cholesky import Equations
from newfound.solvers.device import ClassWeightedKernel, DeviceKernel
from newfound.solvers.recursive import RecursiveSolver
from newfound.solvers.settings import SelectionSettings, Settings
from newfound.solvers.weighted import RebalancedSolver
from newfound.sums.sums import Sums


class Solver(Protocol):
    """Derives weights, intercept and leverage from sums, and keeps them current."""

    sums: Sums
    penalty: float
    fit_intercept: bool

    @property
    def weight_sums(self) -> Floats:
        """What each class weighs in the sums, shape (T,)."""

    @property
    def weights(self) -> Floats:
        """Weights, shape (d, T), not recoded; must not be written to."""

    @property
    def intercept(self) -> Floats:
        """Intercepts, shape (T,), not recoded; must not be written to."""

    def scores(self, X: Rows, factors: Floats) -> Floats:
        """Return X W plus the intercept, times `factors` (T,), shape (m, T)."""

    def leverage(self, X: Rows) -> Floats:
        """Return x'A^-1 x for each row of `X`, shape (m,); with an intercept, 1/n is part of it."""

    @property
    def mean_leverage(self) -> float:
        """The mean leverage of all rows taught, each with its weight, but for 1/n."""

    def equations(self) -> Equations:
        """Return the sums that the weights solve; only the gram may be written to."""

    def learn(
        self, X: Rows, index: Index, labels: Labels, sample_weight: Floats | None = None
    ) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the sums do.

        `labels` are all classes there will be then. Each row counts as often as its weight (m,)
        says, which is above zero.
        """

    def forget(self, X: Rows, index: Index, sample_weight: Floats | None = None) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the sums do.

        Raises NotTaughtError, and changes nothing that matters, if that cannot be.
        """

    def remove_classes(self, index: Index) -> None:
        """Take out the columns of classes that have no examples left."""

    def begin(self) -> None:
        """Derive everything while further rows come, if that is worth anything."""

    def foresee(self, penalty: float) -> None:
        """Prepare for another penalty, if that is worth anything, while further rows come."""

    def use(self, penalty: float) -> None:
        """Answer for another penalty from now on."""

    def discard(self) -> None:
        """Throw away all that is derived; the next question rebuilds it from the sums."""


def solver_for(sums: Sums, settings: Settings | SelectionSettings, penalty: float = 1.0) -> Solver:
    """Return the solver that the settings ask for, or raise ValueError if these sums cannot."""
    class_weight, fit_intercept = settings.class_weight, settings.fit_intercept
    if class_weight is not None and not sums.per_class:
        raise InputError(
            "class_weight needs the sums of each class, but this model was taught with "
            "class_weight=None, which does not hold them: fit it anew"
        )
    if sums.device is not None:
        kernel = DeviceKernel(sums, fit_intercept, sums.device)
        if class_weight:
            kernel = ClassWeightedKernel(sums, fit_intercept, sums.device, class_weight)
        return RecursiveSolver(sums, penalty, fit_intercept, kernel)
    if not class_weight:  # none, or a mapping that weighs all alike
        return RecursiveSolver(sums, penalty, fit_intercept)
    return RebalancedSolver(sums, penalty, fit_intercept, class_weight)
