"""What may be seen of a model's sums from outside."""

from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Counts, Labels


class SumsView(NamedTuple):
    """How much the sums of a model hold, as of now; none of it may be written to.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0], [0.9]], ["mug", "cup", "cup"])
    >>> view = model.partial_fit([[2.0]], ["ball"]).sums_
    >>> view.labels.tolist(), view.counts.tolist(), view.per_class
    (['cup', 'mug', 'ball'], [2, 1, 1], False)
    """

    labels: Labels  # shape (T,), in order of arrival; the same array while classes stay
    counts: Counts  # examples of each class that are part of the sums, shape (T,)
    dtype: np.dtype[Any] | None  # float32 if all rows were, else float64; None: no rows yet
    per_class: bool  # whether each class has a Gram matrix of its own
