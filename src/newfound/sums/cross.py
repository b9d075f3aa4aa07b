"""X'Y: the sum of the rows of each class, in twice the working precision."""

import copy
from collections.abc import Callable

import numpy as np

from newfound.common.arrays import Floats, Index, Mask, Rows
from newfound.sums.blas import CHUNK_ROWS
from newfound.sums.device import with_capacity
from newfound.sums.exact import add_exactly, product, split


def class_terms(
    X: Rows,
    index: Index,
    exact: bool,
    sample_weight: Floats | None = None,
    origin: Floats | None = None,
) -> tuple[Index, Floats]:
    """Return the k classes in `index`, and terms (m, k, d) that add up to each one's rows.

    Rows are seen from an origin (d,), if there is one. If `exact`, the terms have twice the working
    precision together. That takes ten times as long; otherwise the sum is rounded as X'X of the
    rows is. Each row counts as often as its weight (m,) says, if there are weights; a product with
    it is rounded once.
    """
    if len(X) == 1:
        row = X[0].astype(np.float64) if origin is None else X[0] - origin
        return index, (row if sample_weight is None else sample_weight[0] * row)[None, None]
    from scipy.sparse import csr_array  # asking does without, and frames taught one by one

    present, compact = np.unique(index, return_inverse=True)
    total = residue = np.zeros((len(present), X.shape[1]))
    size = CHUNK_ROWS if exact or origin is not None else len(X)
    for start in range(0, len(X), size):
        rows, of = X[start : start + size], compact[start : start + size]
        if origin is not None:
            rows = rows - origin
        if sample_weight is not None:
            rows = sample_weight[start : start + size, None] * rows
        n = len(rows)
        members = csr_array((np.ones(n), of, np.arange(n + 1)), (n, len(present)))
        for part in split(rows.astype(np.float64)) if exact else (rows,):
            total, residue = add_exactly(total, residue, members.T @ part)
    return present, np.array([total, residue])


class Cross:
    """Sums of rows by class; a class that arrives is a row of zeros.

    Parameters
    ----------
    totals, residue : ndarray of shape (T, d)
        The sums of T classes, and what rounding left out of them.

    Examples
    --------
    >>> cross = Cross(np.zeros((1, 2)), np.zeros((1, 2)))
    >>> cross.prepare(np.array([1]), np.array([[[3.0, 4.0]]]), size=2)()
    >>> cross.totals.tolist()
    [[0.0, 0.0], [3.0, 4.0]]
    """

    # _totals[:size] + _residue[:size]: the sums; zeros follow.

    terms = staticmethod(class_terms)

    def __init__(self, totals: Floats, residue: Floats) -> None:
        self.size = len(totals)
        self._totals = totals
        self._residue = residue

    @property
    def totals(self) -> Floats:
        """The float64 nearest to each sum, shape (T, d); must not be written to."""
        return self._totals[: self.size]

    @property
    def residue(self) -> Floats:
        """What that rounding leaves out, shape (T, d); must not be written to."""
        return self._residue[: self.size]

    @property
    def parts(self) -> tuple[Floats, Floats]:
        """The sums, and what rounding left out of them."""
        return self.totals, self.residue

    def prepare(self, index: Index, terms: Floats, size: int) -> Callable[[], None]:
        """Reserve memory for `size` classes; return what adds `terms` (m, k, d) to some of them."""
        totals, residue = self._totals, self._residue
        if size > len(totals) or not (totals.flags.writeable and residue.flags.writeable):
            self._totals, self._residue = (
                with_capacity(part if part.flags.writeable else part.copy(), size)
                for part in (totals, residue)
            )
        where: int | Index = index
        if len(index) == 1:  # one row is several times faster than a list of one
            where, terms = int(index[0]), terms[:, 0]
        totals, residue = self._totals[where], self._residue[where]
        for term in terms:
            totals, residue = add_exactly(totals, residue, term)

        def shift() -> None:
            self._totals[where], self._residue[where] = totals, residue
            self.size = size

        return shift

    def shifted(self, by: Floats, weight_sums: Floats, varies: Mask) -> "Cross":
        """Return the sums of the same rows seen from an origin that has moved `by` (d,).

        Of features that do not vary (d,), it is in every row what it is there: they add up to zero.
        """
        shifted = copy.deepcopy(self)
        terms = -np.array(product(weight_sums[:, None], by))
        shifted.prepare(np.arange(self.size), terms, self.size)()
        for part in shifted.parts:
            part[:, ~varies] = 0.0
        return shifted

    def without(self, index: Index) -> "Cross":
        """Return the sums of all classes but those in `index`."""
        return Cross(*(np.delete(part, index, axis=0) for part in (self.totals, self.residue)))

    def joined(self, source: int, target: int) -> "Cross":
        """Return the same sums with those of one class added to another's, too."""
        joined = copy.deepcopy(self)
        terms = np.array([self.totals, self.residue])[:, [source]]
        joined.prepare(np.array([target]), terms, self.size)()
        return joined
