"""All that votes depend on, as it was when they were called for."""

from typing import NamedTuple

import numpy as np

from newfound.common.arrays import Counts, Floats, Labels
from newfound.selection.witnesses import Sample, Witnesses
from newfound.solvers.base import Solver
from newfound.solvers.cholesky import factorise, regularised
from newfound.sums.blas import diagonal_of, second_moment


class Snapshot(NamedTuple):
    """Sums and witnesses, all seen from the mean of the rows (from zero, without an intercept).

    Rows that are fewer than their features span a space of fewer dimensions, in which all of this
    happens: then it is told in coordinates of that space, r of them instead of d.
    """

    matrix: Floats  # sum of w_i x_i x_i', in the lower triangle of an (r, r) matrix
    means: Floats  # of each class, shape (T, r)
    masses: Floats  # shape (T,)
    counts: Counts  # shape (T,)
    labels: Labels  # shape (T,)
    witnesses: list[Floats]  # of each class, shape (k, r)
    fit_intercept: bool
    seed: int

    @classmethod
    def of(cls, solver: Solver, witnesses: Witnesses) -> "Snapshot":
        """Return what there is to vote on, for the weights of this solver."""
        sums, masses = solver.sums, solver.masses
        samples = [witnesses.samples.get(label, Sample()) for label in sums.labels.tolist()]
        rows = [np.array(each.rows, dtype=np.float64).reshape(-1, sums.width) for each in samples]
        weights = masses / np.maximum(sums.counts, 1)
        if 2 * sums.total <= sums.width and sum(map(len, rows)) == sums.total:
            own = np.repeat(weights, [len(each) for each in rows])
            everything = np.concatenate(rows)
            mean = own @ everything / own.sum() * solver.fit_intercept
            space = np.linalg.qr((everything - mean).T)[0]
            coordinates = [(each - mean) @ space for each in rows]
            whole = np.concatenate(coordinates)
            matrix = second_moment(whole * np.sqrt(own)[:, None])
            means = np.array(
                [each.mean(axis=0) if len(each) else 0 * whole[0] for each in coordinates]
            )
        else:
            equations = solver.equations()
            mean = equations.cross.sum(axis=1) / masses.sum() * solver.fit_intercept
            matrix = regularised(equations.gram, mean, masses.sum(), 0.0)
            means = (equations.cross / np.where(masses > 0, masses, 1.0)).T - mean
            coordinates = [each - mean for each in rows]
        return cls(
            matrix,
            means,
            masses,
            sums.counts,
            sums.labels,
            coordinates,
            solver.fit_intercept,
            witnesses.seed,
        )

    @property
    def total(self) -> int:
        """Examples taught."""
        return int(self.counts.sum())

    def factor(self, penalty: float) -> Floats:
        """Return the lower Cholesky factor of the matrix plus penalty, shape (r, r)."""
        matrix = self.matrix.copy(order="F")
        diagonal_of(matrix)[:] += penalty
        return factorise(matrix)
