"""A random projection of very wide rows: a million features become a few thousand."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Index, Rows
from newfound.common.errors import InputError
from newfound.common.scatter import BITS, STEP, scattered, scattered_one
from newfound.sums.rows import as_rows
from newfound.sums.sparse import OUTPUTS, canonical, is_sparse

# Outputs that a feature goes to, each of a part of its own: with one over the root of four, its
# length stays exactly what it was.
PLACES = 4
SHARE = PLACES**-0.5
# Bits of a hash that each of them takes: a sign, and where in its part.
PLACE_BITS = 15
MOST_OUTPUTS = PLACES << PLACE_BITS
MOST_INPUTS, MOST_SEED = 2**53, 2**64 - 1
# Numbers that are added up at a time.
SOME = 2**20


@dataclass(frozen=True)
class Projection:
    """A sparse random projection, which is not stored: a hash says where each feature goes.

    Every feature goes to four of the outputs, one in each quarter, and with a random sign in each
    (Kane and Nelson, J. ACM 2014). What two rows have in common, their product, stays what it was
    in expectation, with a deviation of at most their lengths times the root of 2 / `outputs`.

    The same row becomes the same numbers to the last bit: sparse or dense, alone or among others,
    on any machine. It takes time for the numbers of a row that are not zero, and for its outputs.
    Nothing is learned, and nothing of the size of `inputs` is held.

    Parameters
    ----------
    inputs : int
        How many features rows have.
    outputs : int, default=2048
        How many they become: a multiple of 4, up to 131,072.
    seed : int, default=0
        What the hash depends on.

    Examples
    --------
    >>> from scipy.sparse import random_array
    >>> rows = random_array((2, 1_000_000), density=1e-4, format="csr", rng=0)
    >>> projection = Projection(inputs=1_000_000)
    >>> projection(rows).shape
    (2, 2048)
    >>> np.array_equal(projection(rows)[:1], projection(rows[:1].toarray()))
    True
    """

    inputs: int
    outputs: int = OUTPUTS
    seed: int = 0

    def __post_init__(self) -> None:
        bounds = {
            "inputs": (1, MOST_INPUTS),
            "outputs": (PLACES, MOST_OUTPUTS),
            "seed": (0, MOST_SEED),
        }
        for name, (least, most) in bounds.items():
            value: Any = getattr(self, name)
            if not isinstance(value, Integral) or not least <= int(value) <= most:
                raise InputError(f"{name} must be a whole number from {least} to {most}")
        if self.outputs % PLACES:
            raise InputError(f"outputs must be a multiple of {PLACES}, got {self.outputs}")

    def __call__(self, X: Any) -> Rows:
        """Return what rows become.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, inputs)

        Returns
        -------
        ndarray of shape (m, outputs)
            float32 if the rows are, else float64.

        Raises
        ------
        ValueError
            If `X` is not m rows of so many finite numbers.

        Examples
        --------
        >>> Projection(inputs=3, outputs=4)([[0.0, 2.0, 0.0]]).round(1)
        array([[ 1.,  1., -1., -1.]])
        """
        rows: Any = canonical(X) if is_sparse(X) else as_rows(X)
        (m, width), single = rows.shape, rows.dtype == np.float32
        if width != self.inputs:
            raise InputError(f"X has {width} features, but this projection is for {self.inputs}")
        projected = np.empty((m, self.outputs), dtype=np.float32 if single else np.float64)
        numbers = rows.nnz if is_sparse(rows) else rows.size
        size = max(1, SOME // max(self.outputs, numbers // max(1, m)))
        for start in range(0, m, size):
            part = rows[start : start + size]
            # One number after another, in the order of columns, whatever stands around a row.
            places, values = self._terms(*_entries(part))
            sums = np.bincount(places, values, minlength=part.shape[0] * self.outputs)
            with np.errstate(over="ignore"):  # which is refused below
                projected[start : start + size] = sums.reshape(-1, self.outputs)
        return as_rows(projected) if m else projected

    def _terms(self, of: Index, columns: Index, values: Floats) -> tuple[Index, Floats]:
        """Return which of all outputs of some rows numbers of theirs are added to, and with signs.

        Of a hash, each place takes 16 bits: 15 of them say which of its quarter it is.
        """
        start = np.uint64(scattered_one(self.seed + STEP & BITS))
        hashes = scattered(start + columns.astype(np.uint64) * np.uint64(STEP))
        places, signed = np.empty((PLACES, len(of)), np.intp), np.empty((PLACES, len(of)))
        quarter, share = self.outputs // PLACES, values * SHARE
        for place in range(PLACES):
            bits = (hashes >> np.uint64(place * (PLACE_BITS + 1))).astype(np.int64)
            within = ((bits & (1 << PLACE_BITS) - 1) * quarter) >> PLACE_BITS
            places[place] = of * self.outputs + place * quarter + within
            signed[place] = np.where(bits >> PLACE_BITS & 1, -share, share)
        return places.ravel(), signed.ravel()


def _entries(rows: Any) -> tuple[Index, Index, Floats]:
    """Return the numbers that are not zero: of which row, of which column, and what they are."""
    if isinstance(rows, np.ndarray):
        of, columns = np.nonzero(rows)
        values = rows[of, columns]
    else:
        of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        columns, values = rows.indices, rows.data
    return of, columns, values.astype(np.float64)
