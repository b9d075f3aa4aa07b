"""The regressor: ridge regression that learns row by row, forgets and merges, exactly."""

from typing import Any, Literal, Self

from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin

from newfound.common.arrays import Floats
from newfound.common.device import Array, lasting, on_host
from newfound.distributed.collections import in_memory
from newfound.estimators.base import IncrementalEstimator
from newfound.estimators.schema import RegressionSchema
from newfound.estimators.seeds import Seed
from newfound.layers.layer import Layer
from newfound.solvers.settings import RegressionSettings
from newfound.sums.weights import as_weights


class IncrementalRidge(MultiOutputMixin, RegressorMixin, IncrementalEstimator):
    """Ridge regression that learns row by row, forgets and merges, exactly.

    At every moment it is scikit-learn's `Ridge` of everything taught and not forgotten. Learning a
    row takes O((d + k)^2) time for d features and k targets, and memory does not grow with what was
    seen. The first question after something was learned solves for the weights, O(d^3 / 3 + d^2 k),
    whatever was seen before. Sparse rows are made dense a block at a time. Dask collections, arrays
    of devices and threads are as with the classifiers.

    Parameters
    ----------
    penalty : float, "auto" or sequence of float, default=1.0
        Ridge penalty, above 0; the intercept is not penalised. Of several, the one is used under
        which rows are missed least by models that were not taught them (leave-one-out), in squared
        error over all targets. "auto" is half decades around the mean squared length of a row. To
        choose takes about ten times as long as to solve.
    fit_intercept : bool, default=True
    witnesses : int, default=500
        Exemplars that are kept at most (2 to 10,000), to be left out: a reservoir sample, where
        there are several penalties to choose from. While there are no more examples than that, all
        are kept: then the choice is that of scikit-learn's `RidgeCV`, but that examples that are
        equal are left out together.
    random_state : int, RandomState, Generator or None, default=0
        Seed of which examples are kept.
    layer : int, Layer or None, default=None
        As that of `IncrementalRidgeClassifier`.

    Attributes
    ----------
    coef_ : ndarray of shape (d,), or (k, d) if there are several targets
        Weights.
    intercept_ : float, or ndarray of shape (k,) if the first `y` had two dimensions
    penalty_ : float
        The penalty that is used.
    n_features_in_ : int
        Number of features, d.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if the first rows taught had any.
    n_samples_seen_ : int
        Number of examples taught and not forgotten.
    weight_sum_ : float
        Sum of their weights.

    Examples
    --------
    >>> from newfound import IncrementalRidge
    >>> model = IncrementalRidge(penalty=1e-6).fit([[0.0], [1.0]], [1.0, 3.0])
    >>> model.partial_fit([[2.0]], [5.0]).predict([[3.0]]).round(3)
    array([7.])
    >>> model.forget([[1.0]], [3.0]).n_samples_seen_
    2
    """

    _SETTINGS = RegressionSettings
    _SCHEMA = RegressionSchema

    def __init__(
        self,
        penalty: float | Literal["auto"] | ArrayLike = 1.0,
        fit_intercept: bool = True,
        witnesses: int = 500,
        random_state: Seed = 0,
        layer: int | Layer | None = None,
    ) -> None:
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.witnesses = witnesses
        self.random_state = random_state
        self.layer = layer

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn `X`, `y` on top of what is known, as if all had been there from the start.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            Or a Dask array or DataFrame, whose rows stay where they are (docs/scale.md).
        y : array-like of shape (m,) or (m, k)
            As many targets as before.
        sample_weight : array-like of shape (m,), optional
            As how many examples each row counts; not negative.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X, y, a weight or a parameter is invalid; the model is left unchanged.

        Examples
        --------
        >>> model = IncrementalRidge().partial_fit([[-1.0]], [0.0])
        >>> model.partial_fit([[1.0]], [6.0]).coef_
        array([2.])
        """
        self._configured().learn(X, y, sample_weight, begin=self._checked)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Return what is expected of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)

        Returns
        -------
        ndarray of shape (m,), or (m, k) if there are several targets

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If `X` is not m rows of d finite numbers.

        Examples
        --------
        >>> IncrementalRidge().fit([[-1.0], [1.0]], [0.0, 6.0]).predict([[0.5]])
        array([4.])
        """
        learner = self._configured()
        values = learner.ask(X, "predict", "values")
        return values[:, 0] if learner.learned.schema.targets == 1 else values

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2: which share of the variance of the targets is explained.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
        y : array-like of shape (m,) or (m, k)
        sample_weight : array-like of shape (m,), optional
            What each row counts.

        Returns
        -------
        float

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If `X` is not m rows of d finite numbers, or weights are none that can be taught.

        Examples
        --------
        >>> IncrementalRidge().fit([[-1.0], [1.0]], [0.0, 6.0]).score([[-1.0], [1.0]], [0.0, 6.0])
        0.888...
        """
        targets, weights = in_memory(y), in_memory(sample_weight)
        return float(super().score(X, targets, as_weights(weights, len(on_host(targets)))))

    @property
    @lasting
    def coef_(self) -> Array:
        """Weights, shape (d,), or (k, d) if there are several targets."""
        with self._configured().lock:
            schema, engine = self._own().learned
            weights = engine.solver.weights + 0.0  # a copy
            return weights[:, 0] if schema.targets == 1 else weights.T

    @property
    @lasting
    def intercept_(self) -> Any:
        """Intercept, or one for each target, shape (k,), if `y` had two dimensions."""
        with self._configured().lock:
            schema, engine = self._own().learned
            intercept = engine.solver.intercept + 0.0
            return float(intercept[0]) if schema.is_flat else intercept

    @property
    def penalty_(self) -> float:
        """The penalty that is used."""
        with self._configured().lock:
            return self._own().engine.penalty

    @property
    def weight_sum_(self) -> float:
        """Sum of the weights of all examples."""
        with self.lock:
            return self._own().engine.memory.sums.weight_sum

    def _check_kin(self, other: Any) -> None:
        if not isinstance(other, IncrementalRidge):
            raise TypeError(f"can only merge with an IncrementalRidge, got {type(other).__name__}")

    @classmethod
    def _parameters(cls, settings: Any) -> dict[str, Any]:
        named = super()._parameters(settings)
        if len(settings.penalty) == 1:
            named["penalty"] = settings.penalty[0]
        return named
