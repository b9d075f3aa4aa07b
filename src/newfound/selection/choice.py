"""Which penalty and recoding are used, and how sure answers may be: fixed, or selected."""

from typing import Any, NamedTuple

from newfound.common.arrays import Floats, Index
from newfound.heads.probabilities import USUAL_SHARPNESS
from newfound.memory.batch import Batch
from newfound.memory.memory import Memory
from newfound.selection.calibration import Calibration, calibrate_by_sums
from newfound.solvers.base import Solver


class Parameters(NamedTuple):
    """What answers depend on, beside the memory."""

    penalty: float
    recoding: float | Floats  # one for all classes, or one for each, shape (T,)
    sharpness: float  # of probabilities


class Choice:
    """Parameters of a model: here, those that somebody chose.

    An engine tells it what happens to the memory. Others, which depend on that, select parameters
    from the memory alone.

    Parameters
    ----------
    penalty : float
    recoding : float, default=0.0
    """

    # is_fixed: whether the penalty is known before anything is learned.

    is_fixed = True

    def __init__(self, penalty: float, recoding: float = 0.0) -> None:
        self._parameters = Parameters(penalty, recoding, USUAL_SHARPNESS)

    def penalty(self, memory: Memory) -> float:
        """Return the penalty that is used."""
        return self._parameters.penalty

    def parameters(self, memory: Memory) -> Parameters:
        """Return all that is used."""
        return self._parameters

    def uses_layer(self, memory: Memory) -> bool:
        """Return whether answers are those behind the layer, if there is one."""
        return True

    def coming(self) -> tuple[float, bool] | None:
        """Return the penalty that is to come, and whether the layer is used then, if known."""

    def calibration(self, memory: Memory, solver: Solver) -> Calibration:
        """Return how sure answers may be, by what rows of each class are on average."""
        return calibrate_by_sums(solver)

    def plan(self, memory: Memory, batch: Batch, defer: bool) -> Any:
        """Return what is to be done once a batch is learned, which is about to be."""

    def follow(self, plan: Any, memory: Memory) -> None:
        """Do what was planned: the batch is learned."""

    def guide(self, solver: Any) -> None:
        """Have the solver prepare for a penalty that is to come, or use one that has."""

    def forgot(self, batch: Batch, vanished: Index, memory: Memory) -> None:
        """Note that a batch was forgotten, and with it these classes."""

    def rename(self, old: Any, new: Any) -> None:
        """Know class `old` by its new label."""

    def discard(self) -> None:
        """Select anew before anything else happens."""

    def reconsider(self, memory: Memory) -> None:
        """Select now, from all there is."""

    def finish_piece(self) -> bool:
        """Do a piece of what is under way; return whether nothing is left of it."""
        return True

    def copy(self) -> "Choice":
        """Return another that knows the same; this one never changes."""
        return self
