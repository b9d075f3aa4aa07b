"""The estimator that selects its penalty and recoding inside the stream."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.common.arrays import Floats
from newfound.estimators.classification import BaseIncrementalClassifier
from newfound.estimators.seeds import Seed
from newfound.layers.layer import Layer
from newfound.learner.learner import CHOOSING
from newfound.selection.result import SelectionResult
from newfound.selection.selector import Selector
from newfound.solvers.settings import ClassWeight, SelectionSettings


class IncrementalRidgeClassifierCV(BaseIncrementalClassifier):
    """Incremental ridge classifier that chooses penalty and recoding while it learns.

    Nobody knows the right penalty, or how far to raise a class seen three times. This learns every
    example, and keeps copies of a few of each class: its *witnesses*. Ridge regression knows what
    it would say about an example had it never seen it, so candidates are scored on the witnesses
    without holding any back: leave-one-out, exactly and in fixed time.

    The default rule asks *what if*: what if only four examples had been taught of a class that is
    frequent? The sums tell which penalty and which recoding would then have served all frequent
    classes best (docs/selection.md). Scores are weighed against what is expected, and so they
    decide where rows are many and differences clear. The recoding depends on the number of
    examples, so every class has its own.

    A selection begins when there are twice as many examples as the last time, when two classes can
    be scored or are frequent for the first time, and after forgetting. It goes on a piece at a time
    with every example that is learned; `fit` and `reconsider` do it at once, on all there is.

    Parameters
    ----------
    penalties : "auto" or sequence of float, default="auto"
        Ridge penalties to choose from. "auto" is half decades around the mean squared length of a
        row (around the mean, with an intercept), so that the scale of the features does not
        matter: first a few far apart, then the neighbours of the best.
    recodings : float or sequence of float, default=(0, 0.1, …, 1)
        Recodings to choose from.
    rule : "what-if", "paper" or None, default="what-if"
        "paper" is the strongest recoding under which frequent classes, each recoding with
        its best penalty, do not fare worse than without recoding. None chooses the penalty alone,
        for one recoding.
    witnesses : int, default=40
        Exemplars that are kept of each class, at most (2 to 10,000): a reservoir sample. All
        examples of a class that weigh the same are equally likely to be among them; those that are
        equal are one.
    min_class_count : int, default=30
        Examples from which on a class is frequent, if it has a quarter of what such classes
        typically have: only frequent classes are simulated to be rare. The model as it is scores
        all classes with two witnesses; until there are two of these, what is expected is used.
    tolerance : float, default=0.0
        How much accuracy may suffer from recoding under rule "paper".
    class_weight : None, "balanced" or mapping of label to float, default=None
        As in `IncrementalRidgeClassifier`. When a witness is left out, weights stay as they are.
        Under "balanced" there is nothing to recode, and the penalty is chosen alone.
    fit_intercept : bool, default=True
    random_state : int, RandomState, Generator or None, default=0
        Seed of which examples become witnesses, and of the what-ifs. From a generator of numpy's,
        or from numpy's own with None, a seed is drawn when the first rows are learned: by every
        `fit` anew, and once in a stream, which keeps it, also in its file. A number that is set
        later counts from then on.
    layer : "auto", int, Layer or None, default=None
        Random units beside the features, so that more than planes can be told: so many, made to
        suit the first hundred rows (until then the model is linear), or a layer that is given
        (docs/layer.md). "auto" has 2,000, and uses them where witnesses, each left out, are
        likelier behind them by two standard errors. It cannot change once rows are learned.

    Attributes
    ----------
    penalty_ : float
        The penalty chosen for now.
    recoding_ : ndarray of shape (T,)
        The recoding chosen for now, of each class.
    validation_scores_ : dict of ndarrays
        How each candidate fared.
    layer_ : Layer or None
        That answers are made with for now.
    layer_advantage_ : float
        By how many standard errors witnesses are likelier behind a layer; NaN, if it is not asked.
    classes_, class_count_, coef_, intercept_, n_features_in_, feature_names_in_, n_samples_seen_
        As those of `IncrementalRidgeClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from newfound import IncrementalRidgeClassifierCV
    >>> X, y = load_digits(return_X_y=True)
    >>> model = IncrementalRidgeClassifierCV().fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.88
    True
    """

    _SETTINGS = SelectionSettings

    def __init__(
        self,
        penalties: Literal["auto"] | ArrayLike = CHOOSING.penalties,
        recodings: float | ArrayLike = CHOOSING.recodings,
        rule: Literal["what-if", "paper"] | None = CHOOSING.rule,
        witnesses: int = CHOOSING.witnesses,
        min_class_count: int = CHOOSING.min_class_count,
        tolerance: float = CHOOSING.tolerance,
        class_weight: ClassWeight | None = CHOOSING.class_weight,
        fit_intercept: bool = CHOOSING.fit_intercept,
        random_state: Seed = CHOOSING.random_state,
        layer: Literal["auto"] | int | Layer | None = CHOOSING.layer,
    ) -> None:
        self.penalties = penalties
        self.recodings = recodings
        self.rule = rule
        self.witnesses = witnesses
        self.min_class_count = min_class_count
        self.tolerance = tolerance
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.layer = layer

    def _result(self) -> SelectionResult:
        """Return what the choice rests on; hold the lock."""
        engine = self._configured().engine
        assert isinstance(engine.choice, Selector)
        return engine.choice.result(engine.memory)

    @property
    def penalty_(self) -> float:
        """The penalty chosen for now."""
        with self.lock:
            return self._result().penalty

    @property
    def recoding_(self) -> Floats:
        """The recoding chosen for now, of each class, shape (T,)."""
        with self.lock:
            sums, result = self._own().engine.memory.sums, self._result()
            recoding: Floats = result.recoding(sums.sizes)[sums.order]
            return recoding.copy()

    @property
    def layer_advantage_(self) -> float:
        """By how many standard errors witnesses, left out, are likelier behind the layer."""
        with self.lock:
            return self._result().advantage

    @property
    def validation_scores_(self) -> dict[str, NDArray[np.float64]]:
        """How candidates fared: columns of a table with one line for each candidate tried.

        "penalty" and "recoding"; "accuracy" of the witnesses, each left out, from 0 to 1, the mean
        over all simulated counts, NaN if none could be scored; "rare", that of classes simulated to
        be rare; and "prior", which a penalty that is not the expected one must be better by. Where
        a layer is in question, "layer" is 1 for candidates behind it, and 0 for those without.
        """
        with self.lock:
            result = self._result()
        return result.table()

    def plot_validation(self, axes: Any = None) -> Any:
        """Plot how candidates fared: penalties, and recodings.

        Left, accuracy against the penalty, with what it is after the prior, and the choice.
        Right, accuracy against the recoding for classes simulated rare and for all that are scored,
        at the penalty chosen, and the recoding chosen for each simulated count. Where a layer is in
        question, left, too, how penalties fared with it, or without, whichever is not used.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, optional

        Returns
        -------
        ndarray of two matplotlib Axes

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ModuleNotFoundError
            If matplotlib, of the extra `plots`, is not there.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> model = IncrementalRidgeClassifierCV().fit(*load_digits(return_X_y=True))
        >>> [each.get_xlabel() for each in model.plot_validation()]
        ['penalty', 'recoding']
        """
        from newfound.selection.plot import plot  # matplotlib takes its time, and may be absent

        with self.lock:
            result = self._result()
        return plot(result, axes)
