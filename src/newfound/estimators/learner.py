"""A model without scikit-learn: everything taught, its parameters, and one lock around both."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.common.arrays import Counts, Floats, Labels, Rows
from newfound.common.device import Array, Device, device_of, lasting, on_host
from newfound.common.errors import InputError, NotTaughtError
from newfound.common.files import moment
from newfound.common.interrupts import uninterrupted
from newfound.common.locks import Locked, locked
from newfound.distributed.answers import lazily
from newfound.distributed.collections import in_memory, is_collection, length, like_a_row
from newfound.distributed.learning import Checks, Lesson, learned
from newfound.engine.engine import Engine
from newfound.estimators.answers import Answered, Reading, novelty
from newfound.estimators.torch_device import torch_device
from newfound.selection.calibration import Calibration
from newfound.solvers.device import DeviceSolver
from newfound.solvers.rounding import warn_of_rounding
from newfound.solvers.settings import WITNESSES, SelectionSettings, Settings
from newfound.storage import format as file_format
from newfound.storage.format import State
from newfound.storage.selection import packed, unpacked
from newfound.sums.labels import as_labels, join_labels
from newfound.sums.rows import as_rows
from newfound.sums.sparse import blocks, is_long
from newfound.sums.sums import Sums
from newfound.sums.view import SumsView
from newfound.sums.weights import NOTHING_WEIGHS, as_weights, counted

# The estimators, as model files name them, and what their parameters are called here.
KINDS: dict[str, Any] = {
    "IncrementalRidgeClassifier": Settings,
    "IncrementalRidgeClassifierCV": SelectionSettings,
}
# What parameters are chosen from, and how, unless someone says otherwise.
CHOOSING = SelectionSettings(
    penalties="auto",
    recodings=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    rule="what-if",
    witnesses=WITNESSES,
    min_class_count=30,
    tolerance=0.0,
    class_weight=None,
    fit_intercept=True,
    random_state=0,
)
# Rows of a question beyond which it is answered with a copy of the weights, while others learn.
FEW_ROWS = 16
# Rows that lessons and `apart` take at a time: classes arrive in the same order with both.
BLOCK = 16
# What any learner holds beside its parameters: everything learned, and its lock.
LEARNED = ("_engine", "n_features_in_", "feature_names_in_")
OF_A_LEARNER = ("_lock", *LEARNED)


class Lessons(NamedTuple):
    """Everything that a model was taught."""

    engine: Engine
    feature_names: list[str] | None


class Frozen(NamedTuple):
    """A copy of a learner, and when it was made: a later one has a larger number."""

    learner: "Learner"
    moment: int


class Learner(Locked):
    """Learns labelled rows, forgets and merges them, scores others, and is saved.

    The estimators are learners that scikit-learn knows: they have parameters that can be set, and
    take all that scikit-learn takes. A recogniser, which needs none of that, holds a plain one:
    importing scikit-learn takes longer than all else that answers a question.

    Parameters
    ----------
    settings : Settings or SelectionSettings, default=CHOOSING
        Fixed parameters, or what to choose them from.

    Examples
    --------
    >>> Learner().store([[0.0], [1.0]], ["cup", "mug"]).scores([[0.5]])
    array([[0.5, 0.5]])
    """

    _engine: Engine  # everything learned; absent until taught
    _changing = False  # whether it is being changed
    # Absent until taught, as scikit-learn has it; the names also where the rows had none.
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(self, settings: Settings | SelectionSettings = CHOOSING) -> None:
        self.settings = settings
        self._kind = next(name for name, kind in KINDS.items() if isinstance(settings, kind))

    @lasting
    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__()

    # What an estimator knows better: what it is called, its parameters, and what it can be taught.

    @property
    def kind(self) -> str:
        """The name of the estimator that this is, or would be."""
        return self._kind

    def _settings(self, stream: Engine | None = None) -> Any:
        """Return the parameters, checked: once a call, and then handed on.

        Of a stream that has begun, they hold its seed, should none be given as a parameter.
        """
        return self.settings

    def _settings_type(self, kind: str) -> Any:
        """Return the type of the parameters if this can be an estimator of that name, or None."""
        return KINDS.get(kind)

    def _named(self, settings: Any) -> dict[str, Any]:
        """Return these parameters by the names they have in `__dict__`."""
        return vars(Learner(settings))

    def _rows(self, X: Any, reset: bool) -> Rows:
        """Return `X` as rows, or raise ValueError; with `reset`, remember how many features."""
        rows = as_rows(X)
        if not len(rows):
            raise InputError("X holds no rows, but at least one is needed")
        if reset:
            self.n_features_in_ = rows.shape[1]
        elif rows.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {rows.shape[1]} features, but this model was taught {self.n_features_in_}"
            )
        return rows

    def _labels(self, X: Any, y: Any) -> Labels:
        """Return `y` as labels, one for each row of `X`, or raise ValueError."""
        labels = as_labels(y)
        if length(X) != len(labels):
            raise InputError(f"X has {length(X)} rows, but y has {len(labels)} labels")
        return labels

    @property
    def version(self) -> tuple[int, int]:
        """Is another as soon as anything is learned or forgotten, as long as the model lives."""
        engine = self.__dict__.get("_engine")
        return (0, 0) if engine is None else (id(engine), engine.changes)

    @property
    def is_taught(self) -> bool:
        """Whether it was taught anything that it has not forgotten."""
        engine = getattr(self, "_engine", None)
        return engine is not None and engine.sums.total > 0

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
            If rows, labels or parameters are none; then the model is as it was.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().partial_fit([[0.0]], ["cup"])
        >>> model.partial_fit([[1.0], [0.9]], ["mug", "mug"]).class_count_
        array([1, 2])
        """
        return self._learn(X, y, classes, sample_weight=sample_weight)

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
            If rows, labels or parameters are none; then the model is as it was.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier()
        >>> for row, label in ([0.0], "cup"), ([1.0], "mug"):
        ...     _ = model.store([row], [label])
        >>> model.predict([[0.9]])
        array(['mug'], dtype='<U3')
        """
        return self._learn(X, y, None, put_off=True, sample_weight=sample_weight)

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
        y : array-like of shape (m,)
            The labels they were taught with.
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
            If rows or labels are none, or a label is not known.

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
        _check_in_memory(X, "forget")
        forget = self._forget_blocks if is_long(X) else self._forget
        warn_of_rounding(forget(X, y, sample_weight), stacklevel=2)
        return self

    @locked
    @lasting
    def _forget(self, X: ArrayLike, y: ArrayLike, sample_weight: Any) -> float:
        """Take back examples; return how large an error they left in the weights."""
        sums = self._taught()
        y = self._labels(X, y)
        rows = self._rows(X, reset=False)
        rows, y, weights = counted(rows, y, as_weights(sample_weight, len(y)))
        if not len(y):
            return 0.0
        for label in np.unique(y).tolist():
            sums.position(label)
        index, _ = sums.locate(y)
        engine = self._ready()
        rows = self._placed(rows, "forget")
        with self._change():
            error = engine.forget(rows, index, weights)
        self._reset_if_empty()
        return error

    @locked
    @lasting
    def _forget_blocks(self, X: Any, y: ArrayLike, sample_weight: Any) -> float:
        """Take back sparse rows, of which one block is dense at a time, all or none."""
        sums, labels = self._taught(), self._labels(X, y)
        weights = as_weights(sample_weight, len(labels))
        weigh = slice(None) if weights is None else weights > 0
        distinct, gone = np.unique(labels[weigh], return_counts=True)
        for label, many in zip(distinct.tolist(), gone, strict=True):
            held = sums.counts[sums.position(label)]
            if many > held:  # in a later block, there would be no such class any more
                raise NotTaughtError(
                    f"cannot forget {many} examples of {label!r}: {held} of them were taught"
                )
        page = self._copied()
        forget = page._forget  # noqa: SLF001  (it is a learner, too)
        error = sum((forget(*block) for block in _weighed_blocks(X, labels, weights)), start=0.0)
        self.__dict__ = page.__dict__
        return error

    def _copied(self, blank: bool = False) -> Self:
        """Return a copy of this model, with what was taught or without, under the same lock.

        Whatever fails while it is changed, this model is as it was.
        """
        page = object.__new__(type(self))
        page.__dict__ = self._without_lessons() if blank else dict(self.__dict__)
        if hasattr(page, "_engine"):
            page._engine = self._engine.moved(self._engine.device)
        return page

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
    @lasting
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
    @lasting
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
        self._taught()
        engine = self._ready()
        with self._change():
            engine.rename(old, as_labels([new], "new"))
        return self

    def blank(self) -> "Learner":
        """Return a plain learner with the same parameters that was taught nothing.

        Returns
        -------
        Learner

        Examples
        --------
        >>> Learner().store([[0.0], [1.0]], ["cup", "mug"]).blank().is_taught
        False
        """
        return Learner(self._settings(self.__dict__.get("_engine")))

    def apart(self, X: ArrayLike, y: ArrayLike) -> "Learner":
        """Return a plain learner with the same parameters that was taught these rows alone.

        Merged into a model, it makes that the same model as if it had been taught the rows itself,
        on whatever machine this is done.

        Parameters
        ----------
        X : array-like of shape (m, d)
        y : array-like of shape (m,)
            Labels: strings, booleans or whole numbers.

        Returns
        -------
        Learner

        Raises
        ------
        ValueError
            If rows, labels or parameters are none.

        Examples
        --------
        >>> here = Learner().store([[0.0], [1.0]], ["cup", "mug"])
        >>> elsewhere = here.blank().apart([[2.0]], ["mug"])
        >>> here.merge(elsewhere).class_count_
        array([1, 2])
        """
        part, rows, labels = self.blank(), as_rows(X), as_labels(y)
        for start in range(0, len(rows), BLOCK):  # sums of few rows are made without rounding
            part.store(rows[start : start + BLOCK], labels[start : start + BLOCK])
        return part

    def merge(self, other: "Learner") -> Self:
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
        >>> from newfound import IncrementalRidgeClassifier
        >>> one = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> two = IncrementalRidgeClassifier().fit([[2.0]], ["jug"])
        >>> one.merge(two).classes_
        array(['cup', 'jug', 'mug'], dtype='<U3')
        """
        if not isinstance(other, Learner):
            raise TypeError(f"can only merge with a model of newfound, got {type(other).__name__}")
        # One lock after the other: two models that merge each other would wait for ever.
        theirs = other.lessons()
        return self if theirs is None else self._merge(theirs)

    @locked
    @lasting
    def _merge(self, theirs: Lessons) -> Self:
        self._check_at_rest()
        ours, names = getattr(self, "_engine", None), self._common_names(theirs)
        settings = self._settings(ours)
        if ours is None:
            ours = Engine.blank(theirs.engine.sums.width, settings, theirs.engine.device)
        return self._adopt(ours.configure(settings).merged(theirs.engine), names)

    @locked
    @lasting
    def lessons(self) -> Lessons | None:
        """Return a copy of everything taught, whatever the parameters: what `merge` asks for.

        Returns
        -------
        Lessons or None
            None if nothing was taught.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> model.lessons().engine.sums.counts
        array([1, 1])
        """
        if not self.is_taught:
            return None
        return Lessons(self._engine.copy(), self._feature_names())

    def _feature_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

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
        scores: NDArray[np.floating] = self._ask("scores", "precise", X)
        return scores

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
        probabilities: NDArray[np.floating] = self._ask("predict_proba", "probabilities", X)
        return probabilities

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
        if is_collection(X):
            lazy: Floats = self._answer_lazily(self.frozen().learner.unknown_proba, X, np.zeros(0))
            return lazy
        if is_long(X):
            return self._ask_blocks(self.unknown_proba, X)
        unknown = self._answered(X, "unknown_proba", look=True).unknown
        assert unknown is not None
        return unknown

    def look(self, X: ArrayLike) -> Answered:
        """Return all that can be said of rows: scores, probabilities, novelty, unknown or not.

        Parameters
        ----------
        X : array-like of shape (m, d)
            In memory: not a Dask collection.

        Returns
        -------
        Answered

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ValueError
            If `X` is not m rows of d finite numbers.

        Examples
        --------
        >>> looked = Learner().store([[0.0], [1.0]], ["cup", "mug"]).look([[0.5]])
        >>> looked.labels, looked.probabilities, looked.unknown
        (array(['cup', 'mug'], dtype='<U3'), array([[0.5, 0.5]]), array([0.]))
        """
        _check_in_memory(X, "look")
        return self._answered(X, "look", look=True)

    @property
    @locked
    @lasting
    def calibration_(self) -> Calibration:
        """How sure answers may be, as a `Calibration`.

        `sharpness` is what scores are multiplied by before they are exponentiated to probabilities.
        `bound` is None until the unknown can be told, and has then the `likeness` below which a row
        is unknown and the `slope` with which that grows sure; rows usually have a likeness of 1
        with their class. `usual` has the cosines that make it 1, of each class.
        """
        self._taught()
        return self._ready().calibration

    @lasting
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
        if is_collection(X):
            lazy: Floats = self._answer_lazily(self.frozen().learner.novelty, X, np.zeros(0))
            return lazy
        if is_long(X):
            return self._ask_blocks(self.novelty, X)
        with self.lock:
            self._taught()
            rows = self._rows(X, reset=False)
            found = novelty(self._ready().solver.leverage(self._placed(rows, "novelty")))
            return found if device_of(rows) is not None else on_host(found)

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
        frozen = self.frozen()
        file_format.write(path, frozen.learner.to_state(), frozen.moment)

    def frozen(self) -> "Frozen":
        """Return a copy of all that is saved, as it is at one moment; `save` writes such a one.

        It is a learner without what can be derived from the sums again. Hold `lock` to have it
        together with something else.

        Returns
        -------
        Frozen

        Raises
        ------
        NotFittedError
            If nothing was taught.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> then = model.frozen().learner
        >>> model.partial_fit([[2.0]], ["jug"]).n_samples_seen_, then.n_samples_seen_
        (3, 2)
        """
        self.finish_votes()
        with self.lock:
            self.finish_votes()  # should others have been called for meanwhile
            engine = self._ready()
            other = engine.moved(None)
            then = Learner(engine.settings)
            then._adopt(other, self._feature_names(), _kind=self.kind)
            return Frozen(then, moment())

    def finish_votes(self) -> None:
        """Do what is left of votes on parameters that are under way; when they count is the same.

        Only whole ones can be saved. Others have their turn between any two pieces.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifierCV
        >>> IncrementalRidgeClassifierCV().fit([[0.0], [1.0]], ["cup", "mug"]).finish_votes()
        """
        is_done = False
        while not is_done:
            with self.lock:
                self._taught()
                selector = self._engine.selector
                work = None if selector is None else selector.work
                is_done = work is None or work.found is not None
                if selector is not None and work is not None and not is_done:
                    work.step()
            time.sleep(1e-4)  # or this thread would have the lock again before others woke up

    @locked
    def to_state(self) -> State:
        """Return all that makes this model, as it is saved; `from_state` makes a model of it.

        Its sums are those of the model, not a copy: use it, or copy it, before the model learns
        more. Hold `lock` meanwhile if other threads may teach. Of a model on a device, they are
        a copy on the host.

        Returns
        -------
        State

        Raises
        ------
        NotFittedError
            If the model was taught nothing.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> IncrementalRidgeClassifier.from_state(model.to_state()).predict([[0.9]])
        array(['mug'], dtype='<U3')
        """
        self._taught()
        engine, names = self._ready(), self._feature_names()
        if engine.device is not None:
            engine = engine.moved(None)
        state = State(
            self.kind,
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
        >>> from newfound import IncrementalRidgeClassifier
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
        >>> from newfound import IncrementalRidgeClassifier
        >>> state = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"]).to_state()
        >>> IncrementalRidgeClassifier().restore(state).classes_
        array(['cup', 'mug'], dtype='<U3')
        """
        self._check_at_rest()
        settings = self._settings_in(state)
        selector = None
        if isinstance(settings, SelectionSettings):
            selector = unpacked(state.kept_by("selection"), state.sums, settings)
        engine = Engine(state.sums, settings, selector)
        engine.catch_up()
        return self._adopt(engine, state.feature_names, **self._named(settings))

    @locked
    @lasting
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
        self._taught()
        there = None if device is None else torch_device(device)
        engine = self._ready()
        if engine.device != there:
            self._engine = engine.moved(there)
        return self

    @locked
    def take_over(self, other: "Learner") -> Self:
        """Become what another learner is, parameters and lock included; that one is used up.

        Parameters
        ----------
        other : Learner
            A plain one, of the same kind.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If it is of another kind; then this one is as it was.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifierCV
        >>> plain = Learner().store([[0.0], [1.0]], ["cup", "mug"])
        >>> IncrementalRidgeClassifierCV().take_over(plain).predict([[0.9]])
        array(['mug'], dtype='<U3')
        """
        fits = type(other) is Learner and self._settings_type(other.kind) is type(other.settings)
        if not fits:
            raise InputError(f"a {self.kind} cannot be made of this {other.kind}")
        with other.lock:  # whoever waits for it, waits for this one
            other._check_at_rest()  # noqa: SLF001  (it is a learner, too)
            kept = {name: value for name, value in vars(other).items() if name in OF_A_LEARNER}
            self.__dict__ = {**self._named(other.settings), **kept}
        return self

    def _settings_in(self, state: State) -> Any:
        """Return the parameters of a state, or raise ValueError."""
        kind = self._settings_type(state.estimator) if isinstance(state, State) else None
        if kind is None:
            what = state.estimator if isinstance(state, State) else type(state).__name__
            raise InputError(f"a {self.kind} cannot be made of the state of a {what}")
        try:
            return kind.from_json(state.parameters)
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
    def class_weight_sum_(self) -> Floats:
        """Sum of the weights of each class's examples, shape (T,)."""
        sums = self._taught()
        return sums.masses[sums.order].copy()

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
            All of them while a class that has sums of its own has few; else its witnesses, where
            parameters are chosen.

        Raises
        ------
        ValueError
            If there is no such class.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier(class_weight="balanced")
        >>> model.fit([[0.0, 1.0], [1.0, 0.0]], ["cup", "mug"]).kept_rows("mug")
        array([[1., 0.]])
        """
        learned = self._taught().rows_of(label)
        if len(learned) or self._engine.selector is None:
            return learned
        rows, labels = self._engine.witnesses
        own: Rows = rows[labels == label]
        return own

    @property
    @locked
    def witnesses_(self) -> tuple[Rows, Labels]:
        """Copies of examples that vote on parameters, shape (m, d), and their labels, (m,)."""
        self._taught()
        return self._engine.witnesses

    @locked
    @lasting
    def reconsider(self) -> Self:
        """Let the witnesses vote on penalty and recoding now, on everything taught.

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
        self._taught()
        self._ready().reconsider()
        return self

    @lasting
    def reconsider_apart(self) -> Self:
        """Do what `reconsider` does on a copy, so that nobody who asks has to wait for it.

        Who teaches meanwhile makes it begin again, as long as they do: keep them away.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            If nothing was taught.

        Examples
        --------
        >>> Learner().store([[0.0], [1.0]], ["cup", "mug"]).reconsider_apart().scores([[0.5]])
        array([[0.5, 0.5]])
        """
        while True:
            with self.lock:
                self._taught()
                before = self._ready()
                changes, engine = before.changes, before.copy()
            engine.reconsider()
            engine.prepare()
            with self.lock:
                if self.__dict__.get("_engine") is before and before.changes == changes:
                    self._engine = engine
                    return self

    @lasting
    def left_out(self, X: ArrayLike, y: ArrayLike) -> Labels:
        """Return what the model would say of rows had each alone not been taught.

        Penalty, recoding and weights of classes stay as they are. It takes no longer than to ask.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Rows that were taught.
        y : array-like of shape (m,)
            What they were taught as.

        Returns
        -------
        ndarray of shape (m,)

        Raises
        ------
        NotTaughtError
            If a label was not taught.
        NotFittedError
            If nothing was.

        Examples
        --------
        >>> learner = Learner().store([[0.0], [1.0], [1.1]], ["cup", "mug", "mug"])
        >>> learner.left_out([[0.0], [1.0]], ["cup", "mug"])
        array(['mug', 'mug'], dtype='<U3')
        """
        with self.lock:
            self._taught()
            rows = self._rows(X, reset=False)
            engine, reading = self._ready(), self._reading()
            own, known = engine.sums.locate(self._labels(X, y))
            if len(known) > engine.sums.n_classes:
                raise NotTaughtError(f"{known[-1]} was not taught, so it cannot be left out")
            leverage = on_host(engine.solver.leverage(self._placed(rows, "left_out")))
            taught = np.where(reading.counts > 0, engine.sums.masses, 1.0)
            share = leverage * (engine.solver.masses / taught)[own]
            scores = reading.products(on_host(rows)) + reading.intercept
        # In ridge regression, a row's own share in its scores is known: its leverage, weighted.
        scores[np.arange(len(scores)), own] -= share
        scores /= np.maximum(1 - share, np.finfo(np.float64).eps)[:, None]
        return reading.answered(scores - reading.intercept).best

    def _check_at_rest(self) -> None:
        if self._changing:
            raise RuntimeError(
                "this model is just learning or forgetting, in this very thread: the handler of a "
                "signal can neither ask nor teach it now"
            )

    def _taught(self) -> Sums:
        if self._changing:
            self._check_at_rest()
        if not self.is_taught:
            from sklearn.exceptions import NotFittedError  # takes as long as all of scikit-learn

            raise NotFittedError(
                f"This {self.kind} has not been taught anything: call fit or partial_fit first"
            )
        return self._engine.sums

    def _ready(self) -> Engine:
        """Return the engine, with the parameters as they now are."""
        return self._engine.configure(self._settings(self._engine))

    @lasting
    def _learn(
        self,
        X: Any,
        y: Any,
        classes: Any,
        whole: bool = False,
        put_off: bool = False,
        sample_weight: Any = None,
    ) -> Self:
        """Learn rows on top of what is known or, with `whole`, in place of it."""
        if is_collection(X):
            return self._learn_partitions(X, y, classes, whole, sample_weight)
        y, sample_weight = in_memory(y), in_memory(sample_weight)
        learn = self._learn_blocks if is_long(X) else self._learn_rows
        return learn(X, y, classes, whole, put_off, sample_weight)

    @locked
    def _learn_blocks(
        self, X: Any, y: Any, classes: Any, whole: bool, put_off: bool, sample_weight: Any
    ) -> Self:
        """Learn sparse rows, of which one block is dense at a time, all or none."""
        self._check_at_rest()
        labels, page = self._labels(X, y), self._copied(blank=whole)
        weights = as_weights(sample_weight, len(labels))
        for rows, own, theirs in _weighed_blocks(X, labels, weights):
            if put_off or whole:
                page.store(rows, own, theirs)
            else:
                page.partial_fit(rows, own, classes, theirs)
        if whole and not page.is_taught:
            raise InputError(NOTHING_WEIGHS)
        if whole:
            page.reconsider()
        self.__dict__ = page.__dict__
        return self

    def _learn_partitions(
        self, X: Any, y: Any, classes: Any, whole: bool, sample_weight: Any
    ) -> Self:
        """Learn a Dask collection: its sums are made where its rows are, and then merged.

        Meanwhile others may ask and teach. Whatever fails, this model is as it was.
        """
        row = like_a_row(X)
        checks = self._checks_for(row)
        with self.lock:
            self._check_at_rest()
            ours = self._continued(row.shape[1], whole)
            if ours.sums.total:
                self._rows(row, reset=False)
            sums, settings = ours.sums, ours.settings
            announced = Sums(sums.width, sums.per_class)
            if classes is not None:
                announced.announce(as_labels(classes, "classes"))
            known = join_labels(sums.labels, announced.labels)[:1]
            whose = "this model's labels" if sums.n_classes else "the labels in `classes`"
            lesson = Lesson(checks, settings, sums.per_class, known, whose)
        if sample_weight is not None and not is_collection(sample_weight):
            sample_weight = np.asarray(sample_weight)
        labels = y if is_collection(y) else self._labels(y, y)
        part = learned(X, labels, lesson, sample_weight)
        announced.merge(part.sums)
        return self._take_in(Engine(announced, settings, part.selector), checks.names, whole)

    def _checks_for(self, row: Any) -> Checks:
        """Return what checks that partitions are like a row; it knows nothing that was taught."""
        page = object.__new__(type(self))
        page.__dict__ = self._without_lessons()
        page.__dict__.pop("_lock", None)  # it shall have its own
        page._rows(row, reset=True)
        return Checks(partial(page._rows, reset=False), page._labels, page._feature_names())

    @locked
    def _take_in(self, theirs: Engine, names: list[str] | None, whole: bool) -> Self:
        """Take in what was learned elsewhere, on top of what is known or in place of it."""
        self._check_at_rest()
        ours = self._continued(theirs.sums.width, whole, theirs)
        if ours.sums.total:  # others may have taught it meanwhile
            held = self._feature_names()
            if held is not None and names is not None and held != names:
                raise InputError(
                    "while X was learned this model was taught features of other names; it is as "
                    "others left it"
                )
            names = held
        both = ours.merged(theirs)
        if whole:
            both.reconsider()
        return self._adopt(both, names)

    def _continued(self, width: int, whole: bool, stream: Engine | None = None) -> Engine:
        """Return the engine that learns on or, with `whole` or where there is none, a new one.

        The new one is that of a stream that has begun elsewhere, or of one that begins.
        """
        if whole or not hasattr(self, "_engine"):
            return Engine.blank(width, self._settings(stream))
        return self._ready()

    @locked
    def _learn_rows(
        self, X: Any, y: Any, classes: Any, whole: bool, put_off: bool, sample_weight: Any
    ) -> Self:
        self._check_at_rest()
        anew = whole or not hasattr(self, "_engine")
        page, labels = self, self._labels(X, y)
        announced = labels[:0] if classes is None else as_labels(classes, "classes")
        join_labels(announced, labels)  # which fails where they do not go together
        if anew:  # on a blank page: whatever fails, this model is as it was
            page = object.__new__(type(self))
            page.__dict__ = self._without_lessons()
        rows = page._rows(X, reset=anew)
        rows, labels, weights = counted(rows, labels, as_weights(sample_weight, len(labels)))
        if not len(labels):
            if whole:
                raise InputError(NOTHING_WEIGHS)
            return self
        if anew:
            engine = Engine.blank(rows.shape[1], self._settings(), device_of(rows))
            rows = engine.placed(rows)
        else:
            engine, rows = self._ready(), self._placed(rows, "partial_fit")
        index, known = engine.sums.locate(join_labels(announced, labels))
        index = index[len(announced) :]
        self._changing = True
        try:
            if whole:
                engine.fit(rows, index, known, weights)
            else:
                engine.learn(rows, index, known, put_off, weights)
        finally:
            del self._changing
        if anew:
            page._engine = engine
            self.__dict__ = page.__dict__
        return self

    def _without_lessons(self) -> dict[str, Any]:
        """Return what is left of this model if everything taught is taken away."""
        return {name: value for name, value in self.__dict__.items() if name not in LEARNED}

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

    def _placed(self, rows: Array, method: str) -> Array:
        """Return rows (m, d) that a method was given where the sums live, or raise ValueError.

        Rows of numpy's go wherever the model is. Where arrays of other kinds are dispatched, it is
        as scikit-learn has it: the kind that was fitted is the kind that is asked.
        """
        engine = self._engine
        if engine.device is None and isinstance(rows, np.ndarray):  # nearly always
            return rows
        there, here = device_of(rows), engine.device
        if there != here and self._dispatches():
            raise InputError(
                f"Inputs passed to {self.kind}.{method}() must use the same namespace and the "
                f"same device as those passed to fit(): they are {_where(there)}, and the model "
                f"is {_where(here)}; its move_to moves it"
            )
        return engine.placed(rows)

    def _dispatches(self) -> bool:
        """Tell whether arrays that are not numpy's are taken for what they are."""
        return False

    @lasting
    def _answered(self, X: Any, method: str, look: bool = False) -> Answered:
        """Return recoded scores; -inf for classes announced but not taught yet."""
        with self.lock:
            self._taught()
            rows = self._rows(X, reset=False)
            engine, asked = self._ready(), device_of(rows)
            rows = self._placed(rows, method)
            if engine.device is not None:
                answered = _answered_there(engine, engine.device.double(rows), look)
                return answered if asked is not None else answered.on_host()
            reading = self._reading()
            leverage = unknown = None
            if len(rows) <= FEW_ROWS or look:
                products = reading.products(rows)
            else:  # long enough for others to wait, so on a copy, for weights change in place
                reading = reading.copy()
            if look:
                leverage = engine.solver.leverage(rows)
                unknown = engine.unknown(rows, products + reading.intercept, leverage)
        if len(rows) > FEW_ROWS and not look:
            products = reading.products(rows)
        return reading.answered(products, leverage, unknown)

    def _reading(self) -> "Reading":
        """Return what scores are made with now, on the host; of use until something is learned."""
        engine = self._ready()
        sums, solver = engine.sums, engine.solver
        labels, order = sums.sorted_classes
        return Reading(
            labels,
            order,
            sums.counts,
            on_host(solver.weights),
            on_host(solver.intercept),
            engine.factors,
            engine.sharpness,
            sums.dtype,
        )

    def _ask(self, method: str, question: str, X: Any) -> Any:
        """Return one thing of all that is said of rows: lazily, of those of a Dask collection."""
        get = attrgetter(question)
        if not is_collection(X) and not is_long(X):
            return get(self._answered(X, method))
        with self.lock:
            self._taught()
            reading = self._reading().copy()
            nothing = reading.ask(get, np.zeros((1, self.n_features_in_)))[:0]
        if is_long(X):
            parts = [reading.ask(get, self._rows(rows, reset=False)) for _, rows in blocks(X)]
            return np.concatenate(parts)
        return self._answer_lazily(partial(reading.ask, get), X, nothing)

    @locked
    def _ask_blocks(self, ask: Callable[[Any], Floats], X: Any) -> Floats:
        """Return the answers to sparse rows, of which one block is dense at a time."""
        return np.concatenate([ask(rows) for _, rows in blocks(X)])

    def _answer_lazily(self, answer: Callable[[Rows], Any], X: Any, nothing: Any) -> Any:
        """Return a lazy array of answers to the rows of a Dask collection.

        `nothing` is the answer to no rows.
        """
        row = like_a_row(X)
        self._rows(row, reset=False)
        return lazily(answer, X, self._checks_for(row).rows, nothing)

    def _common_names(self, theirs: Lessons) -> list[str] | None:
        """Return the feature names of two models to be merged, or raise ValueError."""
        names, others = self._feature_names(), theirs.feature_names
        if names is not None and others is not None and names != others:
            raise InputError("cannot merge: the two models were taught features of different names")
        return names if names is not None else others


def _weighed_blocks(
    X: Any, labels: Labels, weights: Floats | None
) -> Iterator[tuple[Rows, Labels, Floats | None]]:
    """Yield blocks of sparse rows in which something weighs, with their labels and weights."""
    for place, rows in blocks(X):
        theirs = None if weights is None else weights[place]
        if theirs is None or theirs.any():
            yield rows, labels[place], theirs


def _check_in_memory(X: Any, method: str) -> None:
    """Raise InputError for a Dask collection, whose rows would all be brought here."""
    if is_collection(X):
        raise InputError(f"{method} takes rows in memory: pass X.compute()")


def _where(device: Device | None) -> str:
    return "numpy's" if device is None else f"on {device.device} ({device.name})"


def _answered_there(engine: Engine, rows: Array, look: bool) -> Answered:
    """Return what an engine on a device says of rows (m, d) there."""
    sums, solver, device = engine.sums, engine.solver, engine.device
    assert device is not None
    assert isinstance(solver, DeviceSolver)
    labels, order = sums.sorted_classes
    scores = solver.scores(rows, engine.factors)
    if not sums.counts.all():
        untaught = device.put(sums.counts == 0, double=False)
        scores = device.xp.where(untaught[None, :], device.put(-np.inf * np.ones(1)), scores)
    if not isinstance(order, slice):
        scores = device.xp.take(scores, device.put(order, double=False), axis=1)
    leverage = unknown = None
    if look:
        leverage = solver.leverage(rows)
        plain = solver.scores(rows, np.ones(sums.n_classes))
        unknown = device.put(engine.unknown(rows, on_host(plain), on_host(leverage)))
    return Answered(labels, scores, engine.sharpness, sums.dtype, leverage, unknown)
