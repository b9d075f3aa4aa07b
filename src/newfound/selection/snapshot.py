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
    fit_intercept: bool
    witnesses: Witnesses
    mean: Floats  # of the rows, shape (d,); zeros without an intercept
    space: Floats | None  # what coordinates are of, shape (d, r); None: of the features

    @classmethod
    def of(cls, solver: Solver, witnesses: Witnesses) -> "Snapshot":
        """Return what there is to vote on, for the weights of this solver."""
        sums, masses, fit_intercept = solver.sums, solver.masses, solver.fit_intercept
        counts = np.maximum(sums.counts, 1)
        mean = sums.cross @ (masses / counts) / masses.sum() * fit_intercept
        means = (sums.cross / counts).T - mean
        rest = (masses, sums.counts, sums.labels, fit_intercept, witnesses, mean)
        if 2 * sums.total <= sums.width:
            rows, index = witnesses.stacked(sums.labels, sums.width)
            if len(rows) == sums.total:
                roots = np.sqrt(masses / counts)[index, None]
                space = np.linalg.qr((rows - mean).T)[0]
                matrix = second_moment(roots * ((rows - mean) @ space))
                return cls(matrix, means @ space, *rest, space)
        gram = solver.equations().gram
        return cls(regularised(gram, mean, masses.sum(), 0.0), means, *rest, None)

    @property
    def total(self) -> int:
        """Examples taught."""
        return int(self.counts.sum())

    def rows_of(self, place: int) -> Floats:
        """Return the witnesses of a class, shape (k, r)."""
        sample = self.witnesses.samples.get(self.labels[place].item(), Sample())
        rows = np.array(sample.rows, dtype=np.float64).reshape(-1, len(self.mean))
        centred: Floats = rows - self.mean
        return centred if self.space is None else centred @ self.space

    def factor(self, penalty: float) -> Floats:
        """Return the lower Cholesky factor of the matrix plus penalty, shape (r, r)."""
        matrix = self.matrix.copy(order="F")
        diagonal_of(matrix)[:] += penalty
        return factorise(matrix)
