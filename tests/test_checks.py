"""The public checks: our own models and solvers pass them, and what is wrong does not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from newfound import (
    IncrementalClassifier,
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    Layer,
    checks,
)
from newfound.solvers import settings
from newfound.solvers.recursive import RecursiveSolver
from newfound.solvers.weighted import RebalancedSolver
from tests.covering import covering

DTYPES = np.float64, np.float32

MODELS: list[Any] = [
    IncrementalRidgeClassifier(),
    IncrementalRidgeClassifier(class_weight="balanced"),
    IncrementalRidgeClassifier(class_weight={}),
    IncrementalRidgeClassifier(class_weight={"mug": 2.0}, recoding=0.3),
    IncrementalRidgeClassifier(fit_intercept=False, penalty=0.1),
    IncrementalRidgeClassifierCV(),
    IncrementalRidgeClassifierCV(rule="paper", class_weight={}),
    IncrementalRidgeClassifierCV(witnesses=3, min_class_count=5),
    IncrementalRidgeClassifierCV(class_weight="balanced"),
    IncrementalRidgeClassifierCV(rule=None, recodings=0.5),
    IncrementalRidgeClassifierCV(fit_intercept=False, witnesses=5),
]
GIVEN = Layer.of(np.random.default_rng(0).normal(size=(100, 5)) + 3, units=8)
BEHIND_A_LAYER: list[Any] = [
    IncrementalRidgeClassifier(layer=GIVEN),
    IncrementalRidgeClassifier(layer=GIVEN, class_weight="balanced"),
    IncrementalClassifier(layer=GIVEN),
]
WITH_A_LAYER_TO_COME: list[Any] = [
    IncrementalRidgeClassifier(layer=8),
    IncrementalRidgeClassifier(layer=8, class_weight="balanced"),
    IncrementalClassifier(layer=8),
    IncrementalClassifier(witnesses=5),
]
# The layer is that of the first rows, which in another order are others, and in two streams, too.
OF_OTHER_FIRST_ROWS = checks.check_order_does_not_matter, checks.check_merging_is_the_union
OF_ONE_ORDER = [check for check in checks.MODEL_CHECKS if check not in OF_OTHER_FIRST_ROWS]
SOLVERS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "recursive": (lambda sums: RecursiveSolver(sums, 2.0, True), False),
    "through the origin": (lambda sums: RecursiveSolver(sums, 0.1, False), False),
    "sums per class": (lambda sums: RecursiveSolver(sums, 2.0, True), True),
    "balanced": (lambda sums: RebalancedSolver(sums, 2.0, True, "balanced"), True),
    "weighted": (lambda sums: RebalancedSolver(sums, 2.0, False, {"mug": 3.0}), True),
}


@covering("model, check, dtype", MODELS, checks.MODEL_CHECKS, DTYPES)
def test_our_models_keep_the_laws(model: Any, check: Any, dtype: Any) -> None:
    check(model, *checks.small_stream(dtype))


@covering("model, check, dtype", BEHIND_A_LAYER, checks.MODEL_CHECKS, DTYPES)
def test_models_behind_a_layer_keep_the_laws(model: Any, check: Any, dtype: Any) -> None:
    check(model, *checks.small_stream(dtype))


def twisted_stream(dtype: Any) -> tuple[Any, Any]:
    """Rows enough for a layer to come, and to pay: three classes that no planes separate."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.array(["cup", "jug", "mug"])[np.digitize(np.linalg.norm(X, axis=1), [1.3, 1.9])]
    return (X + 5).astype(dtype), y


@covering("model, check, dtype", WITH_A_LAYER_TO_COME, OF_ONE_ORDER, DTYPES)
@pytest.mark.usefixtures("few_units")
def test_models_with_a_layer_to_come_keep_the_laws(model: Any, check: Any, dtype: Any) -> None:
    check(model, *twisted_stream(dtype))


@pytest.fixture
def few_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "UNITS", 40)


@pytest.mark.usefixtures("few_units")
def test_the_layer_of_that_stream_pays() -> None:
    model = IncrementalClassifier().fit(*twisted_stream(np.float64))
    assert model.layer_ is not None


