"""Any sequence of lessons: at every step the model is the closed form of a plain list of rows."""

from collections import Counter
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from newfound import (
    IncrementalClassifier,
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    Layer,
)
from newfound.engine.unknown import DOUBTFUL
from newfound.selection.calibration import Calibration
from newfound.solvers import settings as parameters
from tests import oracles
from tests.effort import share_of
from tests.streams import reloaded, saved

WIDTH = 4
LABELS = ["mug", "cup", "a jug", "Krug", "杯"]
QUESTIONS = np.random.default_rng(99).normal(size=(7, WIDTH))
LESSONS = st.tuples(
    st.integers(0, 2**16), st.lists(st.sampled_from(LABELS), min_size=1, max_size=12)
)


def unknown_by(calibration: Calibration, cosines: Any, leverage: Any, labels: Any) -> Any:
    """What a calibration says of rows, had they no examples near."""
    if calibration.bound is None:
        return np.zeros(len(leverage))
    likeness = calibration.similarity(cosines, leverage, labels)
    return calibration.bound.unknown(likeness.max(axis=1))


class Lessons(RuleBasedStateMachine):
    """Teaches a model, and keeps a list of what it was taught."""

    # taught: every row taught and not forgotten, with its label.

    # first: how many rows are taught before all else.

    start: ClassVar[Any] = IncrementalRidgeClassifier(penalty=0.5)
    dtype: ClassVar[Any] = np.float64
    first: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.model = self.fresh()
        self.taught: list[tuple[tuple[float, ...], str]] = []
        if self.first:
            drawn = self.first, [LABELS[place % 3] for place in range(self.first)]
            Lessons.learn(self, drawn=drawn, in_one=False)

    def fresh(self) -> Any:
        return type(self.start)(**self.start.get_params())

    def lesson(self, drawn: tuple[int, list[str]]) -> tuple[NDArray[Any], list[str]]:
        """Rows of a few values each, so that the same ones come again."""
        seed, labels = drawn
        rng = np.random.default_rng(seed)
        rows = rng.integers(-3, 4, (len(labels), WIDTH)) / 2 * rng.choice([1, 1, 1, 8])
        return rows.astype(self.dtype), labels

    def rows_and_labels(self, of: list[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        rows = np.array([row for row, _ in of], dtype=self.dtype).reshape(-1, WIDTH)
        return rows, np.array([label for _, label in of])

    def note(self, rows: NDArray[Any], labels: list[str]) -> None:
        self.taught += zip(map(tuple, rows.tolist()), labels, strict=True)

    @rule(drawn=LESSONS, in_one=st.booleans())
    def learn(self, drawn: Any, in_one: bool) -> None:
        rows, labels = self.lesson(drawn)
        for part in np.array_split(np.arange(len(rows)), 1 if in_one else len(rows)):
            self.model.partial_fit(rows[part], [labels[place] for place in part])
        self.note(rows, labels)

    @rule(drawn=LESSONS)
    def store(self, drawn: Any) -> None:
        self.model.store(*self.lesson(drawn))
        self.note(*self.lesson(drawn))

    @precondition(lambda self: self.taught)
    @rule(data=st.data())
    def forget(self, data: Any) -> None:
        most = len(self.taught) - 1
        places = data.draw(st.sets(st.integers(0, most), min_size=1, max_size=10))
        gone = [self.taught[place] for place in sorted(places)]
        self.model.forget(*self.rows_and_labels(gone))
        self.taught = [one for place, one in enumerate(self.taught) if place not in places]

    @precondition(lambda self: self.taught)
    @rule(label=st.sampled_from(LABELS))
    def forget_class(self, label: str) -> None:
        known = any(label == other for _, other in self.taught)
        if known and self.start.class_weight is not None:
            self.model.forget_class(label)
            self.taught = [one for one in self.taught if one[1] != label]
        else:
            self.refused(lambda: self.model.forget_class(label))

    @precondition(lambda self: self.taught)
    @rule(old=st.sampled_from(LABELS), new=st.sampled_from([*LABELS, "a long new name"]))
    def rename(self, old: str, new: str) -> None:
        if any(old == label for _, label in self.taught):
            self.model.rename_class(old, new)
            self.taught = [(row, new if label == old else label) for row, label in self.taught]
        else:
            self.refused(lambda: self.model.rename_class(old, new))

    @rule(drawn=LESSONS, into_other=st.booleans())
    def merge(self, drawn: Any, into_other: bool) -> None:
        rows, labels = self.lesson(drawn)
        other = self.fresh().fit(rows, labels)
        self.model = other.merge(self.model) if into_other else self.model.merge(other)
        self.note(rows, labels)

    def features(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows as the weights see them."""
        layer = self.model.layer_
        return rows if layer is None else layer(rows)

    @precondition(lambda self: self.taught)
    @rule()
    def save_and_load(self) -> None:
        before = saved(self.model)
        self.model = reloaded(self.model)
        assert saved(self.model) == before

    @precondition(lambda self: self.taught)
    @rule(which=st.integers(0, 4))
    def nonsense(self, which: int) -> None:
        row, label = self.rows_and_labels(self.taught[:1])
        model, calls = self.model, len(self.taught) + 1
        refused = [
            lambda: model.partial_fit(row * np.nan, label),
            lambda: model.partial_fit(row[:, 1:], label),
            lambda: model.forget(row, ["never taught"]),
            lambda: model.forget(np.repeat(row, calls, axis=0), np.repeat(label, calls)),
            lambda: model.forget(1000 + row, label),
        ]
        self.refused(refused[which])

    def refused(self, call: Any) -> None:
        before = saved(self.model)
        with pytest.raises(ValueError, match=r"\w"):
            call()
        assert saved(self.model) == before

    @invariant()
    def it_is_the_closed_form_of_the_list(self) -> None:
        if not self.taught:
            with pytest.raises(NotFittedError):
                self.model.predict(QUESTIONS)
            return
        counts = Counter(label for _, label in self.taught)
        assert self.model.classes_.tolist() == sorted(counts)
        assert self.model.class_count_.tolist() == [counts[label] for label in sorted(counts)]
        assert self.model.n_samples_seen_ == len(self.taught)
        if isinstance(self.model, IncrementalRidgeClassifierCV):
            self.witnesses_are_some_of_the_list()
        expected = self.expected()
        limit = 1e-7 if self.dtype is np.float64 else 1e-3
        np.testing.assert_allclose(self.model.scores(QUESTIONS), expected, rtol=limit, atol=limit)
        self.the_unknown_is_told_by_the_list()

    def the_unknown_is_told_by_the_list(self) -> None:
        rows, y = self.rows_and_labels(self.taught)
        labels, calibration = self.model.learner_.engine.memory.sums.labels, self.model.calibration_
        weights = oracles.balanced_weights(y) if self.start.class_weight == "balanced" else None
        targets, penalty = oracles.one_hot(y, labels), self.model.learner_.engine.penalty
        X, questions = self.features(rows), self.features(QUESTIONS)
        angles, leverage = oracles.cosines(X, targets, penalty, True, questions, weights)
        expected = unknown_by(calibration, angles, leverage, labels)
        limit = 1e-5 if self.dtype is np.float64 else 0.05
        found = self.model.unknown_proba(QUESTIONS)
        # What would be unknown is known after all where an example is near.
        doubtful = expected > DOUBTFUL - limit
        np.testing.assert_allclose(found[~doubtful], expected[~doubtful], atol=limit)
        assert (found <= expected + limit).all()
        if not isinstance(self.model, IncrementalRidgeClassifierCV):
            twin = self.fresh().fit(rows, y).calibration_
            assert (twin.bound is None) == (calibration.bound is None)
            if twin.bound is not None:
                np.testing.assert_allclose(
                    expected,
                    unknown_by(twin, angles, leverage, labels),
                    atol=limit,
                )

    def witnesses_are_some_of_the_list(self) -> None:
        rows, of = self.model.witnesses_
        held = Counter(zip(map(tuple, rows.tolist()), of.tolist(), strict=True))
        assert held <= Counter(self.taught)
        assert max(Counter(of.tolist()).values(), default=0) <= self.model.witnesses

    @precondition(lambda self: self.taught)
    @rule()
    def reconsider(self) -> None:
        """What is chosen then is what the same rows and witnesses choose anywhere."""
        if isinstance(self.model, IncrementalRidgeClassifierCV):
            twin = reloaded(self.model.reconsider()).reconsider()
            assert twin.penalty_ == self.model.penalty_
            np.testing.assert_allclose(twin.recoding_, self.model.recoding_)
            for ask in ("unknown_proba", "predict_proba"):
                np.testing.assert_allclose(
                    getattr(twin, ask)(QUESTIONS),
                    getattr(self.model, ask)(QUESTIONS),
                    atol=1e-5 if self.dtype is np.float64 else 1e-3,
                )

    def expected(self) -> NDArray[np.float64]:
        """Scores of the questions from the list; classes sorted."""
        X, y = self.rows_and_labels(self.taught)
        labels = self.model.learner_.engine.memory.sums.labels  # in order of arrival
        targets, weights = oracles.one_hot(y, labels), np.ones(len(y))
        if self.start.class_weight == "balanced":
            weights = oracles.balanced_weights(y)
        weight_sums, places = weights @ targets, np.argsort(labels)
        if isinstance(self.model, IncrementalRidgeClassifierCV):
            penalty, recodings = self.model.penalty_, np.empty(len(labels))
            recodings[places] = self.model.recoding_
            factors = oracles.recode_each(weight_sums, recodings)
        else:
            penalty, factors = self.model.penalty, oracles.recode(weight_sums, self.model.recoding)
        W, b = oracles.ridge(self.features(X), targets, penalty, sample_weight=weights)
        return ((self.features(QUESTIONS) @ W + b) * factors)[:, places]


class InSinglePrecision(Lessons):
    dtype = np.float32


class Balanced(Lessons):
    start = IncrementalRidgeClassifier(class_weight="balanced")


class PerClass(Lessons):
    start = IncrementalRidgeClassifier(class_weight={}, recoding=1.0)


class Choosing(Lessons):
    start = IncrementalRidgeClassifierCV(
        [0.5, 5.0], [0.0, 0.5, 1.0], witnesses=4, min_class_count=6
    )


class ChoosingPerClass(Lessons):
    start = IncrementalRidgeClassifierCV(
        [0.5, 5.0], [0.0, 1.0], rule="paper", min_class_count=6, class_weight={}
    )


class ChoosingFromMany(Lessons):
    start = IncrementalRidgeClassifierCV(witnesses=3, min_class_count=4)


class BehindALayer(Lessons):
    start = IncrementalRidgeClassifier(
        penalty=0.5, layer=Layer.of(np.random.default_rng(1).normal(size=(100, WIDTH)), units=9)
    )


class Growing(Lessons):
    """The layer comes within the first lessons, unless something is forgotten before."""

    start = IncrementalRidgeClassifier(penalty=0.5, layer=9)
    first = 97

    def the_unknown_is_told_by_the_list(self) -> None:
        if self.model.layer_ is None:  # else a twin may have another
            super().the_unknown_is_told_by_the_list()


class GrowingInSinglePrecision(Growing):
    dtype = np.float32


class GrowingPerClass(Growing):
    start = IncrementalRidgeClassifier(class_weight="balanced", layer=9)


class ChoosingALayer(Lessons):
    start = IncrementalClassifier(witnesses=4, min_class_count=6)
    first = 97

    def __init__(self) -> None:
        self.fewer = mock.patch.object(parameters, "UNITS", 30)
        self.fewer.start()
        super().__init__()

    def teardown(self) -> None:
        self.fewer.stop()

    def witnesses_are_some_of_the_list(self) -> None:
        rows, of = self.model.witnesses_
        held = Counter(zip(map(tuple, rows.tolist()), of.tolist(), strict=True))
        assert held <= Counter(self.taught)


BOUNDED = settings(max_examples=share_of(10), stateful_step_count=20)
for machine in (
    Lessons,
    InSinglePrecision,
    Balanced,
    PerClass,
    Choosing,
    ChoosingPerClass,
    ChoosingFromMany,
    BehindALayer,
    Growing,
    GrowingInSinglePrecision,
    GrowingPerClass,
    ChoosingALayer,
):
    machine.TestCase.settings = BOUNDED
    globals()[f"Test{machine.__name__}"] = machine.TestCase
