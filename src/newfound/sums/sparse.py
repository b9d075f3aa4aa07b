"""Sparse rows of scipy's, made dense a block at a time, unless they are too wide for that."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError

# Bytes of dense rows that are made at a time.
BLOCK_BYTES = 2**26
# Features that sparse rows may have. A model holds two matrices of d x d numbers and makes a third
# when it solves: 0.8 GB each at this bound, and a machine of 8 GB still has room for the rest.
# Dense rows have no bound, for whoever holds them sees how wide they are; a vectorizer makes a
# hundred thousand columns unasked.
MOST_FEATURES = 10_000
# Features that wider rows are projected to, where they may be (layers/projection.py).
OUTPUTS = 2048


def is_sparse(X: Any) -> bool:
    """Tell whether something is a sparse matrix or array; scipy.sparse is not imported for that.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> is_sparse(csr_array([[0.0, 1.0]])), is_sparse([[0.0, 1.0]])
    (True, False)
    """
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def is_long(X: Any) -> bool:
    """Tell whether something is sparse and more than one block.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> is_long(csr_array((100, 1000))), is_long(csr_array((100_000, 1000)))
    (False, True)
    """
    return is_sparse(X) and X.ndim == 2 and X.shape[0] > _rows_at_once(X)


def dense(X: Any) -> NDArray[Any]:
    """Return sparse rows as one dense array, or raise InputError; scipy's other formats, too.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> dense(coo_array([[0.0, 1.0]]))
    array([[0., 1.]])
    """
    _check_width(X)
    _check_finite(X)
    rows: NDArray[Any] = X.toarray(order="C")
    return rows


def canonical(X: Any) -> Any:
    """Return sparse rows as CSR, each column once and in order, or raise InputError.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> canonical(coo_array(([1.0, 2.0, 3.0], ([0, 0, 0], [5, 2, 5])), (1, 9))).data
    array([2., 4.])
    """
    if X.ndim != 2 or X.dtype.kind not in "fiu":
        raise InputError(f"X must be rows of numbers, got {X.ndim} dimensions of {X.dtype}")
    _check_finite(X)
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def blocks(X: Any) -> Iterator[tuple[slice, Any]]:
    """Yield sparse rows as dense arrays of at most `BLOCK_BYTES`, each with its place among them.

    Of more than `MOST_FEATURES`, they stay sparse: they are counted as what they are projected to,
    or refused by who takes them. Raises InputError before the first if any are not finite.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> [(place.start, rows.shape) for place, rows in blocks(csr_array((10_000, 1000)))]
    [(0, (8388, 1000)), (8388, (1612, 1000))]
    """
    _check_finite(X)
    rows, size, is_wide = X.tocsr(), _rows_at_once(X), X.shape[1] > MOST_FEATURES
    for start in range(0, X.shape[0], size):
        place = slice(start, start + size)
        yield place, rows[place] if is_wide else rows[place].toarray()


def _rows_at_once(X: Any) -> int:
    width = int(X.shape[1])
    return max(1, BLOCK_BYTES // (8 * max(1, OUTPUTS if width > MOST_FEATURES else width)))


def _check_width(X: Any) -> None:
    """Raise InputError for what would take all memory."""
    width = X.shape[-1]
    if width > MOST_FEATURES:
        size = 8 * width**2 / 1e9
        raise InputError(
            f"X has {width:,} sparse features, more than the {MOST_FEATURES:,} that are taken: a "
            f"model holds matrices of d x d numbers, here {size:,.1f} GB each. Use "
            "IncrementalClassifier, or another model with a layer, which projects them to "
            f"{OUTPUTS:,}; or make fewer: HashingVectorizer(n_features=4096) or FeatureHasher in "
            "place of what keeps a vocabulary, or SparseRandomProjection(n_components=4096) behind "
            "it"
        )


def _check_finite(X: Any) -> None:
    """Raise InputError for what would fail only after some blocks were learned."""
    # Of formats that hold no plain array of what is not zero, CSR does.
    data = getattr(X, "data", None)
    data = data if isinstance(data, np.ndarray) and data.dtype != object else X.tocsr().data
    if data.dtype.kind == "f" and not np.isfinite(data).all():
        raise InputError(f"Input X contains {'NaN' if np.isnan(data).any() else 'infinity'}")
