"""A model without scikit-learn: everything learned, its parameters, and one lock around both."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.common.arrays import Labels, Rows
from newfound.common.device import Array, Device, device_of, lasting
from newfound.common.errors import InputError, NotTaughtError
from newfound.common.interrupts import uninterrupted
from newfound.common.locks import Locked
from newfound.distributed.answers import lazily
from newfound.distributed.collections import is_collection, like_a_row
from newfound.distributed.learning import Checks, learn_partitions, young_and_first
from newfound.engine.engine import Engine
from newfound.engine.predictor import ask
from newfound.learner.schema import Schema, batches
from newfound.solvers.settings import WITNESSES, AnySettings, SelectionSettings
from newfound.storage.format import State
from newfound.storage.model import state_of
from newfound.sums.labels import as_labels, join_labels
from newfound.sums.names import check_names
from newfound.sums.removal import counts_without
from newfound.sums.sparse import blocks, is_long
from newfound.sums.weights import NOTHING_WEIGHS, as_weights

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
BUSY = (
    "this model is just learning or forgetting, in this very thread: the handler of a signal can "
    "neither ask nor teach it now"
)


class Fitted(NamedTuple):
    """Everything learned: built aside, and put in place by one assignment."""

    schema: Schema
    engine: Engine

    def place(self, rows: Array, method: str) -> Array:
        """Return rows (m, d) that a method was given where the model lives, or raise ValueError.

        Rows of numpy's go wherever the model is. Where arrays of other kinds are dispatched, it is
        as scikit-learn has it: the kind that was fitted is the kind that is asked.
        """
        here = self.engine.memory.device
        if here is None and isinstance(rows, np.ndarray):  # nearly always
            return rows
        there = device_of(rows)
        if there != here and self.schema.must_match_device():
            raise InputError(
                f"Inputs passed to {method}() must use the same namespace and the same device as "
                f"those passed to fit(): they are {_where(there)}, and the model is "
                f"{_where(here)}; its move_to moves it"
            )
        return self.engine.memory.place(rows)


class LearnOptions(NamedTuple):
    """How rows are to be learned."""

    announced: Labels | None = None  # labels to make room for already
    anew: bool = False  # in place of what is known
    defer: bool = False  # whether to derive nothing before the next question
    begin: Callable[[], AnySettings] | None = None  # what returns the parameters of a new model
    any_label: bool = False  # whether new labels may be what none that is taught may be


class Learner(Locked):
    """Learns labelled rows, forgets and merges them, answers questions about others, and is saved.

    The estimators have one each: they add parameters that can be set, and take all that
    scikit-learn takes. A recogniser has one, too: importing scikit-learn takes longer than all else
    that answers a question. Any number of threads may ask while one learns.

    Parameters
    ----------
    settings : Settings, SelectionSettings or RegressionSettings, default=CHOOSING
        Fixed parameters, or what to choose them from.
    schema : Schema, optional
        What checks rows; it has seen none.
    kind : str, optional
        The name of the estimator that this is the model of.
    learned : Fitted, optional
        What it knows from the start; taken over.

    Attributes
    ----------
    lock : RLock
        Hold it to ask or change several things as one. It is the same for ever.

    Examples
    --------
    >>> learner = Learner()
    >>> learner.learn([[0.0], [1.0]], ["cup", "mug"])
    >>> learner.predict([[0.5]]).scores
    array([[0.5, 0.5]])
    """

    # settings: those of the engine, once there is one.
    # given: what an estimator last made them of.
    # _blank: a schema that has seen no rows. _learned: None before the first rows.
    # _changing: whether it is being changed, which only a signal's handler can see.

    def __init__(
        self,
        settings: AnySettings = CHOOSING,
        schema: Schema | None = None,
        kind: str = "IncrementalRidgeClassifierCV",
        learned: Fitted | None = None,
    ) -> None:
        super().__init__()
        self.settings, self.kind = settings, kind
        self.given: tuple[Any, ...] | None = None
        self._blank = Schema() if schema is None else schema
        self._learned = learned
        self._changing = False

    __getstate__ = lasting(Locked.__getstate__)

    # What is known.

    @property
    def is_fitted(self) -> bool:
        """Whether it was taught anything that it has not forgotten."""
        return self._learned is not None

    @property
    def version(self) -> tuple[int, int]:
        """Is another as soon as anything is learned or forgotten, as long as the model lives."""
        learned = self._learned
        return (0, 0) if learned is None else (id(learned.engine), learned.engine.changes)

    @property
    def _known(self) -> Fitted | None:
        """Everything learned, or None if that is nothing. Hold `lock`."""
        if self._changing:
            raise RuntimeError(BUSY)
        return self._learned

    @property
    def learned(self) -> Fitted:
        """Everything learned; raises NotFittedError if that is nothing.

        Hold `lock` to use what changes: the engine.
        """
        if self._changing:
            with self.lock:  # another thread is learning; in this very one, `_known` says so
                learned = self._known
        else:
            learned = self._learned
        if learned is None:
            from sklearn.exceptions import NotFittedError  # takes as long as all of scikit-learn

            raise NotFittedError(
                f"This {self.kind} has not been taught anything: call fit or partial_fit first"
            )
        return learned

    @property
    def engine(self) -> Engine:
        """What learns and answers; raises NotFittedError if nothing was taught. Hold `lock`."""
        return self.learned.engine

    def configure(self, settings: AnySettings, given: tuple[Any, ...] | None = None) -> None:
        """Use these parameters from now on, or raise ValueError if what is known cannot."""
        with self.lock:
            learned = self._known
            if learned is not None:
                learned.engine.configure(settings)
            self.settings, self.given = settings, given

    # Learning.

    def learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        anew: bool = False,
        defer: bool = False,
        begin: Callable[[], AnySettings] | None = None,
        any_label: bool = False,
    ) -> None:
        """Learn rows on top of what is known or, `anew`, in place of it; all or none.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            Or a Dask array or DataFrame, whose rows stay where they are.
        y : array-like of shape (m,)
            Labels; or whatever the schema takes.
        sample_weight : array-like of shape (m,), optional
            As how many examples each row counts.
        classes : array-like, optional
            Labels to make room for already.
        anew : bool, default=False
        defer : bool, default=False
            Derive nothing before the next question: for long lessons in pieces.
        begin : callable, optional
            What returns the parameters where there is nothing yet to learn on top of.
        any_label : bool, default=False
            Take new labels without asking whether they may be any: an undo brings back what was.

        Raises
        ------
        ValueError
            If X, y or a weight is invalid; the model is left unchanged.
        """
        announced = None if classes is None else as_labels(classes, "classes")
        begin = cache(begin or (lambda: self.settings))  # which may draw a seed
        how = LearnOptions(announced, anew, defer, begin, any_label)
        learned = self._learned
        is_here = learned is None or learned.engine.memory.device is None
        if type(X) is np.ndarray and is_here:
            self._learn(X, y, sample_weight, how)
        elif is_collection(X):
            self._learn_partitions(X, y, sample_weight, how)
        else:
            lasting(self._learn)(X, y, sample_weight, how)

    def _learn(self, X: Any, y: Any, weights: Any, how: LearnOptions) -> None:
        """Learn rows in memory, all or none."""
        with self.lock:
            known = self._known
            learned = None if how.anew else known
            if type(X) is np.ndarray or not is_long(X):
                learned = self._learn_part(learned, (X, y, weights), how)
            else:
                if learned is not None:  # whatever fails, this model is as it was
                    learned = Fitted(learned.schema, learned.engine.copy())
                schema = self._blank.blank() if learned is None else learned.schema
                for part in batches(schema, X, y, weights):
                    learned = self._learn_part(learned, part, how)
            if how.anew:
                if learned is None:
                    raise InputError(NOTHING_WEIGHS)
                learned.engine.reconsider()
            if learned is not known:
                self._know(learned)

    def _learn_part(
        self, learned: Fitted | None, part: tuple[Any, Any, Any], how: LearnOptions
    ) -> Fitted | None:
        """Return what is known once a part is learned on top of what was; it may be the same."""
        schema = self._blank.blank(how.begin) if learned is None else learned.schema
        rows, labels, weights = schema.check(*part, reset=learned is None)
        if not len(labels):
            return learned
        if learned is None:
            learned = self._begun(schema, how, device_of(rows))
        elif type(rows) is not np.ndarray or learned.engine.memory.device is not None:
            rows = learned.place(rows, f"{self.kind}.partial_fit")
        engine = learned.engine
        batch = engine.memory.batch(rows, labels, weights, how.announced)
        known = engine.memory.sums.labels
        if len(batch.labels) > len(known) and not how.any_label:
            check_names(batch.labels[len(known) :].tolist())
        self._changing = True
        try:
            engine.learn(batch, how.defer or (how.anew and not engine.choice.is_fixed))
        finally:
            self._changing = False
        return learned

    @lasting
    def _learn_partitions(self, X: Any, y: Any, sample_weight: Any, how: LearnOptions) -> None:
        """Learn a Dask collection: its sums are made where its rows are, and then merged.

        Meanwhile others may ask and teach. Whatever fails, this model is as it was.
        """
        row, schema = like_a_row(X), self._blank.blank(how.begin)
        schema.rows(row, reset=True)
        y = schema.lazy_y(y)
        with self.lock:
            present = self._known
            before = None if how.anew else present
            ours, engine = blank = before or self._begun(schema, how)
            ours.rows(row)
            schema.projection = ours.projection
            memory = engine.memory.copy() if engine.memory.is_young else engine.memory
            part = memory.blank_like()
            if how.announced is not None:
                part.sums.announce(how.announced)
            known = join_labels(memory.sums.labels, part.sums.labels)[:1]
            whose = "this model's labels" if before is not None else "the labels in `classes`"
        checks = Checks(schema.check, part, known, whose)
        if part.is_young:  # all partitions need the same layer
            young = young_and_first(X, y, sample_weight, checks, memory)
            if young.is_due:
                part = part.behind(young.layer_to_come())
                checks = checks._replace(blank=part)
        part.merge(learn_partitions(X, y, sample_weight, checks))
        with self.lock:
            present = self._known  # others may have taught it meanwhile
            ours, engine = (None if how.anew else present) or blank
            ours.names_with(schema, "while X was learned this model was taught")
            engine.memory.sums.check_new(part.sums.labels)
            engine = engine.merged(Engine(part, engine.settings))
            if how.anew:
                engine.reconsider()
            self._know(Fitted(ours, engine))

    def _begun(self, schema: Schema, how: LearnOptions, device: Device | None = None) -> Fitted:
        """Return what is known before the first row."""
        settings = self.settings if how.begin is None else how.begin()
        return Fitted(schema, Engine.blank(schema.outputs, settings, device, schema.targets))

    def _know(self, learned: Fitted | None) -> None:
        """Put in place what was built aside."""
        if learned is not None and learned.engine.settings is not self.settings:
            self.settings, self.given = learned.engine.settings, None
        self._learned = learned

    @lasting
    def forget(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> float:
        """Take back rows, exactly as if they had never been taught, all or none.

        Returns how large an error their rounding left in the weights, relative to these. Raises
        NotTaughtError if they cannot all have been taught.
        """
        is_array = type(X) is np.ndarray
        if not is_array and is_collection(X):
            raise InputError("forget takes rows in memory: pass X.compute()")
        is_several = not is_array and is_long(X)
        with self.lock:
            learned = self.learned
            schema, engine = learned
            parts: Iterable[Any] = ((X, y, sample_weight),)
            if is_several:  # all or none, though it is done a block at a time
                _check_taught(engine, schema.classes(schema.y(X, y)), sample_weight)
                engine, parts = engine.copy(), batches(schema, X, y, sample_weight)
            error = 0.0
            for part in parts:
                rows, labels, weights = schema.check(*part)
                if not len(labels):
                    continue
                rows = learned.place(rows, f"{self.kind}.forget")
                batch = engine.memory.batch(rows, labels, weights)
                for label in batch.labels[len(engine.memory.sums.labels) :].tolist():
                    engine.memory.sums.position(label)  # which there is not
                with self._changed():
                    error += engine.forget(batch)
                    if not is_several and not engine.memory.sums.total:
                        self._learned = None
            if is_several:
                self._learned = Fitted(schema, engine) if engine.memory.sums.total else None
            return error

    @contextmanager
    def _changed(self) -> Iterator[None]:
        """Let a signal wait, and whoever asks in its handler know that this is no time to."""
        with uninterrupted():
            self._changing = True
            try:
                yield
            finally:
                self._changing = False

    @lasting
    def forget_class(self, label: Any) -> float:
        """Take back all rows of a class, whose Gram matrix is held; return what `forget` does."""
        with self.lock:
            schema, engine = self.learned
            sums = engine.memory.sums
            sums.position(label)
            if not sums.per_class:
                raise InputError(
                    f"cannot forget class {label!r}: this model was taught with class_weight=None "
                    "and does not hold its sums per class. Teach it with class_weight='balanced', "
                    "or with class_weight={} to leave all weights at 1; or forget(X, y) its rows"
                )
            with self._changed():
                error = engine.forget_class(label)
                self._learned = Fitted(schema, engine) if sums.total else None
            return error

    @lasting
    def rename_class(self, old: Any, new: Any, any_label: bool = False) -> None:
        """Give a class another label; if a class has that label already, the two become one."""
        with self.lock:
            engine, label = self.engine, as_labels([new], "new")
            if not any_label:
                engine.memory.sums.check_new(label)
            with self._changed():
                engine.rename(old, label)

    @lasting
    def merge(self, other: "Learner", begin: Callable[[], AnySettings] | None = None) -> None:
        """Learn everything another model was taught, which is not changed.

        `begin` returns the parameters where there is nothing yet to learn on top of.
        """
        # One lock after the other: two models that merge each other would wait for ever.
        with other.lock:
            if not other.is_fitted:
                return
            schema, engine = other.learned
            theirs = Fitted(schema, Engine(engine.memory.copy(), engine.settings))
        with self.lock:
            known = self._known
            schema, device = self._blank.like(theirs.schema), theirs.engine.memory.device
            ours = known or self._begun(schema, LearnOptions(begin=begin), device)
            names = ours.schema.names_with(schema, "cannot merge: the other model was taught")
            engine = ours.engine.merged(theirs.engine)
            self._know(Fitted(ours.schema if names == ours.schema.names else schema, engine))

    # Questions.

    def ask(self, X: Any, method: str, question: str, **more: bool) -> NDArray[Any]:
        """Return one thing of all that is said of rows: lazily, of those of a Dask collection.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d), Dask array or DataFrame
        method : str
            Of an estimator, which errors name.
        question : str
            An attribute of what `predict` returns.
        **more : bool
            What else `predict` has to find out for it.
        """
        get: Callable[[Any], NDArray[Any]] = attrgetter(question)
        if type(X) is np.ndarray or not (is_collection(X) or is_long(X)):
            return get(self.predict(X, method, **more))
        with self.lock:
            schema, engine = self.learned
            answer: Callable[[Rows], NDArray[Any]] = partial(ask, engine.predictor().copy(), get)
            if more:  # one that takes rows as they leave this one's door
                behind = Fitted(Schema(schema.outputs), self.copy().engine)
                learner = Learner(self.settings, kind=self.kind, learned=behind)
                answer = partial(learner.ask, method=method, question=question, **more)
            nothing = answer(np.zeros((1, schema.outputs)))[:0]
        if is_long(X):
            return np.concatenate([answer(schema.rows(rows)) for _, rows in blocks(X)])
        schema.rows(like_a_row(X))
        answers: NDArray[Any] = lazily(answer, X, schema.rows, nothing)  # of Dask's
        return answers

    def predict(
        self, X: Any, method: str = "predict", *, leverage: bool = False, unknown: bool = False
    ) -> Any:
        """Return what is said of rows (m, d) in memory: `Predictions`, or a `Regression`.

        Leverage, and how probable it is that they are of no class that was taught, are part of it
        if they are asked for.
        """
        with self.lock:
            learned = self.learned
            rows, engine = learned.schema.rows(X), learned.engine
            if type(rows) is not np.ndarray or engine.memory.device is not None:
                return self._predict_elsewhere(learned, rows, method, leverage, unknown)
            predictor = engine.predictor()
            if leverage or unknown:
                return engine.examine(predictor.predict(rows), rows, unknown)
            if len(rows) <= FEW_ROWS:
                return predictor.predict(rows)
            # Long enough for others to wait, so on a copy, for weights change in place.
            predictor = predictor.copy()
        return predictor.predict(rows)

    @lasting
    def _predict_elsewhere(
        self, learned: Fitted, rows: Array, method: str, leverage: bool, unknown: bool
    ) -> Any:
        """Do what `predict` does where the rows or the model live on a device."""
        engine, placed = learned.engine, learned.place(rows, f"{self.kind}.{method}")
        predictions = engine.predictor().predict(placed)
        if leverage or unknown:
            predictions = engine.examine(predictions, placed, unknown)
        return predictions if device_of(rows) is not None else predictions.on_host()

    @lasting
    def left_out(self, X: ArrayLike, y: ArrayLike) -> Labels:
        """Return what the model would say of rows that were taught, had each alone not been.

        Penalty, recoding and weights of classes stay as they are. It takes no longer than to ask.
        Raises NotTaughtError if a label was not taught.
        """
        with self.lock:
            schema, engine = self.learned
            rows, labels, _ = schema.check(X, y)
            rows = self.learned.place(rows, f"{self.kind}.left_out")
            batch = engine.memory.batch(rows, labels)
            if len(batch.labels) > engine.memory.sums.n_classes:
                label = batch.labels.tolist()[-1]
                raise NotTaughtError(f"{label} was not taught, so it cannot be left out")
            return engine.left_out(batch)

    # Copies, and files.

    def blank(self) -> "Learner":
        """Return one with the same parameters that was taught nothing."""
        return Learner(self.settings, self._blank, self.kind)

    @lasting
    def copy(self) -> "Learner":
        """Return another on the host that knows the same, and has derived nothing yet.

        What is saved is such a copy: others wait only while it is made.
        """
        self.finish_pending()
        with self.lock:
            self.finish_pending()  # should a selection have begun meanwhile
            schema, engine = self.learned
            learned = Fitted(schema, engine.move(None))
        return Learner(self.settings, self._blank, self.kind, learned)

    def replace(self, other: "Learner") -> None:
        """Become what another is, parameters included; that one is used up."""
        with self.lock:
            _ = self._known  # not in the midst of a change
            learned = other._learned  # noqa: SLF001 - of this class
            if learned is not None:
                learned = learned._replace(schema=self._blank.like(learned.schema))
            self.settings, self.given, self.kind = other.settings, None, other.kind
            self._learned = learned

    def check_by(self, schema: Schema) -> None:
        """Have rows checked by another kind of schema from now on."""
        with self.lock:
            self._blank, learned = schema, self._learned
            if learned is not None:
                self._learned = learned._replace(schema=schema.like(learned.schema))

    @lasting
    def move_to(self, device: Device | None) -> None:
        """Live on another device from now on or, with None, on the host."""
        with self.lock:
            schema, engine = self.learned
            if engine.memory.device != device:
                self._learned = Fitted(schema, engine.move(device))

    @lasting
    def reconsider(self, *, aside: bool = False) -> None:
        """Choose parameters now, from everything taught, as if it had come in one call.

        If it is done aside, on a copy, nobody who asks has to wait for it. Who teaches meanwhile
        makes it begin again, as long as they do: keep them away.
        """
        with self.lock:
            if not aside:
                self.engine.reconsider()
                return
            schema, before = self.learned
            version = self.version
            engine = Engine(before.memory.copy(), before.settings)
        engine.reconsider()
        engine.prepare()
        with self.lock:
            if self.version == version:
                self._learned = Fitted(schema, engine)
                return
        self.reconsider(aside=True)

    def finish_pending(self) -> None:
        """Do what is left of a selection under way; when it counts is the same.

        Only whole ones can be saved. Others have their turn between any two pieces.
        """
        is_done = False
        while not is_done:
            with self.lock:
                is_done = self.engine.choice.finish_piece()
            time.sleep(1e-4)  # or this thread would have the lock again before others woke up

    @lasting
    def to_state(self) -> State:
        """Return all that makes this model, as it is saved.

        Its sums are those of the model, not a copy: use it before the model learns more. Of a model
        on a device, they are a copy on the host.
        """
        with self.lock:
            schema, engine = self.learned
            if engine.memory.device is not None:
                engine = engine.move(None)
            return state_of(self.kind, engine, schema.names, schema.is_flat, schema.projection)


def _check_taught(engine: Engine, labels: Labels, weights: Any) -> None:
    """Raise ValueError if there is no such class, or fewer examples of it than these."""
    sums, weights = engine.memory.sums, as_weights(weights, len(labels))
    index, all_labels = sums.locate(labels if weights is None else labels[weights > 0])
    for label in all_labels[sums.n_classes :].tolist():
        sums.position(label)  # which there is not
    counts_without(sums, index)


def _where(device: Device | None) -> str:
    return "numpy's" if device is None else f"on {device.device} ({device.name})"
