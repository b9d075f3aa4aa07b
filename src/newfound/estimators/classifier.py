"""The estimator: learn, grow, recode, rebalance, forget, merge."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from newfound.common.arrays import Counts, Floats, Labels, Rows
from newfound.common.errors import InputError
from newfound.common.interrupts import uninterrupted
from newfound.common.locks import Locked, locked
from newfound.engine.engine import Engine
from newfound.estimators.inputs import checked_labels, checked_rows
from newfound.estimators.representation import Representation
from newfound.heads.simplex import project_on_simplex
from newfound.solvers.rounding import warn_of_rounding
from newfound.solvers.settings import (
    ClassWeight,
    SelectionSettings,
    Settings,
    checked_settings,
)
from newfound.storage import format as file_format
from newfound.storage.format import State
from newfound.storage.selection import packed, unpacked
from newfound.sums.blas import rows_times, times
from newfound.sums.labels import as_labels, join_labels
from newfound.sums.sums import Sums
from newfound.sums.view import SumsView

# Rows of a question beyond which it is answered with a copy of the weights, while others learn.
FEW_ROWS = 16


class Scored(NamedTuple):
    """Scores of rows, with the classes they are scores of."""

    values: Floats  # shape (m, T)
    labels: Labels  # sorted, shape (T,)
    dtype: np.dtype[Any] | None  # of all rows taught


class Lessons(NamedTuple):
    """Everything that a model was taught."""

    engine: Engine
    feature_names: list[str] | None


class IncrementalRidgeClassifier(Locked, Representation, ClassifierMixin, BaseEstimator):
    """Ridge classifier that learns row by row, meets new classes, forgets and merges, exactly.

    At every moment its weights are those of ridge regression on one-hot targets over everything
    taught and not forgotten, with the column of each class scaled up the rarer it is (recoding).
    Learning a row takes O(d^2 + dT) time, and memory does not grow with what was seen.

    Any number of threads may ask while others teach: an answer is that of before or of after a
    call that learns, and such calls wait for each other. Hold `lock` to make several calls one.

    Parameters
    ----------
    penalty : float, default=1.0
        Ridge penalty, above 0; the intercept is not penalised. May be changed at any time.
    recoding : float, default=0.7
        How far rare classes are raised, from 0 (not at all) to 1: scores of class t are
        multiplied by (m / (T m_t)) ** recoding, with m_t the number of examples of the class times
        its weight, and m their sum. Classes of equal mass are left exactly as they are. May be
        changed at any time.
    class_weight : None, "balanced" or mapping of label to float, default=None
        Weight of each example in the loss. "balanced" is n / (T n_t), so that classes weigh the
        same. Classes that a mapping does not name weigh 1. Anything but None holds the Gram
        matrix of each class: d * d numbers a class (the examples as they are while there are at
        most d / 2). With anything but None and an empty mapping, the first prediction after
        something was learned takes O(d^3 / 3) time. May be changed at any time, but not from
        None.
    fit_intercept : bool, default=True
        Whether to fit an intercept, exactly and without penalty. May be changed at any time.

    Attributes
    ----------
    classes_ : ndarray of shape (T,)
        Labels, sorted, as scikit-learn's scorers expect. A class that arrives moves the columns
        of those behind it, here and in all that is listed by class.
    class_count_ : ndarray of shape (T,)
        Number of examples of each class.
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

    _engine: Engine  # everything learned; absent until taught
    _changing = False  # whether it is being changed

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

    @locked
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget everything and learn `X`, `y`.

        Parameters
        ----------
        X : array-like of shape (m, d)
        y : array-like of shape (m,)
            Labels: strings, booleans or whole numbers.

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
        return self._learn(X, y, None, anew=True, whole=True)

    @locked
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn `X`, `y` on top of what is known, as if all had been there from the start.

        Parameters
        ----------
        X : array-like of shape (m, d)
        y : array-like of shape (m,)
            Labels: strings, booleans or whole numbers. New ones become new classes.
        classes : array-like, optional
            Labels to make room for already. Never needed; a class is not predicted before its
            first example.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If rows, labels or parameters are none; then the model is as it was.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier().partial_fit([[0.0]], ["cup"])
        >>> model.partial_fit([[1.0], [0.9]], ["mug", "mug"]).class_count_
        array([1, 2])
        """
        return self._learn(X, y, classes, anew=not hasattr(self, "_engine"))

    @locked
    def store(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn `X`, `y` as `partial_fit` does, but derive nothing from it before it is asked.

        For long lessons in pieces: a piece costs no more than its sums, and the first question
        afterwards solves for all of them at once.

        Parameters
        ----------
        X : array-like of shape (m, d)
        y : array-like of shape (m,)
            Labels: strings, booleans or whole numbers.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If rows, labels or parameters are none; then the model is as it was.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier()
        >>> for row, label in ([0.0], "cup"), ([1.0], "mug"):
        ...     _ = model.store([row], [label])
        >>> model.predict([[0.9]])
        array(['mug'], dtype='<U3')
        """
        return self._learn(X, y, None, anew=not hasattr(self, "_engine"), put_off=True)

    def forget(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Take back examples, exactly as if they had never been taught.

        A class whose last example goes disappears. What cannot have been taught (more examples of
        a class than there are, or rows without which the sums would belong to no data) is refused.
        Where rows were so much larger than all that is left that their rounding is felt
        (docs/solver.md), a warning says how much.

        Parameters
        ----------
        X : array-like of shape (m, d)
        y : array-like of shape (m,)
            The labels they were taught with.

        Returns
        -------
        self

        Raises
        ------
        NotTaughtError
            If they cannot all have been taught; then the model is as it was.
        ValueError
            If rows or labels are none, or a label is not known.

        Warns
        -----
        UserWarning
            If their rounding stays in the sums.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0], [0.9]], ["cup", "mug", "mug"])
        >>> model.forget([[0.9]], ["mug"]).class_count_
        array([1, 1])
        """
        warn_of_rounding(self._forget(X, y), stacklevel=2)
        return self

    @locked
    def _forget(self, X: ArrayLike, y: ArrayLike) -> float:
        """Take back examples; return how large an error they left in the weights."""
        sums = self._taught()
        y = checked_labels(X, y)
        rows = checked_rows(self, X, reset=False)
        for label in np.unique(y).tolist():
            sums.position(label)
        index, _ = sums.locate(y)
        engine = self._ready()
        with self._change():
            error = engine.forget(rows, index)
        self._reset_if_empty()
        return error

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Change the sums and what follows from them as one, for Ctrl-C and signals, too.

        The lock keeps other threads away, but not what a signal's handler asks in this one.
        """
        with uninterrupted():
            self._changing = True
            try:
                yield
            finally:
                del self._changing

    @locked
    def forget_class(self, label: Any) -> Self:
        """Take back all examples of one class, exactly as if they had never been taught.

        That takes the Gram matrix of the class, which is held where `class_weight` is not None.

        Parameters
        ----------
        label : str, bool or int
            A class that was taught.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such class, or no Gram matrix of it.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier(class_weight="balanced")
        >>> model.fit([[0.0], [1.0], [0.9]], ["cup", "mug", "mug"]).forget_class("mug").classes_
        array(['cup'], dtype='<U3')
        """
        sums = self._taught()
        sums.position(label)
        if not sums.per_class:
            raise InputError(
                f"cannot forget class {label!r}: this model was taught with class_weight=None and "
                "does not hold its sums per class. Teach it with class_weight='balanced', or with "
                "class_weight={} to leave all weights at 1; or forget(X, y) its examples"
            )
        engine = self._ready()
        with self._change():
            engine.forget_class(label)
        return self._reset_if_empty()

    @locked
    def rename_class(self, old: Any, new: Any) -> Self:
        """Give a class another label; if a class has that label already, the two become one.

        Parameters
        ----------
        old : str, bool or int
            A class that was taught.
        new : str, bool or int
            A label of the same type as the others.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no class `old`, or if `new` cannot be a label here.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0], [0.9]], ["cup", "mug", "Mug"])
        >>> model.rename_class("Mug", "mug").classes_
        array(['cup', 'mug'], dtype='<U3')
        """
        self._taught()
        engine = self._ready()
        with self._change():
            engine.rename(old, as_labels([new], "new"))
        return self

    def merge(self, other: "IncrementalRidgeClassifier") -> Self:
        """Learn everything another model was taught; classes are matched by label.

        Parameters of this model stay as they are, and the other model is not changed.

        Parameters
        ----------
        other : IncrementalRidgeClassifier
            This class or a subclass of it, of as many features.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If widths, names of features or types of labels differ, or if only this model holds
            sums per class; then it is as it was.

        Examples
        --------
        >>> one = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> two = IncrementalRidgeClassifier().fit([[2.0]], ["jug"])
        >>> one.merge(two).classes_
        array(['cup', 'jug', 'mug'], dtype='<U3')
        """
        if not isinstance(other, IncrementalRidgeClassifier):
            raise TypeError(f"can only merge with a model of newfound, got {type(other).__name__}")
        # One lock after the other: two models that merge each other would wait for ever.
        theirs = other.lessons()
        return self if theirs is None else self._merge(theirs)

    @locked
    def _merge(self, theirs: Lessons) -> Self:
        self._check_at_rest()
        settings, names = self._settings(), self._common_names(theirs)
        ours = getattr(self, "_engine", None) or Engine.blank(theirs.engine.sums.width, settings)
        return self._adopt(ours.configure(settings).merged(theirs.engine), names)

    @locked
    def lessons(self) -> Lessons | None:
        """Return a copy of everything taught, whatever the parameters: what `merge` asks for.

        Returns
        -------
        Lessons or None
            None if nothing was taught.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> model.lessons().engine.sums.counts
        array([1, 1])
        """
        if not self.__sklearn_is_fitted__():
            return None
        names = getattr(self, "feature_names_in_", None)
        return Lessons(self._engine.copy(), None if names is None else list(names))

    def predict(self, X: ArrayLike) -> Labels:
        """Return the label of the highest score for each row.

        Parameters
        ----------
        X : array-like of shape (m, d)

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
        scored = self._scored(X)
        answers: Labels = scored.labels[scored.values.argmax(axis=1)]
        return answers

    def scores(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the recoded score of every class, also where there are only two.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of shape (m, T)
            Columns are those of `classes_`. Classes that were announced but not taught yet score
            minus infinity.

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If `X` is not m rows of d finite numbers.

        Examples
        --------
        >>> IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"]).scores([[0.5]])
        array([[0.5, 0.5]])
        """
        scored = self._scored(X)
        return in_precision(scored.values, scored.dtype)

    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the recoded scores: estimates of each class's posterior, times its factor.

        Parameters
        ----------
        X : array-like of shape (m, d)

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
        scores = self.scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the scores projected on the simplex.

        Least squares on one-hot targets estimates posterior probabilities, but single scores can
        leave [0, 1]. These are the nearest vectors that are probabilities.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of shape (m, T)
            Columns are those of `classes_`; rows sum to 1.

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If `X` is not m rows of d finite numbers.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> model.predict_proba([[0.5], [9.0]])
        array([[0.5, 0.5],
               [0. , 1. ]])
        """
        return project_on_simplex(self.scores(X))

    @locked
    def novelty(self, X: ArrayLike) -> Floats:
        """Return how unlike everything taught each row of `X` is.

        It is the leverage h / (1 + h) that the row would have if it were taught, h = x'A^-1 x:
        near 0 for what was seen many times, near 1 for what is like nothing taught. Labels play
        no part in it, but class weights do: what weighs little counts as seen little.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of shape (m,)
            In [0, 1).

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If `X` is not m rows of d finite numbers.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]] * 50, ["cup", "mug"] * 50)
        >>> model.novelty([[0.5], [100.0]]).round(2)
        array([0.01, 1.  ])
        """
        self._taught()
        rows = checked_rows(self, X, reset=False)
        leverage = self._ready().solver.leverage(rows)
        # h / (1 + h), in a form that survives an infinite h.
        return np.clip(1 - 1 / (1 + leverage), 0.0, np.nextafter(1.0, 0.0))

    @locked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, whole or not at all; `newfound.load` reads it.

        It is a safetensors file with the sums, the labels, the parameters and a checksum.

        Parameters
        ----------
        path : str or path-like
            By custom it ends in `.newfound`.

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If the model could not be read again.
        OSError
            If the file cannot be written; one that is there stays as it was.

        Examples
        --------
        >>> import os, tempfile
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(os.path.join(folder, "kitchen.newfound"))
        """
        file_format.write(path, self.to_state())

    @locked
    def to_state(self) -> State:
        """Return all that makes this model, as it is saved; `from_state` makes a model of it.

        Its sums are those of the model, not a copy: use it, or copy it, before the model learns
        more. Hold `lock` meanwhile if other threads may teach.

        Returns
        -------
        State

        Raises
        ------
        NotFittedError
            If the model was taught nothing.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> IncrementalRidgeClassifier.from_state(model.to_state()).predict([[0.9]])
        array(['mug'], dtype='<U3')
        """
        self._taught()
        engine, names = self._ready(), getattr(self, "feature_names_in_", None)
        state = State(
            type(self).__name__,
            engine.settings.to_json(),
            engine.sums,
            None if names is None else list(map(str, names)),
        )
        if not isinstance(engine.settings, SelectionSettings):
            return state
        kept = packed(engine)
        unpacked(kept, engine.sums, engine.settings)  # what could not be read is not written
        return state.keeping("selection", kept)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Return the model that `to_state` was asked of. It takes over the sums.

        Parameters
        ----------
        state : State
            Of a model of this class.

        Returns
        -------
        model

        Raises
        ------
        ValueError
            If the parameters are not those of such a model.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier(penalty=2.0).fit([[0.0], [1.0]], ["cup", "mug"])
        >>> IncrementalRidgeClassifier.from_state(model.to_state()).penalty
        2.0
        """
        return cls().restore(state)

    @locked
    def restore(self, state: State) -> Self:
        """Become the model that a state was taken of, its parameters included.

        Parameters
        ----------
        state : State
            Its sums are taken over, not copied.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the parameters are not those of such a model; then this one is as it was.

        Examples
        --------
        >>> state = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"]).to_state()
        >>> IncrementalRidgeClassifier().restore(state).classes_
        array(['cup', 'mug'], dtype='<U3')
        """
        self._check_state(state)
        settings = self._settings_in(state)
        selector = None
        if isinstance(settings, SelectionSettings):
            selector = unpacked(state.kept_by("selection"), state.sums, settings)
        engine = Engine(state.sums, settings, selector)
        return self._adopt(engine, state.feature_names, **settings._asdict())

    def _check_state(self, state: State) -> None:
        self._check_at_rest()
        kinds = [kind.__name__ for kind in type(self).__mro__]
        if not isinstance(state, State) or state.estimator not in kinds:
            what = state.estimator if isinstance(state, State) else type(state).__name__
            raise InputError(f"a {type(self).__name__} cannot be made of the state of a {what}")

    def _settings_in(self, state: State) -> Any:
        """Return the parameters of a state, or raise ValueError."""
        try:
            return self._SETTINGS.from_json(state.parameters)
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"its parameters are not a model's ({error!r})") from error

    @property
    @locked
    def classes_(self) -> Labels:
        """Labels, sorted, shape (T,)."""
        return self._taught().sorted_classes[0].copy()

    @property
    @locked
    def class_count_(self) -> Counts:
        """Number of examples of each class, shape (T,)."""
        sums = self._taught()
        return sums.counts[sums.order].copy()

    @property
    @locked
    def n_samples_seen_(self) -> int:
        """Number of examples taught and not forgotten."""
        return self._taught().total

    @property
    @locked
    def sums_(self) -> SumsView:
        """How much the sums hold: labels, counts, dtype, per_class."""
        sums = self._taught()
        sums.labels.flags.writeable = False  # replaced by the sums, never written to
        counts = sums.counts.copy()
        counts.flags.writeable = False
        return SumsView(sums.labels, counts, sums.dtype, sums.per_class)

    @locked
    def kept_rows(self, label: Any) -> Rows:
        """Return the examples of a class that are still held as they came.

        Parameters
        ----------
        label : str, bool or int
            A class that was taught.

        Returns
        -------
        ndarray of shape (m, d)
            All of them while a class that has sums of its own has few; else none.

        Raises
        ------
        ValueError
            If there is no such class.

        Examples
        --------
        >>> model = IncrementalRidgeClassifier(class_weight="balanced")
        >>> model.fit([[0.0, 1.0], [1.0, 0.0]], ["cup", "mug"]).kept_rows("mug")
        array([[1., 0.]])
        """
        return self._taught().rows_of(label)

    @property
    @locked
    def coef_(self) -> NDArray[np.floating]:
        """Weights, recoded, shape (T, d)."""
        sums, engine = self._taught(), self._ready()
        coefficients = (engine.solver.weights * engine.factors).T[sums.order]
        return in_precision(coefficients, sums.dtype)

    @property
    @locked
    def intercept_(self) -> NDArray[np.floating]:
        """Intercepts, recoded, shape (T,)."""
        sums, engine = self._taught(), self._ready()
        return in_precision((engine.solver.intercept * engine.factors)[sums.order], sums.dtype)

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
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        engine = getattr(self, "_engine", None)
        return engine is not None and engine.sums.total > 0

    def _check_at_rest(self) -> None:
        if self._changing:
            raise RuntimeError(
                "this model is just learning or forgetting, in this very thread: the handler of a "
                "signal can neither ask nor teach it now"
            )

    def _taught(self) -> Sums:
        if self._changing:
            self._check_at_rest()
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} has not been taught anything: "
                "call fit or partial_fit first"
            )
        return self._engine.sums

    def _ready(self) -> Engine:
        """Return the engine, with the parameters as they now are."""
        return self._engine.configure(self._settings())

    def _learn(
        self,
        X: Any,
        y: Any,
        classes: Any,
        anew: bool,
        whole: bool = False,
        put_off: bool = False,
    ) -> Self:
        self._check_at_rest()
        settings, page = self._settings(), self
        labels = everything = checked_labels(X, y)
        if classes is not None:
            everything = join_labels(as_labels(classes, "classes"), labels)
        if anew:  # on a blank page: whatever fails, this model is as it was
            page = object.__new__(type(self))
            page.__dict__ = self._without_lessons()
        rows = checked_rows(page, X, reset=anew)
        engine = Engine.blank(rows.shape[1], settings) if anew else self._ready()
        index, known = engine.sums.locate(everything)
        index = index[len(everything) - len(labels) :]
        self._changing = True
        try:
            if whole:
                engine.fit(rows, index, known)
            else:
                engine.learn(rows, index, known, put_off)
        finally:
            del self._changing
        if anew:
            page._engine = engine
            self.__dict__ = page.__dict__
        return self

    def _without_lessons(self) -> dict[str, Any]:
        """Return what is left of this model if everything taught is taken away."""
        learned = ("_engine", "n_features_in_", "feature_names_in_")
        return {name: value for name, value in self.__dict__.items() if name not in learned}

    def _settings(self) -> Any:
        """Return the parameters, checked: once a call, and then handed on."""
        return checked_settings(self.penalty, self.recoding, self.class_weight, self.fit_intercept)

    def _adopt(self, engine: Engine, names: list[str] | None, **parameters: Any) -> Self:
        """Replace everything taught by what this engine was, and these parameters."""
        learned = {"_engine": engine, "n_features_in_": engine.sums.width}
        if names is not None:
            learned["feature_names_in_"] = np.array(names, dtype=object)
        self.__dict__ = {**self._without_lessons(), **parameters, **learned}
        return self

    def _reset_if_empty(self) -> Self:
        """Be as new once nothing is left."""
        if not self._engine.sums.total:
            self.__dict__ = self._without_lessons()
        return self

    def _scored(self, X: Any) -> Scored:
        """Return recoded scores; -inf for classes announced but not taught yet."""
        with self.lock:
            sums, rows = self._taught(), checked_rows(self, X, reset=False)
            engine = self._ready()
            solver, factors = engine.solver, engine.factors
            weights, intercept = solver.weights, solver.intercept
            counts, dtype = sums.counts, sums.dtype
            labels, order = sums.sorted_classes
            if len(rows) == 1:
                products = times(weights.T, rows[0].astype(np.float64, copy=False))[None]
            elif len(rows) <= FEW_ROWS:
                products = rows_times(rows, weights)
            else:  # long enough for others to wait, so on a copy, for weights change in place
                weights = weights.copy(order="K")
        if len(rows) > FEW_ROWS:
            products = rows_times(rows, weights)
        scores: Floats = (products + intercept) * factors
        if not counts.all():
            scores[:, counts == 0] = -np.inf
        return Scored(scores[:, order], labels, dtype)

    def _common_names(self, theirs: Lessons) -> list[str] | None:
        """Return the feature names of two models to be merged, or raise ValueError."""
        names, others = getattr(self, "feature_names_in_", None), theirs.feature_names
        if names is not None and others is not None and list(names) != others:
            raise InputError("cannot merge: the two models were taught features of different names")
        return list(names) if names is not None else others


def in_precision(values: Floats, dtype: np.dtype[Any] | None) -> NDArray[np.floating]:
    """Return a copy of `values` in this precision, or in float64 if they leave its range.

    >>> in_precision(np.array([1.0, 2.0]), np.dtype(np.float32)).dtype
    dtype('float32')
    >>> in_precision(np.array([1.0, 1e40]), np.dtype(np.float32)).dtype
    dtype('float64')
    """
    if dtype == np.float32:
        finite = values[np.isfinite(values)]
        if np.abs(finite).max(initial=0.0) > np.finfo(np.float32).max:
            dtype = None
    return values.astype(np.float64 if dtype is None else dtype)
