"""More features for a model: columns that count as zero in all that it was taught."""

import numpy as np
from scipy.linalg import lapack

from newfound.common.arrays import Floats
from newfound.common.errors import InputError
from newfound.storage.format import State
from newfound.sums.arrays import from_arrays, to_arrays
from newfound.sums.sums import Sums

# The arrays whose last axis is that of the features, in the sums and beside them.
_BY_FEATURE = ("cross", "cross_dropped", "gram_dropped", "rows")
_WITNESSES = "selection.witness_rows"


def widened(state: State, width: int) -> State:
    """Return the state of the same model, had its rows ended in zeros up to this width.

    Zeros add nothing to X'X and X'Y, so the sums are padded, and nothing is learned anew. The
    state that is given is not changed.

    Parameters
    ----------
    state : State
        Of a model whose features have no names.
    width : int
        How many features there shall be: as many as there are, or more.

    Returns
    -------
    State

    Raises
    ------
    ValueError
        If there are more features already, or they have names.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
    >>> wide = IncrementalRidgeClassifier.from_state(widened(model.to_state(), 2))
    >>> wide.n_features_in_, wide.partial_fit([[0.0, 1.0]], ["jug"]).predict([[0.0, 0.9]])
    (2, array(['jug'], dtype='<U3'))
    """
    if state.feature_names is not None:
        raise InputError("features that have names are not widened: the new ones would have none")
    if width < state.sums.width:
        raise InputError(f"{state.sums.width} features cannot be widened to {width}")
    more = dict(state.more)
    if _WITNESSES in more:
        more[_WITNESSES] = _padded(more[_WITNESSES], width)
    return state._replace(sums=_widened_sums(state.sums, width), more=more)


def _widened_sums(sums: Sums, width: int) -> Sums:
    arrays = to_arrays(sums)
    arrays |= {name: _padded(arrays[name], width) for name in _BY_FEATURE}
    grams = [_widened_triangle(packed, sums.width, width) for packed in arrays["gram"]]
    arrays["gram"] = np.array(grams).reshape(-1, width * (width + 1) // 2)
    return from_arrays(arrays, sums.labels, sums.per_class, sums.dtype)


def _padded(array: Floats, width: int) -> Floats:
    """Return rows (m, d) with zeros up to this width."""
    return np.pad(array, ((0, 0), (0, width - array.shape[1])))


def _widened_triangle(packed: Floats, old: int, new: int) -> Floats:
    """Return a packed lower triangle (old, old) as the corner of one of (new, new)."""
    room = np.zeros((new, new), order="F")
    room[:old, :old] = lapack.dtpttr(old, packed, uplo="L")[0]
    triangle: Floats = lapack.dtrttp(room, uplo="L")[0]
    return triangle
