"""When what a solver carries is measured, and when it is rebuilt from the sums."""

from newfound.solvers.inverse import Limits

# Rows learned or forgotten between two measurements of the drift.
CHECK_EVERY = 256
# Where among them: not in a step that also flushes rows into the inverse or into the sums.
CHECK_OFFSET = 4
# Of the most that was held since the last rebuild, what is so little that all is rebuilt when no
# more is left: rounding is measured by what was carried.
LITTLE = 1e-6


class DriftMonitor:
    """The policy of a solver that carries what it could rebuild; it does no algebra.

    The solver counts its rows here and notes its pivots. It is told when to measure its drift,
    when to refine its weights and when to rebuild.

    Parameters
    ----------
    width : int
        Number of features.
    limits : Limits
        What the precision of the solver can bear.

    Examples
    --------
    >>> monitor = DriftMonitor(width=8, limits=Limits(1e10, 1e5, 1e-3, 1e-10, 10.0))
    >>> monitor.count(CHECK_EVERY), monitor.asks_for_rebuild(drift=1e-13), monitor.count(1)
    (True, False, False)
    >>> monitor.note(pivot=1e6)
    >>> monitor.is_rough, monitor.count(8), monitor.count(1)
    (True, False, True)
    """

    # floor: the drift right after the last rebuild. On badly conditioned sums no solver does much
    #     better than that.
    # unchecked: rows since the drift was measured.
    # since_stiff: rows since the last stiff change. None: there was none since the last rebuild.
    # is_rough: whether weights need a step of refinement before they are looked at.
    # most_held: the largest sum of squares, and of weights, seen since the last rebuild.
    # turn: whether the second of two measures is next, so that no step waits for both.

    def __init__(self, width: int, limits: Limits) -> None:
        self.width = width
        self.turn = False
        self.restart(limits)

    def restart(self, limits: Limits) -> None:
        """Begin anew, because all has been rebuilt."""
        self.limits = limits
        self.floor = 0.0
        self.unchecked = CHECK_OFFSET
        self.since_stiff: int | None = None
        self.is_rough = False
        self.most_held = 0.0, 0.0

    def count(self, rows: int) -> bool:
        """Count rows that are about to come or go; tell whether something is due before.

        That is to measure the drift. After a stiff change it is to rebuild, once `width` rows came:
        stiff changes leave errors in the inverse that no later change mends. Weights are refined
        meanwhile.
        """
        if self.since_stiff is None:
            self.unchecked += rows
            return self.unchecked >= CHECK_EVERY
        self.since_stiff += rows
        return self.since_stiff > self.width

    def note(self, pivot: float) -> None:
        """Note the pivot of a change that was made."""
        if pivot > self.limits.stiff_pivot:
            self.since_stiff = 0
        self.is_rough = self.since_stiff is not None

    def asks_for_rebuild(self, drift: float) -> bool:
        """Tell whether a drift that was measured now is too large."""
        self.unchecked, self.turn = 0, not self.turn
        return drift > max(self.limits.drift, self.limits.drift_growth * self.floor)

    def leaves_little(self, held: tuple[float, float], left: tuple[float, float]) -> bool:
        """Tell whether errors, small beside what is held, are large beside what will be left.

        Both are the sum of the squares of all rows, and that of their weights.
        """
        squares, weight_sum = self.most_held = (
            max(self.most_held[0], held[0]),
            max(self.most_held[1], held[1]),
        )
        return left[0] <= LITTLE * squares or left[1] <= LITTLE * weight_sum
