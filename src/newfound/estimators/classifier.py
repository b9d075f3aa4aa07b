"""The estimator: learn, grow, recode, rebalance, forget, merge."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin

from newfound.common.arrays import Labels, Rows
from newfound.common.device import Array, lasting
from newfound.common.locks import locked
from newfound.distributed.answers import accuracy
from newfound.distributed.collections import in_memory, is_collection
from newfound.engine.engine import Engine
from newfound.estimators.answers import in_precision
from newfound.estimators.constraints import CONSTRAINTS
from newfound.estimators.inputs import checked_labels, checked_rows
from newfound.estimators.learner import Learner
from newfound.estimators.representation import Representation
from newfound.solvers.settings import ClassWeight, Settings, checked_settings
from newfound.sums.device import rows_at
from newfound.sums.sums import Sums


class IncrementalRidgeClassifier(Learner, Representation, ClassifierMixin, BaseEstimator):
    """Ridge classifier that learns row by row, meets new classes, forgets and merges, exactly.

    At every moment its weights are those of ridge regression on one-hot targets over everything
    taught and not forgotten, with the column of each class scaled up the rarer it is (recoding).
    Learning a row takes O(d^2 + dT) time, and memory does not grow with what was seen.

    Rows may be dense or sparse, as any matrix or array of scipy.sparse: sparse ones are made dense
    a block of 64 MB at a time. Of sparse features there may be 10,000.

    Any number of threads may ask while others teach: an answer is that of before or of after a
    call that learns, and such calls wait for each other. Hold `lock` to make several calls one.

    Parameters
    ----------
    penalty : float, default=1.0
        Ridge penalty, above 0; the intercept is not penalised. May be changed at any time.
    recoding : float, default=0.7
        How far rare classes are raised, from 0 (not at all) to 1: scores of class t are
        multiplied by (m / (T m_t)) ** recoding, with m_t what the examples of the class weigh,
        times the weight of the class, and m their sum. Classes of equal mass are left exactly as
        they are. May be changed at any time.
    class_weight : None, "balanced" or mapping of label to float, default=None
        Weight of each class in the loss, beside the weights of its examples. "balanced" is
        n / (T n_t), with n_t what the examples of the class weigh, so that classes weigh the same.
        Classes that a mapping does not name weigh 1. Anything but None holds the Gram matrix of
        each class: d * d numbers a class (the examples as they are while there are at most d / 2).
        With anything but None and an empty mapping, the first prediction after something was
        learned takes O(d^3 / 3) time. May be changed at any time, but not from None.
    fit_intercept : bool, default=True
        Whether to fit an intercept, exactly and without penalty. May be changed at any time.

    Attributes
    ----------
    classes_ : ndarray of shape (T,)
        Labels, sorted, as scikit-learn's scorers expect. A class that arrives moves the columns
        of those behind it, here and in all that is listed by class.
    class_count_ : ndarray of shape (T,)
        Number of examples of each class.
    class_weight_sum_ : ndarray of shape (T,)
        Sum of the weights of each class's examples: their number, if none was given a weight.
    coef_ : ndarray of shape (T, d)
        Weights, recoded; float32 if all rows taught were.
    intercept_ : ndarray of shape (T,)
        Intercepts, recoded.
    n_features_in_ : int
        Number of features, d.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if the first rows taught had any.
    n_samples_seen_ : int
        Number of examples taught and not forgotten, n.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> model = IncrementalRidgeClassifier()
    >>> model.partial_fit([[0.0, 0.1], [1.0, 0.9]], ["cup", "mug"]).predict([[0.9, 1.0]])
    array(['mug'], dtype='<U3')
    >>> model.partial_fit([[0.0, 1.0]], ["ball"]).predict([[0.1, 1.0]])
    array(['ball'], dtype='<U4')
    >>> model.forget([[0.0, 1.0]], ["ball"]).classes_
    array(['cup', 'mug'], dtype='<U4')
    """

    _SETTINGS: ClassVar[Any] = Settings
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    def __init__(
        self,
        penalty: float = 1.0,
        recoding: float = 0.7,
        class_weight: ClassWeight | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.penalty = penalty
        self.recoding = recoding
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and learn `X`, `y`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            Or a Dask array or DataFrame, whose rows stay where they are (docs/scale.md).
        y : array-like of shape (m,)
            Labels: strings, booleans or whole numbers.
        sample_weight : array-like of shape (m,), optional
            As how many examples each row counts; not negative. One of weight 2 is the same as two,
            one of weight 0 is left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If rows, labels or parameters are none; then the model is as it was.

        Examples
        --------
        >>> IncrementalRidgeClassifier().fit([[0.0], [1.0]], [3, 7]).classes_
        array([3, 7])
        """
        return self._learn(X, y, None, whole=True, sample_weight=sample_weight)

    def predict(self, X: ArrayLike) -> Labels:
        """Return the label of the highest score for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)

        Returns
        -------
        ndarray of shape (m,)

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If `X` is not m rows of d finite numbers.

        Examples
        --------
        >>> IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"]).predict([[0.8]])
        array(['mug'], dtype='<U3')
        """
        answers: Labels = self._ask("predict", "best", X)
        return answers

    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the recoded scores: estimates of each class's posterior, times its factor.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)

        Returns
        -------
        ndarray of shape (m, T), or (m,) if T is 2
            With two classes, as scikit-learn has it, the second score minus the first; `scores`
            has both. Classes that were announced but not taught yet score minus infinity.

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If `X` is not m rows of d finite numbers.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
        >>> model.decision_function([[1.5]]).round(3)
        array([[0.167, 0.333, 0.5  ]])
        """
        decisions: NDArray[np.floating] = self._ask("decision_function", "decisions", X)
        return decisions

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows whose label is predicted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            Or a Dask array or DataFrame, whose rows stay where they are (docs/scale.md).
        y : array-like of shape (m,)
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
            If `X` is not m rows of d finite numbers, or `y` not m labels.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> model.score([[0.1], [0.8], [0.9]], ["cup", "mug", "cup"])
        0.6666666666666666
        """
        if not is_collection(X):
            return float(super().score(X, in_memory(y), in_memory(sample_weight)))
        labels = y if is_collection(y) else self._labels(y, y)
        if sample_weight is not None and not is_collection(sample_weight):
            sample_weight = np.asarray(sample_weight)
        return accuracy(self.predict(X), X, labels, checked_labels, sample_weight)

    @property
    @locked
    @lasting
    def coef_(self) -> NDArray[np.floating]:
        """Weights, recoded, shape (T, d)."""
        sums, engine = self._taught(), self._ready()
        coefficients = (engine.solver.weights * engine.placed(engine.factors)).T
        return in_precision(_sorted(coefficients, sums), sums.dtype)

    @property
    @locked
    @lasting
    def intercept_(self) -> NDArray[np.floating]:
        """Intercepts, recoded, shape (T,)."""
        sums, engine = self._taught(), self._ready()
        intercepts = engine.solver.intercept * engine.placed(engine.factors)
        return in_precision(_sorted(intercepts[:, None], sums)[:, 0], sums.dtype)

    @locked
    def set_params(self, **params: Any) -> Self:
        """Change parameters, all at once for whoever asks meanwhile.

        Parameters
        ----------
        **params : dict
            By name.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no parameter of that name.

        Examples
        --------
        >>> IncrementalRidgeClassifier().set_params(penalty=2.0).penalty
        2.0
        """
        super().set_params(**params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Scores through the origin cannot favour one class everywhere, however large its weight,
        # which scikit-learn's checks ask of classifiers unless they say so.
        tags.classifier_tags.poor_score = not self.fit_intercept
        tags.array_api_support = True
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_taught

    # What a learner asks of an estimator.

    @property
    def kind(self) -> str:
        """The name of this class."""
        return type(self).__name__

    def _settings_type(self, kind: str) -> Any:
        return self._SETTINGS if kind in (each.__name__ for each in type(self).__mro__) else None

    def _named(self, settings: Any) -> dict[str, Any]:
        named: dict[str, Any] = settings._asdict()
        return named

    def _rows(self, X: Any, reset: bool) -> Rows:
        return checked_rows(self, X, reset=reset)

    def _dispatches(self) -> bool:
        return bool(get_config()["array_api_dispatch"])

    def _labels(self, X: Any, y: Any) -> Labels:
        return checked_labels(X, y)

    def _settings(self, stream: Engine | None = None) -> Any:
        """Return the parameters, checked: once a call, and then handed on."""
        return checked_settings(self.penalty, self.recoding, self.class_weight, self.fit_intercept)


def _sorted(columns: Array, sums: Sums) -> Array:
    """Return what there is of each class, shape (T, k), in the order of the sorted labels."""
    order = sums.order
    return columns if isinstance(order, slice) else rows_at(columns, order, sums.device)
