"""Ctrl-C and signals come at the worst moment, and leave a model whole."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from newfound import IncrementalRidge, IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.checks import check_interrupted
from newfound.sums.sums import Sums
from tests.covering import covering
from tests.effort import share_of
from tests.streams import derived_anew

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(240, 6)), RNG.choice(["a", "b", "c", "d"], 240)
TARGETS, WEIGHTS = X @ np.arange(6.0) + RNG.normal(size=240), RNG.uniform(0.5, 2.0, size=240)
VARIANTS: list[Any] = [
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    lambda: IncrementalRidgeClassifier(class_weight="balanced"),
    lambda: IncrementalRidgeClassifierCV(class_weight={}, witnesses=3),
    lambda: IncrementalRidgeClassifierCV(class_weight="balanced", min_class_count=9),
]
REGRESSORS: list[Any] = [IncrementalRidge, lambda: IncrementalRidge("auto")]


def rows(start: int, stop: int, model: Any) -> tuple[Any, Any]:
    """Return rows with what a model learns of them: labels, or targets."""
    y = TARGETS if isinstance(model, IncrementalRidge) else Y
    return X[start:stop], y[start:stop]


Change = Callable[[Any], object]
CHANGES: dict[str, Change] = {
    "a row": lambda model: model.partial_fit(*rows(120, 121, model)),
    "rows": lambda model: model.partial_fit(*rows(120, 160, model)),
    "weights": lambda model: model.partial_fit(*rows(120, 123, model), sample_weight=WEIGHTS[:3]),
    "fit": lambda model: model.fit(*rows(80, 160, model)),
    "forget a row": lambda model: model.forget(*rows(5, 6, model)),
    "forget rows": lambda model: model.forget(*rows(5, 45, model)),
    "forget all": lambda model: model.forget(*rows(0, 120, model)),
    "merge": lambda model: model.merge(clone(model).fit(*rows(200, 240, model))),
    "another setting": lambda model: model.set_params(fit_intercept=False).predict(X[:1]),
}
CHANGES_OF_CLASSES: dict[str, Change] = {
    "a class": lambda model: model.partial_fit(X[120:121], ["e"]),
    "rename": lambda model: model.rename_class("a", "e"),
    "join": lambda model: model.rename_class("a", "b"),
    "forget a class": lambda model: model.forget_class("a"),
}


@covering("make, change", VARIANTS + REGRESSORS, CHANGES)
def test_a_model_learns_and_forgets_all_or_nothing(
    make: Any, change: Change, tmp_path: Path
) -> None:
    assert_whole(make, change, tmp_path)


@covering("make, change", VARIANTS[2:], CHANGES_OF_CLASSES)
def test_classes_change_all_or_not_at_all(make: Any, change: Change, tmp_path: Path) -> None:
    assert_whole(make, change, tmp_path)


def test_the_choice_of_parameters_counts_the_rows_that_are_learned(tmp_path: Path) -> None:
    assert_whole(IncrementalRidgeClassifierCV, CHANGES["a row"], tmp_path, share_of(60))


def assert_whole(make: Any, change: Change, folder: Path, moments: int | None = None) -> None:
    taught = make()
    taught.fit(*rows(0, 121, taught)).forget(*rows(120, 121, taught))  # so that it counts rows

    def asked() -> Any:
        model = copy.deepcopy(taught)
        model.predict(X)
        return model

    def look(model: Any) -> list[Any]:
        if not model.__sklearn_is_fitted__():
            return []
        answers = model.predict if isinstance(model, IncrementalRidge) else model.scores
        seen = [model.n_samples_seen_, getattr(model, "penalty_", None), answers(X), model.coef_]
        model.save(folder / "model")
        seen.append((folder / "model").read_bytes())
        model.partial_fit(*rows(160, 164, model))  # and it goes on
        model.save(folder / "model")
        return [*seen, answers(X), (folder / "model").read_bytes()]

    check_interrupted(asked, change, look, moments or share_of(30))


@pytest.mark.parametrize("make", VARIANTS)
@pytest.mark.parametrize("call", ["partial_fit", "forget"])
def test_what_a_signals_handler_asks_in_the_middle_leaves_no_trace(
    make: Any, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock lets it in, for it is of the same thread."""
    model = make().fit(X[:120], Y[:120])
    method = "add" if call == "partial_fit" else "prepare_removal"
    original, refused = getattr(Sums, method), []

    def asked_first(*args: Any) -> Any:
        with pytest.raises(RuntimeError, match="in this very thread"):
            model.predict(X[:1])
        with pytest.raises(RuntimeError, match="in this very thread"):
            _ = model.coef_
        with pytest.raises(RuntimeError, match="in this very thread"):
            model.partial_fit(X[:1], Y[:1])
        refused.append(True)
        return original(*args)

    with monkeypatch.context() as patch:
        patch.setattr(Sums, method, asked_first)
        if call == "partial_fit":
            model.partial_fit(X[120:], Y[120:])
        else:
            model.forget(X[:60], Y[:60])
    assert refused
    expected = make().fit(X, Y) if call == "partial_fit" else make().fit(X[60:120], Y[60:120])
    assert model.class_count_.tolist() == expected.class_count_.tolist()
    scores = derived_anew(model).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-8)
