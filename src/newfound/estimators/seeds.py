"""From what scikit-learn takes as `random_state` to the plain seed that a model goes by."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from newfound.common.errors import InputError

Seed = int | np.random.RandomState | np.random.Generator | None
# Seeds that are drawn stay below this: any generator has numbers of 31 bits.
_DRAWN_BELOW = 2**31


def plain_seed(given: Any, begun: int | None = None) -> Any:
    """Return the seed of a stream: a number as it is, or one that is drawn when the stream begins.

    Parameters
    ----------
    given : int, RandomState, Generator or None
        None is numpy's own RandomState, as everywhere in scikit-learn.
    begun : int, optional
        The seed that a stream began with. It goes on with it, unless a number is given.

    Returns
    -------
    int
        A number that is given is not checked here.

    Raises
    ------
    InputError
        If it is none of these.

    Examples
    --------
    >>> plain_seed(7), plain_seed(7, begun=3), plain_seed(None, begun=3)
    (7, 7, 3)
    >>> plain_seed(np.random.RandomState(0)) == plain_seed(np.random.RandomState(0))
    True
    """
    if isinstance(given, Integral):
        return given
    if given is not None and not isinstance(given, np.random.RandomState | np.random.Generator):
        raise InputError(
            f"random_state must be a whole number from 0, None or a generator of numpy's, got "
            f"{given!r}"
        )
    if begun is not None:
        return begun
    if isinstance(given, np.random.Generator):
        return int(given.integers(_DRAWN_BELOW))
    return int(check_random_state(given).randint(_DRAWN_BELOW, dtype=np.int64))
