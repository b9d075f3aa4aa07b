"""The regressor: ridge regression that learns row by row, forgets and merges, exactly."""

import copy
import os
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from newfound.common.arrays import Floats, Rows
from newfound.common.errors import InputError
from newfound.common.files import moment
from newfound.common.locks import Locked, locked
from newfound.engine.regression import LABEL, Answer, RegressionEngine
from newfound.estimators.constraints import REGRESSION_CONSTRAINTS
from newfound.estimators.seeds import Seed, plain_seed
from newfound.solvers.rounding import warn_of_rounding
from newfound.solvers.settings import RegressionSettings, checked_regression_settings
from newfound.storage import format as file_format
from newfound.storage.format import State
from newfound.storage.witnesses import packed_witnesses, unpacked_witnesses
from newfound.sums.device import weighted
from newfound.sums.rows import LARGEST_SQUARE, as_rows
from newfound.sums.sparse import blocks, is_long, is_sparse
from newfound.sums.weights import NOTHING_WEIGHS, as_weights, counted

# What a model has once it is taught.
LEARNED = ("_engine", "_is_flat", "n_features_in_", "feature_names_in_")


class IncrementalRidge(Locked, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Ridge regression that learns row by row, forgets and merges, exactly.

    At every moment it is scikit-learn's `Ridge` of everything taught and not forgotten. Learning a
    row takes O((d + k)^2) time for d features and k targets, and memory does not grow with what was
    seen. The first question after something was learned solves for the weights, O(d^3 / 3 + d^2 k),
    whatever was seen before. Sparse rows are made dense a block at a time.

    Parameters
    ----------
    penalty : float, "auto" or sequence of float, default=1.0
        Ridge penalty, above 0; the intercept is not penalised. Of several, the one is used under
        which rows are missed least by models that were not taught them (leave-one-out), in squared
        error over all targets. "auto" is half decades around the mean squared length of a row. To
        choose takes about ten times as long as to solve.
    fit_intercept : bool, default=True
    witnesses : int, default=500
        Copies of examples that are kept at most, to be left out. While there are no more than
        that, all are: then the choice is that of scikit-learn's `RidgeCV`, but that examples that
        are equal are left out together.
    random_state : int, RandomState, Generator or None, default=0
        Seed of which examples are kept.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (k, d)
        Weights.
    intercept_ : float or ndarray of shape (k,)
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

    _parameter_constraints: ClassVar[dict[str, Any]] = REGRESSION_CONSTRAINTS
    _engine: RegressionEngine  # everything learned; absent until taught
    _is_flat: bool  # whether targets came in one dimension

    def __init__(
        self,
        penalty: float | Literal["auto"] | ArrayLike = 1.0,
        fit_intercept: bool = True,
        witnesses: int = 500,
        random_state: Seed = 0,
    ) -> None:
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.witnesses = witnesses
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and learn `X`, `y`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
        y : array-like of shape (m,) or (m, k)
        sample_weight : array-like of shape (m,), optional
            As how many examples each row counts; not negative.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If rows, targets, weights or parameters are none; then the model is as it was.

        Examples
        --------
        >>> IncrementalRidge(penalty=1.0).fit([[-1.0], [1.0]], [0.0, 6.0]).coef_
        array([2.])
        """
        return self._learn(X, y, sample_weight, anew=True)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn `X`, `y` on top of what is known, as if all had been there from the start.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
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
            If rows, targets, weights or parameters are none; then the model is as it was.

        Examples
        --------
        >>> model = IncrementalRidge().partial_fit([[-1.0]], [0.0])
        >>> model.partial_fit([[1.0]], [6.0]).coef_
        array([2.])
        """
        return self._learn(X, y, sample_weight, anew=not hasattr(self, "_engine"))

    @locked
    def _learn(self, X: Any, y: Any, sample_weight: Any, anew: bool) -> Self:
        """Learn rows on top of what is known or, `anew`, in place of it."""
        settings, page = self._settings(), self
        if anew:  # on a blank page: whatever fails, this model is as it was
            page = object.__new__(type(self))
            page.__dict__ = self._without_lessons()
        given = page._checked(X, y, sample_weight, anew)
        if anew:
            if given.weights is not None and not given.weights.any():
                raise InputError(NOTHING_WEIGHS)
            d, k = given.X.shape[1], given.targets.shape[1]
            engine = RegressionEngine.blank(d, k, plain_seed(self.random_state))
        else:
            engine = copy.deepcopy(self._engine) if is_long(given.X) else self._engine
        for rows, weights in given.parts():
            engine.learn(rows, settings.witnesses, weights)
        is_flat = given.is_flat if anew else self._is_flat
        self.__dict__ = {**page.__dict__, "_engine": engine, "_is_flat": is_flat}
        return self

    def forget(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take back examples, exactly as if they had never been taught.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
        y : array-like of shape (m,) or (m, k)
            The targets they were taught with.
        sample_weight : array-like of shape (m,), optional
            The weights they were taught with.

        Returns
        -------
        self

        Raises
        ------
        NotTaughtError
            If they cannot all have been taught; then the model is as it was.
        ValueError
            If rows, targets or weights are none.

        Warns
        -----
        UserWarning
            If they were so large that their rounding stays in the sums.

        Examples
        --------
        >>> model = IncrementalRidge().fit([[-1.0], [1.0], [9.0]], [0.0, 6.0, 1.0])
        >>> model.forget([[9.0]], [1.0]).coef_
        array([2.])
        """
        warn_of_rounding(self._forget(X, y, sample_weight), stacklevel=2)
        return self

    @locked
    def _forget(self, X: Any, y: Any, sample_weight: Any) -> float:
        """Take back examples; return how large an error they left in the weights."""
        self._taught()
        given = self._checked(X, y, sample_weight, reset=False)
        engine = copy.deepcopy(self._engine) if is_long(given.X) else self._engine
        errors, settings = [0.0], self._settings()
        for rows, weights in given.parts():
            engine.forget(rows, weights)
            errors.append(engine.rounding_left_by(weighted(rows, weights, None), settings))
        self._engine = engine
        if not engine.sums.total:
            self.__dict__ = self._without_lessons()
        return max(errors)

    def merge(self, other: "IncrementalRidge") -> Self:
        """Learn everything another model was taught; it is not changed.

        Parameters
        ----------
        other : IncrementalRidge
            Of as many features and targets.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If widths, numbers of targets or names of features differ.

        Examples
        --------
        >>> one = IncrementalRidge().fit([[-1.0]], [0.0])
        >>> one.merge(IncrementalRidge().fit([[1.0]], [6.0])).coef_
        array([2.])
        """
        if not isinstance(other, IncrementalRidge):
            raise TypeError(f"can only merge with an IncrementalRidge, got {type(other).__name__}")
        # One lock after the other: two models that merge each other would wait for ever.
        theirs = copy.deepcopy(other)
        return self._merge(theirs) if theirs.__sklearn_is_fitted__() else self

    @locked
    def _merge(self, theirs: "IncrementalRidge") -> Self:
        held = {name: value for name, value in vars(theirs).items() if name in LEARNED}
        if not hasattr(self, "_engine"):
            self.__dict__.update(held)
            return self
        ours, names = _names(self), _names(theirs)
        if ours is not None and names is not None and ours != names:
            raise InputError("cannot merge: the two models were taught features of different names")
        self._engine = self._engine.merged(held["_engine"], self._settings().witnesses)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Return what is expected of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)

        Returns
        -------
        ndarray of shape (m,) or (m, k)

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
        with self.lock:
            answer, is_flat, rows = self._answer(), self._is_flat, self._rows(X)
        found: Floats = rows @ answer.weights + answer.intercept
        return found[:, 0] if is_flat else found

    @property
    @locked
    def coef_(self) -> Floats:
        """Weights, shape (d,) or (k, d)."""
        weights = self._answer().weights
        return weights[:, 0].copy() if self._is_flat else weights.T.copy()

    @property
    @locked
    def intercept_(self) -> float | Floats:
        """Intercept, or one for each target, shape (k,)."""
        intercept = self._answer().intercept
        return float(intercept[0]) if self._is_flat else intercept.copy()

    @property
    @locked
    def penalty_(self) -> float:
        """The penalty that is used."""
        return self._answer().penalty

    @property
    @locked
    def n_samples_seen_(self) -> int:
        """Number of examples taught and not forgotten."""
        return self._taught().sums.total

    @property
    @locked
    def weight_sum_(self) -> float:
        """Sum of their weights."""
        return self._taught().sums.mass

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, whole or not at all; `newfound.load` reads it.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        NotFittedError
            If nothing was taught.
        OSError
            If the file cannot be written; one that is there stays as it was.

        Examples
        --------
        >>> import tempfile
        >>> from newfound import load
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     IncrementalRidge().fit([[-1.0], [1.0]], [0.0, 6.0]).save(f"{folder}/line.newfound")
        ...     load(f"{folder}/line.newfound").coef_
        array([2.])
        """
        with self.lock:
            state, of = self.to_state(), moment()
        file_format.write(path, state, of)

    @locked
    def to_state(self) -> State:
        """Return all that makes this model, as it is saved; `from_state` makes a model of it.

        Returns
        -------
        State
            A copy.

        Raises
        ------
        NotFittedError
            If nothing was taught.

        Examples
        --------
        >>> IncrementalRidge().fit([[-1.0], [1.0]], [0.0, 6.0]).to_state().parameters["penalty"]
        [1.0]
        """
        engine, settings, names = self._taught(), self._settings(), _names(self)
        parameters = {
            "penalty": "auto" if settings.penalties is None else list(settings.penalties),
            "fit_intercept": settings.fit_intercept,
            "witnesses": settings.witnesses,
            "random_state": engine.witnesses.seed,
            "n_features": engine.d,
            "is_flat": self._is_flat,
        }
        if names is not None:  # as many as the sums have columns
            names = names + [f"target {number}" for number in range(engine.k)]
        state = State(type(self).__name__, parameters, copy.deepcopy(engine.sums), names)
        return state.keeping("witnesses", packed_witnesses(engine.witnesses, engine.sums))

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Return the model that `to_state` was asked of. It takes over the sums.

        Parameters
        ----------
        state : State
            Of such a model.

        Returns
        -------
        IncrementalRidge

        Raises
        ------
        ValueError
            If the parameters do not fit the sums.

        Examples
        --------
        >>> state = IncrementalRidge().fit([[-1.0], [1.0]], [0.0, 6.0]).to_state()
        >>> IncrementalRidge.from_state(state).coef_
        array([2.])
        """
        given, sums = dict(state.parameters), state.sums
        d, is_flat, penalty = given.pop("n_features"), given.pop("is_flat"), given["penalty"]
        if isinstance(penalty, list) and len(penalty) == 1:
            given["penalty"] = penalty[0]
        model, seed = cls(**given), given["random_state"]
        model._settings()
        if type(seed) is not int or seed < 0:
            raise InputError(f"random_state must be a whole number from 0, got {seed!r}")
        k = sums.width - d if type(d) is int else 0
        fits = k > 0 < d and type(is_flat) is bool and (k == 1 or not is_flat)
        if not fits or sums.labels.tolist() != [LABEL] or not sums.per_class:
            raise InputError("its parameters do not fit its sums")
        witnesses = unpacked_witnesses(state.kept_by("witnesses"), sums, seed)
        model._engine, model._is_flat = RegressionEngine(sums, witnesses, d), is_flat
        model.n_features_in_ = d
        if state.feature_names is not None:
            model.feature_names_in_ = np.array(state.feature_names[:d], dtype=object)
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_engine")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __dir__(self) -> Any:
        return object.__dir__(self)  # scikit-learn's asks for every attribute, and would solve

    def _taught(self) -> RegressionEngine:
        check_is_fitted(self)
        return self._engine

    def _answer(self) -> Answer:
        return self._taught().answer(self._settings())

    def _settings(self) -> RegressionSettings:
        return checked_regression_settings(self.penalty, self.fit_intercept, self.witnesses)

    def _without_lessons(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in LEARNED}

    def _rows(self, X: Any) -> Any:
        """Return rows to predict, dense or sparse, or raise ValueError."""
        rows = validate_data(self, X, reset=False, accept_sparse="csr", dtype=DTYPES)
        return rows if is_sparse(rows) else as_rows(rows).astype(np.float64, copy=False)

    def _checked(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> "Given":
        """Return rows, targets and weights, or raise ValueError."""
        rows, targets = validate_data(
            self,
            X,
            y,
            reset=reset,
            accept_sparse="csr",
            dtype=DTYPES,
            multi_output=True,
            y_numeric=True,
        )
        is_flat, n = targets.ndim == 1, rows.shape[0]
        targets = np.asarray(targets, dtype=np.float64).reshape(n, -1)
        if not np.vdot(targets, targets) < LARGEST_SQUARE:
            raise InputError(
                f"y holds values up to {abs(targets).max():.1e}, whose squares overflow"
            )
        if not reset and targets.shape[1] != (held := self._taught().k):
            raise InputError(f"y has {targets.shape[1]} targets, but this model was taught {held}")
        return Given(rows, targets, as_weights(sample_weight, n), is_flat)


# What rows may be.
DTYPES = (np.float64, np.float32)


class Given(NamedTuple):
    """What is to be learned or forgotten, checked."""

    X: Any  # rows, dense or sparse
    targets: Rows  # shape (m, k)
    weights: Floats | None
    is_flat: bool  # whether targets came in one dimension

    def parts(self) -> Iterator[tuple[Floats, Floats | None]]:
        """Yield rows that end in their targets, without those that weigh nothing, and weights.

        They are one part, or a block of sparse rows at a time.
        """
        everything = slice(None)
        cut = blocks(self.X) if is_sparse(self.X) else iter([(everything, self.X)])
        for place, X in cut:
            rows = np.hstack([as_rows(X).astype(np.float64, copy=False), self.targets[place]])
            weights = None if self.weights is None else self.weights[place]
            kept, _, weights = counted(rows, np.zeros(len(rows)), weights)
            if len(kept):
                yield kept.astype(np.float64, copy=False), weights


def _names(model: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
