"""How sure answers may be: what the witnesses say of a model without them, and without their class.

A witness asked of a model without itself is a known thing that the model has not seen. Asked of a
model that was never taught its class, it is an unknown one. Both are exact what-ifs, but that the
scatter of the class stays where it is (docs/unknown.md).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Floats, Labels
from newfound.common.pieces import Stages, Task
from newfound.heads.probabilities import USUAL_SHARPNESS, sharpness_of
from newfound.heads.recoding import recoding_factors
from newfound.heads.unknown import Bound, Usual, bound_between, discounted, usual_of
from newfound.selection.panel import Panel
from newfound.selection.what_if import Basis, Scene, left_out_cosines, left_out_scores


class Calibration(NamedTuple):
    """What makes probabilities of scores, and of likeness."""

    sharpness: float = USUAL_SHARPNESS
    usual: Usual | None = None  # None, as the bound: nobody can say what is unknown
    bound: Bound | None = None

    def unknown(self, cosines: Floats, leverage: Floats, labels: Labels) -> Floats:
        """Return the probability that rows are of none of these classes, shape (m,).

        Parameters
        ----------
        cosines : ndarray of shape (m, T)
        leverage : ndarray of shape (m,)
        labels : ndarray of shape (T,)
        """
        if self.usual is None or self.bound is None:
            return np.zeros(len(leverage))
        found = self.usual.likeness(discounted(cosines, leverage), labels)
        return self.bound.unknown(found.max(axis=1))

    def renamed(self, old: Any, new: Any) -> "Calibration":
        """Return it once class `old` is called `new`."""
        return self._replace(usual=self.usual and self.usual.renamed(old, new))


def calibrate(panel: Panel, basis: Basis, recoding: Floats) -> Stages[Calibration]:
    """Ask the witnesses how sure a model may be, in stages.

    Parameters
    ----------
    panel : Panel
        In which two classes or more vote.
    basis : Basis
        For the penalty that is used; of means of a few rows nothing is needed.
    recoding : ndarray of shape (T,)
        That is used, of each class.
    """
    group, of_class = panel.group, panel.of_class
    C, V, labels = len(group.masses), len(of_class), panel.snapshot.labels[panel.classes]
    as_it_is = Scene(group.masses, np.arange(C))
    places, unknown = np.flatnonzero(panel.votes), np.zeros(V)
    parts: dict[str, Floats] = {}
    usual: list[Usual | None] = []
    found: list[Calibration] = []

    def leave_out_rows() -> None:
        out = left_out_cosines(basis, group, as_it_is, of_class)
        parts["known"] = cosines = discounted(out.cosines, out.leverage)
        usual.append(usual_of(cosines[np.arange(V), of_class], of_class, labels))

    def leave_out_class(place: int, usual: Usual) -> None:
        own, others = of_class == place, np.arange(C) != place
        rows = Basis(basis.products, basis.rows[own], basis.squares[own])
        scene = Scene(np.where(others, group.masses, 0.0), np.arange(C))
        out = left_out_cosines(rows, group, scene, of_class[own])
        cosines = discounted(out.cosines, out.leverage)
        unknown[own] = usual.likeness(cosines, labels)[:, others].max(axis=1)

    def draw_the_bound(usual: Usual) -> None:
        known = usual.likeness(parts["known"], labels).max(axis=1)
        bound = bound_between(known, unknown, len(places))
        if bound is not None:
            found.append(found.pop()._replace(usual=usual, bound=bound))

    def sharpen() -> None:
        scores = left_out_scores(basis, group, as_it_is, of_class)
        factors = recoding_factors(panel.snapshot.masses, recoding)[panel.classes]
        found.append(Calibration(sharpness_of(scores * factors, of_class)))

    yield [Task(1000.0 * C * V, leave_out_rows), Task(4000.0 * C * V, sharpen)]
    if usual[0] is not None:
        cost = 6.0 * (C + 1) ** 3 + 1000.0 * C * V / len(places)
        yield [Task(cost, partial(leave_out_class, each, usual[0])) for each in places.tolist()]
        yield [Task(100.0 * C * V, partial(draw_the_bound, usual[0]))]
    return found[0]