@covering("name, check, dtype", SOLVERS.keys(), checks.SOLVER_CHECKS, DTYPES)
def test_our_solvers_keep_the_laws(name: str, check: Any, dtype: Any) -> None:
    make, per_class = SOLVERS[name]
    check(make, per_class, *checks.small_stream(dtype))


@pytest.mark.parametrize("labels", [[7, -3, 10**12], [3.0, 1.0, 2.0]], ids=str)
def test_labels_may_be_numbers(labels: list[Any]) -> None:
    X, _ = checks.small_stream()
    checks.check_model(IncrementalRidgeClassifier(), X, np.array(labels * 20))


class Impatient(IncrementalRidgeClassifier):
    """Takes rows that come in small calls more seriously."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        return super().partial_fit(np.asarray(X) * (1 + 0.01 * (len(X) < 20)), y, classes)


class Fading(IncrementalRidgeClassifier):
    """Takes what comes late for larger than it is."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        seen = self.n_samples_seen_ if self.__sklearn_is_fitted__() else 0
        return super().partial_fit(np.asarray(X) * (1 + 0.001 * seen), y, classes)


class Resentful(IncrementalRidgeClassifier):
    """Forgets nine tenths of a row."""

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        remainder = 0.1 * np.asarray(X)
        super().forget(X, y)
        if self.__sklearn_is_fitted__() and y[0] in self.classes_.tolist():
            self.partial_fit(remainder, y).rename_class(y[0], y[0])
        return self


class Undying(IncrementalRidgeClassifier):
    """Cannot be left with nothing."""

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        super().forget(X, y)
        if not self.__sklearn_is_fitted__():
            self.partial_fit(X, y)
        return self


class Doubling(IncrementalRidgeClassifier):
    def merge(self, other: Any) -> Any:
        super().merge(other)
        return super().merge(other)


class Robbing(IncrementalRidgeClassifier):
    """Takes from the other what it learns of it."""

    def merge(self, other: Any) -> Any:
        super().merge(other)
        other.penalty = 2.0
        return self


class Haughty(IncrementalRidgeClassifier):
    """Thinks little of classes that nobody announced."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        known = self.classes_.tolist() if self.__sklearn_is_fitted__() else y
        scale = 0.9 if classes is None and not set(y) <= set(known) else 1.0
        return super().partial_fit(scale * np.asarray(X), y, classes)


class Careless(IncrementalRidgeClassifier):
    """Takes NaN for zero."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        if np.asarray(X).dtype.kind == "f":
            X = np.nan_to_num(X, posinf=np.inf)
        return super().partial_fit(X, y, classes)


class HalfDone(IncrementalRidgeClassifier):
    """Changes before it refuses."""

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.penalty *= 1.5
        super().forget(X, y)
        self.penalty /= 1.5
        return self


class Nosy(IncrementalRidgeClassifier):
    """Learns from what it is asked."""

    def predict(self, X: Any) -> Any:
        answers = super().predict(X)
        self.partial_fit(X[:1], answers[:1])
        return answers


class Scattered(IncrementalRidgeClassifier):
    """Never writes the same file twice."""

    saves = 0

    def save(self, path: Any) -> None:
        type(self).saves += 1
        self.set_params(penalty=1.0 + type(self).saves)
        super().save(path)


class Amnesiac(IncrementalRidgeClassifier):
    """Comes back with another penalty."""

    @classmethod
    def from_state(cls, state: Any) -> Any:
        return super().from_state(state).set_params(penalty=7.0)


class Forgetful(IncrementalRidgeClassifier):
    """Leaves a row behind when it is pickled or copied."""

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self.partial_fit(np.ones((1, self.n_features_in_)), self.classes_[:1])


class Backwards(IncrementalRidgeClassifier):
    @property
    def classes_(self) -> Any:
        return super().classes_[::-1]


class Miscounting(IncrementalRidgeClassifier):
    @property
    def class_count_(self) -> Any:
        return np.sort(super().class_count_)


class Contrary(IncrementalRidgeClassifier):
    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmin(axis=1)]


class Swapped(IncrementalRidgeClassifier):
    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X)[:, ::-1]


class Sure(IncrementalRidgeClassifier):
    def novelty(self, X: Any) -> Any:
        return super().novelty(X) + 1


