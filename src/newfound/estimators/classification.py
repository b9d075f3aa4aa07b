"""What all classifiers share: labels in, labels, scores and probabilities out."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from newfound.common.arrays import Counts, Floats, Labels, Rows
from newfound.common.device import Array, lasting, namespace_of, on_host
from newfound.distributed.answers import accuracy
from newfound.distributed.collections import in_memory, is_collection
from newfound.engine.predictor import in_precision
from newfound.estimators.base import IncrementalEstimator
from newfound.estimators.representation import Learned, learned_table
from newfound.selection.calibration import Calibration
from newfound.solvers.base import Solver
from newfound.solvers.rounding import warn_of_rounding
from newfound.sums.sums import Sums
from newfound.sums.weights import as_numbers, as_weights


class BaseIncrementalClassifier(ClassifierMixin, IncrementalEstimator):
    """A classifier over a learner."""

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn `X`, `y` on top of what is known, as if all had been there from the start.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            Or a Dask array or DataFrame, whose rows stay where they are (docs/scale.md).
        y : array-like of shape (m,)
            Labels: strings, booleans or whole numbers. New ones become new classes.
        classes : array-like, optional
            Labels to make room for already. Never needed; a class is not predicted before its
            first example.
        sample_weight : array-like of shape (m,), optional
            As how many examples each row counts; not negative. One of weight 2 is the same as two,
            one of weight 0 is left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X, y or a parameter is invalid; the model is left unchanged.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().partial_fit([[0.0]], ["cup"])
        >>> model.partial_fit([[1.0], [0.9]], ["mug", "mug"]).class_count_
        array([1, 2])
        """
        self._configured().learn(X, y, sample_weight, classes=classes, begin=self._checked)
        return self

    def store(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn `X`, `y` as `partial_fit` does, but derive nothing from it before it is asked.

        For long lessons in pieces: a piece costs no more than its sums, and the first question
        afterwards solves for all of them at once.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            Or a Dask array or DataFrame, whose rows stay where they are (docs/scale.md).
        y : array-like of shape (m,)
            Labels: strings, booleans or whole numbers.
        sample_weight : array-like of shape (m,), optional
            As in `partial_fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X, y or a parameter is invalid; the model is left unchanged.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier()
        >>> for row, label in ([0.0], "cup"), ([1.0], "mug"):
        ...     _ = model.store([row], [label])
        >>> model.predict([[0.9]])
        array(['mug'], dtype='<U3')
        """
        self._configured().learn(X, y, sample_weight, defer=True, begin=self._checked)
        return self

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
        >>> from newfound import IncrementalRidgeClassifier
        >>> IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"]).predict([[0.8]])
        array(['mug'], dtype='<U3')
        """
        return self._configured().ask(X, "predict", "best")

    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the recoded scores: estimates of each class's posterior, times its factor.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)

        Returns
        -------
        ndarray of shape (m, T), or (m,) if T is 2
            With two classes, as scikit-learn has it, the second score minus the first; `scores`
            has both. With one, its score. Classes that were announced but not taught yet score
            minus infinity.

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If `X` is not m rows of d finite numbers.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
        >>> model.decision_function([[1.5]]).round(3)
        array([[0.167, 0.333, 0.5  ]])
        """
        return self._configured().ask(X, "decision_function", "decisions")

    def scores(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the recoded score of every class, also where there are only two.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)

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
        >>> from newfound import IncrementalRidgeClassifier
        >>> IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"]).scores([[0.5]])
        array([[0.5, 0.5]])
        """
        return self._configured().ask(X, "scores", "scores")

    def predict_proba(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return how probable each class is.

        It is exp(sharpness * score), scaled so that it sums to one: the order is that of the
        scores, and nothing that was taught is impossible. Where parameters are chosen, the
        sharpness is the one under which witnesses, each left out of the model, are most probably
        of their own class (docs/unknown.md). Where they are fixed there are no witnesses, and it is
        one that is usually about right: 12.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)

        Returns
        -------
        ndarray of shape (m, T)
            Columns are those of `classes_`; rows sum to 1. 0 only for classes that were announced
            but not taught yet.

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If `X` is not m rows of d finite numbers.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]] * 50, ["cup", "mug"] * 50)
        >>> model.predict_proba([[0.5], [0.6]]).round(2)
        array([[0.5 , 0.5 ],
               [0.09, 0.91]])
        """
        return self._configured().ask(X, "predict_proba", "probabilities")

    def unknown_proba(self, X: ArrayLike) -> Floats:
        """Return how probable it is that each row is of no class that was taught.

        A row is unknown if it points in the direction of no class, in the metric in which the
        model measures rows. How far off is too far, the model finds out from its witnesses: each
        is asked of the model without it, as something known, and of the model without its class,
        as something unknown (docs/unknown.md). That is renewed together with the choice of
        parameters. What is nearly a witness of one of its three likeliest classes is known. Where
        parameters are fixed there are no witnesses, and the average row of each class is asked.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)

        Returns
        -------
        ndarray of shape (m,)
            In [0, 1]; above 0.5 a row is rather unknown than not. 0 for all, and
            `calibration_.bound` is None, until two classes have two examples each (in a stream
            that chooses parameters, a few examples more), and while examples are not clearly more
            like their own classes than like others.

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If `X` is not m rows of d finite numbers.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifierCV
        >>> rng = np.random.default_rng(0)
        >>> centres = 9 * np.eye(5)
        >>> index = np.repeat(np.arange(4), 20)
        >>> rows = centres[index] + rng.normal(size=(80, 5))
        >>> model = IncrementalRidgeClassifierCV().fit(rows, index)
        >>> model.unknown_proba(centres).round(1)
        array([0., 0., 0., 0., 1.])
        """
        return self._configured().ask(X, "unknown_proba", "unknown", unknown=True)

    def novelty(self, X: ArrayLike) -> Floats:
        """Return how unlike everything taught each row of `X` is.

        It is the leverage h / (1 + h) that the row would have if it were taught, h = x'A^-1 x:
        near 0 for what was seen many times, near 1 for what is like nothing taught. Labels play
        no part in it, but class weights do: what weighs little counts as seen little.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)

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
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]] * 50, ["cup", "mug"] * 50)
        >>> model.novelty([[0.5], [100.0]]).round(2)
        array([0.01, 1.  ])
        """
        return self._configured().ask(X, "novelty", "novelty", leverage=True)

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
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> model.score([[0.1], [0.8], [0.9]], ["cup", "mug", "cup"])
        0.6666666666666666
        """
        if not is_collection(X):
            labels, weights = in_memory(y), in_memory(sample_weight)
            return float(super().score(X, labels, as_weights(weights, len(on_host(labels)))))
        if sample_weight is not None and not is_collection(sample_weight):
            sample_weight = as_numbers(sample_weight)
        schema = self._configured().learned.schema
        labels = y if is_collection(y) else schema.y(y, y)
        return accuracy(self.predict(X), X, labels, schema.y, sample_weight)

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
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier(class_weight="balanced")
        >>> model.fit([[0.0], [1.0], [0.9]], ["cup", "mug", "mug"]).forget_class("mug").classes_
        array(['cup'], dtype='<U3')
        """
        warn_of_rounding(self._configured().forget_class(label), stacklevel=2)
        return self

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
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0], [0.9]], ["cup", "mug", "Mug"])
        >>> model.rename_class("Mug", "mug").classes_
        array(['cup', 'mug'], dtype='<U3')
        """
        self._configured().rename_class(old, new)
        return self

    @property
    def classes_(self) -> Labels:
        """Labels, sorted, shape (T,)."""
        return self._by_class(attrgetter("labels"))

    @property
    def class_count_(self) -> Counts:
        """Number of examples of each class, shape (T,)."""
        return self._by_class(attrgetter("counts"))

    @property
    def class_weight_sum_(self) -> Floats:
        """Sum of the weights of each class's examples, shape (T,)."""
        return self._by_class(attrgetter("weight_sums"))

    def _by_class(self, values: Callable[[Sums], NDArray[Any]]) -> NDArray[Any]:
        """Return a copy of what the sums hold of each class, shape (T,), by sorted labels."""
        with self.lock:
            sums = self._own().engine.memory.sums
            return values(sums)[sums.order].copy()

    @property
    @lasting
    def coef_(self) -> NDArray[np.floating]:
        """Weights, recoded, shape (T, d), or (1, d) if T is 2.

        With two classes they are those of the second minus those of the first, so that always, once
        every class was taught, `decision_function(X)` is `X @ coef_.T + intercept_`; with two, the
        only column of that. Behind a projection or a layer, `X` is what these make of rows.
        """
        return self._recoded(attrgetter("weights")).T

    @property
    @lasting
    def intercept_(self) -> NDArray[np.floating]:
        """Intercepts, recoded, shape (T,), or (1,) if T is 2, as `coef_` has it."""
        return self._recoded(attrgetter("intercept"))

    def _recoded(self, values: Callable[[Solver], Array]) -> NDArray[np.floating]:
        """Return what the solver holds of each class, recoded, in the order of sorted labels.

        Of two classes, the second minus the first.
        """
        with self._configured().lock:
            engine = self._own().engine
            memory, order = engine.memory, engine.memory.sums.order
            recoded = values(engine.solver) * memory.place(engine.factors)
            if not isinstance(order, slice):
                recoded = namespace_of(recoded).take(recoded, memory.place(order), axis=-1)
            if recoded.shape[-1] == 2:
                recoded = recoded[..., 1:] - recoded[..., :1]
            return in_precision(recoded, memory.sums.dtype)

    @property
    @lasting
    def calibration_(self) -> Calibration:
        """How sure answers may be, as a `Calibration`.

        `sharpness` is what scores are multiplied by before they are exponentiated to probabilities.
        `bound` is None until the unknown can be told, and has then the `similarity` below which a
        row is unknown and the `slope` with which that grows sure; rows typically have a similarity
        of 1 with their class. `typical` has the cosines that make it 1, of each class.
        """
        with self._configured().lock:
            return self._own().engine.calibration

    @property
    def witnesses_(self) -> tuple[Rows, Labels]:
        """Examples that are kept to choose parameters by, shape (m, d), and their labels.

        Of very wide rows, they are what `projection_` makes of these.
        """
        with self.lock:
            memory = self._own().engine.memory
            rows, index = memory.witnesses.stack(memory.sums.labels, memory.width)
            return rows, memory.sums.labels[index]

    def _check_kin(self, other: Any) -> None:
        if not isinstance(other, BaseIncrementalClassifier):
            raise TypeError(f"can only merge with a model of newfound, got {type(other).__name__}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Scores through the origin cannot favour one class everywhere, however large its weight,
        # which scikit-learn's checks ask of classifiers unless they say so.
        tags.classifier_tags.poor_score = not self.fit_intercept
        return tags

    def _get_fitted_attr_html(self, doc_link: str = "") -> Learned:
        """Return what scikit-learn puts below the parameters of a fitted model."""
        labels, counts = self.classes_.tolist(), self.class_count_.tolist()
        return learned_table(labels, counts, self.n_samples_seen_, self.n_features_in_)
