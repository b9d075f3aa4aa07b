"""More features for a model: columns that count as zero in all that it was taught."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from newfound.common.arrays import Floats
from newfound.common.errors import InputError
from newfound.storage.format import State
from newfound.storage.table import TABLE, Arrays
from newfound.sums.arrays import from_arrays, to_arrays


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
    >>> wide = IncrementalRidgeClassifier.from_state(widened(model.learner_.to_state(), 2))
    >>> wide.n_features_in_, wide.partial_fit([[0.0, 1.0]], ["jug"]).predict([[0.0, 0.9]])
    (2, array(['jug'], dtype='<U3'))
    """
    if state.width is not None:
        raise InputError(
            "a feature of a new name came, but this model's layer was made for those that were "
            "there: give layer=None, or let the first hundred rows have all names"
        )
    if state.feature_names is not None:
        raise InputError("features that have names are not widened: the new ones would have none")
    if width < state.sums.width:
        raise InputError(f"{state.sums.width} features cannot be widened to {width}")
    sums = state.sums
    arrays = _widened(to_arrays(sums), sums.width, width)
    wide = from_arrays(arrays, sums.labels, sums.per_class, sums.dtype)
    return state._replace(sums=wide, arrays=_widened(state.arrays, sums.width, width))


def _widened(arrays: Arrays, old: int, new: int) -> dict[str, NDArray[Any]]:
    """Return arrays with zeros wherever the table says that features stand."""
    wide = dict(arrays)
    for name, array in arrays.items():
        if TABLE[name].axes[-1] in ("D", "E"):
            wide[name] = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, new - old)])
        elif TABLE[name].axes[-1] == "P":
            grams = [_widened_triangle(packed, old, new) for packed in array]
            wide[name] = np.array(grams).reshape(-1, new * (new + 1) // 2)
    return wide


def _widened_triangle(packed: Floats, old: int, new: int) -> Floats:
    """Return a packed lower triangle (old, old) as the corner of one of (new, new)."""
    square = np.zeros((new, new), order="F")
    square[:old, :old] = lapack.dtpttr(old, packed, uplo="L")[0]
    triangle: Floats = lapack.dtrttp(square, uplo="L")[0]
    return triangle