class Lazy(IncrementalRidgeClassifier):
    def store(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return self


class Nameless(IncrementalRidgeClassifier):
    """Loses a class that gets the name of another."""

    def rename_class(self, old: Any, new: Any) -> Any:
        return self if new in self.classes_ else super().rename_class(old, new)


class Hesitant(IncrementalRidgeClassifier):
    """Learns a lesson in two steps, between which it can be interrupted."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        if len(X) > 1:
            super().partial_fit(X[:1], y[:1], classes)
        return super().partial_fit(X[-(len(X) - 1) :], y[-(len(X) - 1) :], classes)


@pytest.mark.parametrize(
    ("kind", "law", "words"),
    [
        (Impatient, "splitting_does_not_matter", "fit and"),
        (Fading, "order_does_not_matter", "backwards"),
        (Resentful, "forgetting_undoes_learning", "never taught"),
        (Undying, "forgetting_undoes_learning", "still answers"),
        (Doubling, "merging_is_the_union", "two merged"),
        (Robbing, "merging_is_the_union", "changed the other"),
        (Haughty, "a_late_class_is_as_good_as_an_early_one", "late class"),
        (Careless, "bad_input_changes_nothing", "partial_fit of NaN is not refused"),
        (HalfDone, "bad_input_changes_nothing", "leaves a trace"),
        (Nosy, "asking_changes_nothing", "asking changed"),
        (Scattered, "saving_and_loading", "different bytes"),
        (Amnesiac, "saving_and_loading", "what was loaded gives different bytes"),
        (Forgetful, "pickling", "pickled"),
        (Backwards, "classes_are_sorted", "are not"),
        (Miscounting, "classes_are_sorted", "counts"),
        (Contrary, "classes_are_sorted", "predicts not the class"),
        (Swapped, "classes_are_sorted", "most probable"),
        (Sure, "classes_are_sorted", "novelty"),
        (Lazy, "storing_is_learning", "taught and stored"),
        (Nameless, "renaming_changes_names_alone", "renamed"),
        (Hesitant, "interrupts_leave_no_halves", "neither as before nor as after"),
    ],
)
def test_a_model_that_breaks_a_law_is_caught(kind: Any, law: str, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        getattr(checks, f"check_{law}")(kind())


def test_every_check_of_models_has_caught_one() -> None:
    (marker,) = (
        mark
        for mark in test_a_model_that_breaks_a_law_is_caught.pytestmark
        if mark.name == "parametrize"
    )
    assert {f"check_{law}" for _, law, _ in marker.args[1]} == {
        check.__name__ for check in checks.MODEL_CHECKS
    }


class Deaf(RecursiveSolver):
    """Learns nothing from batches once it has answered."""

    def learn(self, X: Any, index: Any, labels: Any, sample_weight: Any = None) -> None:
        if len(X) == 1 or len(labels) > len(self.sums.labels):
            super().learn(X, index, labels, sample_weight)


class Faithful(RecursiveSolver):
    def forget(self, X: Any, index: Any, sample_weight: Any = None) -> None:
        """Forget nothing."""


class Hoarding(RecursiveSolver):
    def remove_classes(self, places: Any) -> None:
        """Keep the columns of what is gone."""


class Stubborn(RecursiveSolver):
    """Takes what it learns after a rebuild twice."""

    def discard(self) -> None:
        super().discard()
        self.penalty *= 1.01

    @property
    def weights(self) -> Any:
        return super().weights * (1.0 if self.penalty == 2.0 else 1.001)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (Deaf, "equals_cholesky"),
        (Faithful, "forgets"),
        (Hoarding, "forgets"),
        (Stubborn, "can_be_discarded"),
    ],
)
def test_a_solver_that_breaks_a_law_is_caught(kind: Any, law: str) -> None:
    with pytest.raises(AssertionError, match="from the solver"):
        getattr(checks, f"check_solver_{law}")(lambda sums: kind(sums, 2.0, True))


def test_checks_say_which_streams_they_need() -> None:
    X, y = checks.small_stream()
    with pytest.raises(AssertionError, match="three classes"):
        checks.check_model(IncrementalRidgeClassifier(), X, y == "mug")
    with pytest.raises(AssertionError, match="a dozen rows"):
        checks.check_model(IncrementalRidgeClassifier(), X[:5], y[:5])
