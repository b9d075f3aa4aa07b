"""What all estimators share: each has a learner, and adds parameters, tags and learned names."""

import copy
import os
from collections.abc import Iterable
from operator import is_
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from newfound.common.files import moment
from newfound.common.interrupts import uninterrupted
from newfound.estimators.schema import EstimatorSchema
from newfound.estimators.seeds import plain_seed
from newfound.estimators.torch_device import torch_device
from newfound.layers.layer import Layer
from newfound.layers.projection import Projection
from newfound.learner.learner import Learner
from newfound.learner.loading import learner_of
from newfound.learner.schema import Schema
from newfound.solvers.rounding import warn_of_rounding
from newfound.solvers.settings import AnySettings, checked
from newfound.storage import format as file_format
from newfound.storage.format import State

# Types of parameters that cannot change while they are the same object.
UNCHANGING = (int, float, bool, str, tuple, type(None))


class IncrementalEstimator(BaseEstimator):
    """An estimator over a learner, which learns, forgets, answers and is saved for it."""

    # _SETTINGS: what parameters become once they are checked; its fields have their names.
    # _SCHEMA: what checks rows.
    # _learner: made when it is first needed, for scikit-learn wants nothing but parameters from a
    #     constructor.

    _SETTINGS: ClassVar[Any]
    _SCHEMA: ClassVar[type[EstimatorSchema]] = EstimatorSchema

    @property
    def learner_(self) -> Learner:
        """What does the work, with the parameters as they now are.

        It is not for users, but for whoever builds upon estimators.
        """
        learner = self._configured()
        if not learner.is_fitted:
            learner.configure(self._checked())
        return learner

    def _own(self) -> Learner:
        """Return the learner, whatever its parameters are."""
        learner: Learner | None = self.__dict__.get("_learner")
        if learner is None:
            kind = type(self).__name__
            learner = Learner(schema=self._SCHEMA(kind), kind=kind)
            learner = self.__dict__.setdefault("_learner", learner)
        return learner

    @property
    def lock(self) -> Any:
        """Hold it to ask or change several things as one: a reentrant lock."""
        return self._own().lock

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Return the model that a state was taken of: what files hold, and `learner_.to_state()`.

        Parameters
        ----------
        state : State
            Of a model of this class; taken over.

        Returns
        -------
        estimator

        Raises
        ------
        ModelFileError
            If it is of another class, or its parameters are invalid.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier(penalty=2.0).fit([[0.0], [1.0]], ["cup", "mug"])
        >>> IncrementalRidgeClassifier.from_state(model.learner_.to_state()).penalty
        2.0
        """
        return over(cls, learner_of(state, "this state", {cls.__name__: cls._SETTINGS}))

    @classmethod
    def _parameters(cls, settings: Any) -> dict[str, Any]:
        """Return settings by the names of parameters."""
        return dict(settings._asdict())

    def _checked(self, seed: int | None = None) -> AnySettings:
        """Return the parameters, checked; of a stream that has begun, with its seed.

        Otherwise a seed is drawn, if none is given.
        """
        values = {name: getattr(self, name) for name in self._SETTINGS._fields}
        if "random_state" in values:
            values["random_state"] = plain_seed(values["random_state"], seed)
        settings: AnySettings = checked(self._SETTINGS, values)
        return settings

    def _configured(self) -> Learner:
        """Return the learner, with the parameters as they now are, checked if they are others.

        One that was taught nothing takes those of the moment when it is: `_checked`.
        """
        learner = self.__dict__.get("_learner") or self._own()
        with learner.lock:
            if not learner.is_fitted:
                return learner
            given, known = tuple(map(self.__dict__.get, self._SETTINGS._fields)), learner.given
            if known is None or not all(map(is_, given, known)):
                is_safe = all(isinstance(value, UNCHANGING) for value in given)
                settings = self._checked(learner.settings.seed)
                learner.configure(settings, given if is_safe else None)
        return learner

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # for a learner is no value that two could share

    def __sklearn_is_fitted__(self) -> bool:
        return self._own().is_fitted

    def __dir__(self) -> Iterable[str]:
        # scikit-learn's asks for every attribute, among which are weights: it would solve for them.
        return object.__dir__(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.sparse = True
        return tags

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
        >>> from newfound import IncrementalRidge
        >>> IncrementalRidge().set_params(penalty=2.0).penalty
        2.0
        """
        with self.lock, uninterrupted():
            super().set_params(**params)
        return self

    @property
    def n_features_in_(self) -> int:
        """Number of features, d."""
        return self._seen("n_features_in_").width

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features, if the first rows taught had any, shape (d,)."""
        names = self._seen("feature_names_in_").names
        if names is None:
            raise AttributeError("the features have no names")
        return np.array(names, dtype=object)

    def _seen(self, name: str) -> Schema:
        """Return the schema, or raise AttributeError, as of any name that is learned."""
        learner = self._own()
        if not learner.is_fitted:
            raise AttributeError(f"{type(self).__name__!r} has no {name!r} before it is fitted")
        with learner.lock:
            return learner.learned.schema

    @property
    def projection_(self) -> Projection | None:
        """What very wide rows go through first; None: they are learned as they are."""
        return self._seen("projection_").projection

    @property
    def layer_(self) -> Layer | None:
        """The layer that answers are made with now, if one is."""
        with self.lock:
            return self._configured().engine.layer

    @property
    def n_samples_seen_(self) -> int:
        """Number of examples taught and not forgotten."""
        with self.lock:
            return self._own().engine.memory.sums.total

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything and learn `X`, `y`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            Or a Dask array or DataFrame, whose rows stay where they are (docs/scale.md).
        y : array-like of shape (m,), or of a regressor (m, k)
            Labels: strings, booleans or whole numbers. Of a regressor, targets.
        sample_weight : array-like of shape (m,), optional
            As how many examples each row counts; not negative. One of weight 2 is the same as two,
            one of weight 0 is left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X, y, a weight or a parameter is invalid; the model is left unchanged.

        Examples
        --------
        >>> from newfound import IncrementalRidge, IncrementalRidgeClassifier
        >>> IncrementalRidgeClassifier().fit([[0.0], [1.0]], [3, 7]).classes_
        array([3, 7])
        >>> IncrementalRidge(penalty=1.0).fit([[-1.0], [1.0]], [0.0, 6.0]).coef_
        array([2.])
        """
        self._own().learn(X, y, sample_weight, anew=True, begin=self._checked)
        return self

    def forget(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take back examples, exactly as if they had never been taught.

        A class whose last example goes disappears. What cannot have been taught (more examples of
        a class than there are, or rows without which the sums would belong to no data) is refused.
        Where rows were so much larger than all that is left that their rounding is felt
        (docs/solver.md), a warning says how much.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            In memory: not a Dask collection.
        y : array-like of shape (m,), or of a regressor (m, k)
            What they were taught with.
        sample_weight : array-like of shape (m,), optional
            The weights they were taught with.

        Returns
        -------
        self

        Raises
        ------
        NotTaughtError
            If they cannot all have been taught; the model is left unchanged.
        ValueError
            If X, y or a weight is invalid, or a label is not known.

        Warns
        -----
        UserWarning
            If their rounding stays in the sums.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0], [0.9]], ["cup", "mug", "mug"])
        >>> model.forget([[0.9]], ["mug"]).class_count_
        array([1, 1])
        """
        warn_of_rounding(self._configured().forget(X, y, sample_weight), stacklevel=2)
        return self

    def merge(self, other: "IncrementalEstimator") -> Self:
        """Learn everything another model was taught; classes are matched by label.

        Parameters of this model stay as they are, and the other model is not changed.

        Parameters
        ----------
        other : estimator
            A classifier if this is one, else a regressor, of as many features and targets.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If widths, names of features or types of labels differ, or if only this model holds
            sums per class; the model is left unchanged.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> one = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> two = IncrementalRidgeClassifier().fit([[2.0]], ["jug"])
        >>> one.merge(two).classes_
        array(['cup', 'jug', 'mug'], dtype='<U3')
        """
        self._check_kin(other)
        theirs = other._own()  # noqa: SLF001 - of this class, whatever its parameters are
        self._configured().merge(theirs, self._checked)
        return self

    def _check_kin(self, other: Any) -> None:
        """Raise TypeError unless the sums of another are sums of the same."""
        raise NotImplementedError

    def reconsider(self) -> Self:
        """Choose parameters now, on everything taught.

        Otherwise a choice is kept until twice as much was taught, and then renewed piece by piece
        with every example that is learned. After it, the model is as if `fit` had been given all
        examples in one call. Where parameters are fixed, there is nothing to do.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            If nothing was taught.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifierCV
        >>> model = IncrementalRidgeClassifierCV().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> model.reconsider().classes_
        array(['cup', 'mug'], dtype='<U3')
        """
        self._configured().reconsider()
        return self

    def move_to(self, device: Any) -> Self:
        """Live on another device from now on: sums, inverse and weights.

        Parameters
        ----------
        device : str, torch.device or None
            As torch names it, such as "cuda". None: the host, with numpy's arrays.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If there is no such device.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> model.move_to("cpu").coef_.dtype
        torch.float64
        """
        learner = self._configured()
        learner.move_to(None if device is None else torch_device(device))
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, whole or not at all; `newfound.load` reads it.

        It is a safetensors file with the sums, the labels, the parameters and a checksum. What is
        written is the model of one moment. Others wait only while it is copied in memory, and may
        teach and ask while the file is made. If several save to one path at once, the last to
        begin wins: a file is never replaced by one of an earlier moment.

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
        >>> from newfound import IncrementalRidgeClassifier
        >>> import os, tempfile
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(os.path.join(folder, "kitchen.newfound"))
        """
        learner = self._configured()
        learner.finish_pending()
        with learner.lock:
            then, when = learner.copy(), moment()
        file_format.write(path, then.to_state(), when)


Estimator = TypeVar("Estimator", bound=IncrementalEstimator)


def over(kind: type[Estimator], learner: Learner) -> Estimator:
    """Return an estimator over a learner: what either is taught, the other knows.

    Its rows are checked as scikit-learn does from now on.
    """
    estimator = kind(**kind._parameters(learner.settings))  # noqa: SLF001 - as below
    learner.kind = kind.__name__
    learner.check_by(kind._SCHEMA(kind.__name__))  # noqa: SLF001
    estimator._learner = learner  # noqa: SLF001
    return estimator
