"""All that a selection depends on, as it was when it began."""

from functools import partial
from typing import NamedTuple

import numpy as np

from newfound.common.arrays import Floats, Index, Labels
from newfound.common.pieces import Stages, Task
from newfound.layers.layer import Layer, features_of
from newfound.memory.reservoir import Reservoir
from newfound.memory.witnesses import Witnesses
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
    weight_sums: Floats  # shape (T,)
    plain: Floats  # the same without class weights, shape (T,)
    sizes: Floats  # as how many examples each class counts, shape (T,)
    labels: Labels  # shape (T,)
    fit_intercept: bool
    witnesses: Witnesses
    cap: int  # how many witnesses of a class are kept
    layer: Layer | None  # from witnesses to what the sums are made of
    mean: Floats  # of the rows, shape (d,); zeros without an intercept
    space: "Space | None"  # what coordinates are of; None: the features themselves

    def rows_of(self, place: int, which: slice = slice(None)) -> Floats:
        """Return the witnesses of a class, or some of them, shape (k, r)."""
        witnesses = self.reservoir(place).rows
        if self.space is not None:
            start = self.space.starts[place]
            return self.space.rows[start : start + len(witnesses)][which]
        if not witnesses[which]:
            return np.zeros((0, len(self.mean)))
        rows = np.array(witnesses[which], dtype=np.float64)
        centred: Floats = features_of(rows, self.layer) - self.mean
        return centred

    def reservoir(self, place: int) -> Reservoir:
        """Return the witnesses of a class."""
        return self.witnesses[self.labels[place].item()]

    def factor_in_stages(self, penalty: float, workspace: Floats) -> Stages[Floats]:
        """Overwrite `workspace` (r, r) with the Cholesky factor of the matrix plus penalty."""
        r = len(workspace)

        def begin(strip: slice) -> None:
            workspace[:, strip] = self.matrix[:, strip]
            diagonal_of(workspace)[strip] += penalty

        strips = [slice(left, left + STRIP_COLUMNS) for left in range(0, r, STRIP_COLUMNS)]
        yield [Task(ENTRY * r * STRIP_COLUMNS, partial(begin, strip)) for strip in strips]
        if not (yield from factorise_in_stages(workspace)):
            begin(slice(None))
            return factorise_indefinite(workspace)
        return workspace


def snapshot_in_stages(
    solver: Solver, witnesses: Witnesses, cap: int, layer: Layer | None = None
) -> Stages[Snapshot]:
    """Return what there is to select by, for the weights of this solver.

    Of witnesses of a class, at most `cap` were kept. All that may change is taken note of now; what
    follows from it is worked out in stages.
    """
    sums, weight_sums, fit_intercept = solver.sums, solver.weight_sums, solver.fit_intercept
    plain = np.where(sums.counts > 0, sums.weight_sums, 1.0)
    offset = sums.cross @ (weight_sums / plain) / weight_sums.sum() * fit_intercept
    classes = (sums.cross / plain).T - offset, weight_sums, plain, sums.sizes, sums.labels
    mean = offset if sums.origin is None else sums.origin + offset
    rest = (*classes, fit_intercept, witnesses, cap, layer, mean, None)
    kept = sum(reservoir.size for reservoir in witnesses.of_class.values())
    if 2 * kept > sums.width or not witnesses.hold_all(sums.weight_sum):
        return _centred(Snapshot(solver.equations().gram, *rest), offset)
    return _reduced(Snapshot(np.zeros((0, 0)), *rest))


def _centred(snapshot: Snapshot, offset: Floats) -> Stages[Snapshot]:
    """Return a snapshot whose matrix, which is overwritten, is seen from the mean.

    `offset` (d,) is that of the mean from where rows were seen before.
    """
    weight_sum = snapshot.weight_sums.sum()
    centre = partial(regularised, snapshot.matrix, offset, weight_sum, 0.0)
    yield [Task(ENTRY * snapshot.matrix.size, centre)]
    return snapshot


def _reduced(snapshot: Snapshot) -> Stages[Snapshot]:
    """Return a snapshot in coordinates of the space that all rows, which are witnesses, span."""
    labels, witnesses, means = snapshot.labels, snapshot.witnesses, snapshot.means
    rows, index = witnesses.stack(labels, len(snapshot.mean))
    rows = features_of(rows, snapshot.layer) - snapshot.mean
    basis = yield from _basis_of(rows)
    (n, d), r = rows.shape, basis.shape[1]
    inside, means_inside, matrix = np.empty((n, r)), np.empty((len(means), r)), np.zeros((r, r))
    pairs = ((rows, inside), (means, means_inside))
    yield [
        Task(2.0 * d * r * BLOCK, partial(np.matmul, of[part], basis, out=out[part]))
        for of, out in pairs
        for part in (slice(left, left + BLOCK) for left in range(0, len(of), BLOCK))
    ]

    def add_up() -> None:
        class_weights = snapshot.weight_sums / snapshot.plain
        roots = np.sqrt(class_weights[index] * witnesses.weights(labels))
        matrix[:] = second_moment(roots[:, None] * inside)

    yield [Task(float(n * r * r), add_up)]
    space = Space(inside, np.searchsorted(index, np.arange(len(labels))))
    return snapshot._replace(matrix=np.asfortranarray(matrix), means=means_inside, space=space)


def _basis_of(rows: Floats) -> Stages[Floats]:
    """Return an orthonormal basis of the space that rows (n, d) span, shape (d, r); 2n <= d."""
    n, d = rows.shape
    basis, filled = np.zeros((d, max(1, n)), order="F"), 0
    for left in range(0, n, BLOCK):
        before, directions = basis[:, :filled], list[Floats]()
        cost = 4.0 * d * (filled + 4 * BLOCK) * BLOCK
        yield [
            Task(
                2 * cost, partial(_new_directions, before, rows[left : left + BLOCK].T, directions)
            )
        ]
        yield [Task(cost, partial(_orthonormalise, before, directions))]
        basis[:, filled : filled + directions[-1].shape[1]] = directions[-1]
        filled += directions[-1].shape[1]
    if not filled:  # all rows are zero, and any direction will do
        basis[0, 0] = 1.0
    return basis[:, : max(1, filled)]


def _new_directions(before: Floats, block: Floats, directions: list[Floats]) -> None:
    """Append directions (d, k) that the columns of a block have and `before` does not."""
    smallest = NOISE * np.sqrt(np.einsum("ij,ij->j", block, block).max())
    for _ in range(2):
        block = block - before @ (before.T @ block)
    # What is left of a column that depends on others is rounding, in any direction.
    q, r = np.linalg.qr(block)
    u, sizes, _ = np.linalg.svd(r)
    directions.append(q @ u[:, sizes > smallest])


def _orthonormalise(before: Floats, directions: list[Floats]) -> None:
    """Append the same directions, rid of what a small one has kept of `before`."""
    block = directions[-1] - before @ (before.T @ directions[-1])
    directions.append(np.linalg.qr(block)[0])
