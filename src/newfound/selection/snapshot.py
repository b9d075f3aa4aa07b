"""All that votes depend on, as it was when they were called for."""

from functools import partial
from typing import NamedTuple

import numpy as np

from newfound.common.arrays import Floats, Index, Labels
from newfound.common.pieces import Stages, Task
from newfound.selection.witnesses import Sample, Witnesses
from newfound.solvers.base import Solver
from newfound.solvers.cholesky import factorise_in_stages, factorise_indefinite, regularised
from newfound.sums.blas import diagonal_of, second_moment

# Rows that are worked on at a time.
BLOCK = 32
# Columns that are copied at a time.
STRIP_COLUMNS = 256
# Of the longest of a few rows, what is rounding and no direction of its own.
NOISE = 1e-12
# How many operations of BLAS take as long as copying an entry, or another of numpy's on it.
ENTRY = 100.0


class Space(NamedTuple):
    """The space that rows span."""

    rows: Floats  # all of them in its coordinates, class by class, shape (n, r)
    starts: Index  # where the rows of each class begin, shape (T,)


class Snapshot(NamedTuple):
    """Sums and witnesses, all seen from the mean of the rows (from zero, without an intercept).

    Rows that are fewer than their features span a space of fewer dimensions, in which all of this
    happens: then it is told in coordinates of that space, r of them instead of d.
    """

    matrix: Floats  # sum of w_i x_i x_i', in the lower triangle of an (r, r) matrix
    means: Floats  # of each class, shape (T, r)
    masses: Floats  # shape (T,)
    plain: Floats  # masses without class weights, shape (T,)
    sizes: Floats  # as how many examples each class counts, shape (T,)
    labels: Labels  # shape (T,)
    fit_intercept: bool
    witnesses: Witnesses
    cap: int  # how many witnesses of a class are kept
    mean: Floats  # of the rows, shape (d,); zeros without an intercept
    space: "Space | None"  # what coordinates are of; None: the features themselves

    @property
    def size(self) -> int:
        """As how many examples all classes count together."""
        return int(self.sizes.sum())

    def rows_of(self, place: int, which: slice = slice(None)) -> Floats:
        """Return the witnesses of a class, or some of them, shape (k, r)."""
        held = self.sample_of(place).rows
        if self.space is not None:
            start = self.space.starts[place]
            return self.space.rows[start : start + len(held)][which]
        rows = np.array(held[which], dtype=np.float64).reshape(-1, len(self.mean))
        centred: Floats = rows - self.mean
        return centred

    def sample_of(self, place: int) -> Sample:
        """Return the witnesses of a class."""
        return self.witnesses.samples.get(self.labels[place].item(), Sample())

    def factor_in_stages(self, penalty: float, room: Floats) -> Stages[Floats]:
        """Return the lower Cholesky factor of the matrix plus penalty; overwrites `room` (r, r)."""
        r = len(room)

        def begin(strip: slice) -> None:
            room[:, strip] = self.matrix[:, strip]
            diagonal_of(room)[strip] += penalty

        strips = [slice(left, left + STRIP_COLUMNS) for left in range(0, r, STRIP_COLUMNS)]
        yield [Task(ENTRY * r * STRIP_COLUMNS, partial(begin, strip)) for strip in strips]
        if not (yield from factorise_in_stages(room)):
            begin(slice(None))
            return factorise_indefinite(room)
        return room


def snapshot_in_stages(solver: Solver, witnesses: Witnesses, cap: int) -> Stages[Snapshot]:
    """Return what there is to vote on, for the weights of this solver.

    Of witnesses of a class, at most `cap` were kept. All that may change is taken note of now; what
    follows from it is worked out in stages.
    """
    sums, masses, fit_intercept = solver.sums, solver.masses, solver.fit_intercept
    plain = np.where(sums.counts > 0, sums.masses, 1.0)
    mean = sums.cross @ (masses / plain) / masses.sum() * fit_intercept
    means = (sums.cross / plain).T - mean
    rest = (masses, plain, sums.sizes, sums.labels, fit_intercept, witnesses, cap, mean)
    held = sum(len(sample.held) for sample in witnesses.samples.values())
    if 2 * sums.total > sums.width or held < sums.total:
        return _whole(solver.equations().gram, means, rest)
    return _reduced(masses / plain, means, rest)


# Of a snapshot, all but the first two fields and the last.
_Rest = tuple[Floats, Floats, Floats, Labels, bool, Witnesses, int, Floats]


def _whole(gram: Floats, means: Floats, rest: _Rest) -> Stages[Snapshot]:
    masses, mean = rest[0], rest[-1]

    def centre() -> None:
        regularised(gram, mean, masses.sum(), 0.0)

    yield [Task(ENTRY * gram.size, centre)]
    return Snapshot(gram, means, *rest, None)


def _reduced(class_weights: Floats, means: Floats, rest: _Rest) -> Stages[Snapshot]:
    *_, labels, _, witnesses, _, mean = rest
    rows, index = witnesses.stacked(labels, len(mean))
    rows = rows - mean
    basis = yield from _basis_of(rows)
    (n, d), r = rows.shape, basis.shape[1]
    inside, means_inside, matrix = np.empty((n, r)), np.empty((len(means), r)), np.zeros((r, r))
    pairs = ((rows, inside), (means, means_inside))
    yield [
        Task(2.0 * d * r * BLOCK, partial(np.matmul, of[part], basis, out=found[part]))
        for of, found in pairs
        for part in (slice(left, left + BLOCK) for left in range(0, len(of), BLOCK))
    ]

    def add_up() -> None:
        roots = np.sqrt(class_weights[index] * witnesses.weights(labels))
        matrix[:] = second_moment(roots[:, None] * inside)

    yield [Task(float(n * r * r), add_up)]
    space = Space(inside, np.searchsorted(index, np.arange(len(labels))))
    return Snapshot(np.asfortranarray(matrix), means_inside, *rest, space)


def _basis_of(rows: Floats) -> Stages[Floats]:
    """Return an orthonormal basis of the space that rows (n, d) span, shape (d, r); 2n <= d."""
    n, d = rows.shape
    basis, filled = np.zeros((d, max(1, n)), order="F"), 0
    for left in range(0, n, BLOCK):
        before, found = basis[:, :filled], list[Floats]()
        cost = 4.0 * d * (filled + 4 * BLOCK) * BLOCK
        yield [Task(2 * cost, partial(_new_directions, before, rows[left : left + BLOCK].T, found))]
        yield [Task(cost, partial(_orthonormalise, before, found))]
        basis[:, filled : filled + found[-1].shape[1]] = found[-1]
        filled += found[-1].shape[1]
    if not filled:  # all rows are zero, and any direction will do
        basis[0, 0] = 1.0
    return basis[:, : max(1, filled)]


def _new_directions(before: Floats, block: Floats, found: list[Floats]) -> None:
    """Append directions (d, k) that the columns of a block have and `before` does not."""
    smallest = NOISE * np.sqrt(np.einsum("ij,ij->j", block, block).max())
    for _ in range(2):
        block = block - before @ (before.T @ block)
    # What is left of a column that depends on others is rounding, in any direction.
    q, r = np.linalg.qr(block)
    u, sizes, _ = np.linalg.svd(r)
    found.append(q @ u[:, sizes > smallest])


def _orthonormalise(before: Floats, found: list[Floats]) -> None:
    """Append the same directions, rid of what a small one has kept of `before`."""
    block = found[-1] - before @ (before.T @ found[-1])
    found.append(np.linalg.qr(block)[0])
