"""Ctrl-C and signals come at the worst moment, and leave a model whole."""

import signal
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidge, IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.selection.selector import Selector
from newfound.solvers.recursive import RecursiveSolver
from newfound.solvers.weighted import RebalancedSolver
from newfound.sums.sums import Sums
from tests.streams import derived_anew

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(240, 6)), RNG.choice(["a", "b", "c", "d"], 240)
VARIANTS: list[Any] = [
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    lambda: IncrementalRidgeClassifier(class_weight="balanced"),
    lambda: IncrementalRidgeClassifierCV(class_weight={}, witnesses=3),
    lambda: IncrementalRidgeClassifierCV(class_weight="balanced", min_class_count=9),
]


def interrupt_after(monkeypatch: pytest.MonkeyPatch, kind: type, name: str) -> None:
    """Press Ctrl-C right after a method, the first time that it is called."""
    original = getattr(kind, name)
    pressed: list[bool] = []

    def pressing(*args: Any, **options: Any) -> Any:
        result = original(*args, **options)
        if not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(kind, name, pressing)


def assert_whole(model: Any, expected: dict[str, int]) -> None:
    assert dict(zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True)) == expected
    anew = derived_anew(model)
    np.testing.assert_allclose(model.decision_function(X), anew.decision_function(X), atol=1e-8)
    if isinstance(model, IncrementalRidgeClassifierCV):
        rows, labels = model.witnesses_
        held, known = counts(labels), set(map(tuple, X))
        assert all(held[label] <= min(number, 40) for label, number in expected.items())
        assert set(held) == set(expected)
        assert known.issuperset(map(tuple, rows))
    model.partial_fit(X[:1], Y[:1]).predict(X)


def counts(y: Any) -> dict[str, int]:
    labels, numbers = np.unique(y, return_counts=True)
    return dict(zip(labels.tolist(), numbers.tolist(), strict=True))


@pytest.mark.parametrize("make", VARIANTS)
@pytest.mark.parametrize(("new", "joined"), [("e", False), ("b", True)])
def test_a_class_is_renamed_whole_or_not_at_all(
    make: Any, new: str, joined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make().fit(X, Y)
    model.predict(X)
    interrupt_after(monkeypatch, Sums, "rename")
    with pytest.raises(KeyboardInterrupt):
        model.rename_class("a", new)
    assert_whole(model, counts(np.where(Y == "a", new, Y)))


@pytest.mark.slow
@pytest.mark.parametrize("make", VARIANTS)
@pytest.mark.parametrize("method", ["forget", "remove_classes"])
def test_rows_are_forgotten_whole_or_not_at_all(
    make: Any, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make().fit(X, Y)
    model.predict(X)
    for kind in (RecursiveSolver, RebalancedSolver):
        interrupt_after(monkeypatch, kind, method)
    with pytest.raises(KeyboardInterrupt):
        model.forget(X[:60], Y[:60])
    assert_whole(model, counts(Y[60:]))


@pytest.mark.slow
@pytest.mark.parametrize("make", VARIANTS)
@pytest.mark.parametrize("size", [1, 20])
def test_rows_are_learned_whole_or_not_at_all(
    make: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums and witnesses as one; votes may be lost, but nothing else."""
    for kind, name in ((Sums, "add"), (Selector, "plan"), (Selector, "follow")):
        model = make().fit(X[:120], Y[:120])
        model.predict(X)
        with monkeypatch.context() as patch:
            interrupt_after(patch, kind, name)
            is_plain = type(model) is IncrementalRidgeClassifier
            if is_plain and kind is Selector:
                continue
            with pytest.raises(KeyboardInterrupt):
                model.partial_fit(X[120 : 120 + size], Y[120 : 120 + size])
        whole = model.n_samples_seen_
        assert whole in (120, 120 + size)
        assert_whole(model, counts(Y[:whole]))


@pytest.mark.parametrize("make", VARIANTS[2:])
def test_a_class_is_forgotten_whole_or_not_at_all(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make().fit(X, Y)
    model.predict(X)
    interrupt_after(monkeypatch, Sums, "remove_classes")
    with pytest.raises(KeyboardInterrupt):
        model.forget_class("a")
    assert_whole(model, counts(Y[Y != "a"]))


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
    assert_whole(model, counts(Y if call == "partial_fit" else Y[60:120]))


@pytest.mark.parametrize("penalty", [1.0, "auto"])
@pytest.mark.parametrize("call", ["partial_fit", "forget"])
@pytest.mark.parametrize("method", ["add", "prepare_removal", "remove_classes"])
def test_a_regressor_answers_for_what_it_counts_after_an_interrupt(
    penalty: Any, call: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also its copies of rows are of those alone that it counts."""
    targets = X @ np.arange(6.0) + RNG.normal(size=240)
    model = IncrementalRidge(penalty).fit(X[:120], targets[:120])
    model.predict(X)
    interrupt_after(monkeypatch, Sums, method)
    rows = slice(120, 140) if call == "partial_fit" else slice(100, 120)
    with suppress(KeyboardInterrupt):
        getattr(model, call)(X[rows], targets[rows])
    monkeypatch.undo()
    assert model.n_samples_seen_ in (120, 100 if call == "forget" else 140)
    expected = IncrementalRidge(penalty)
    expected.fit(X[: model.n_samples_seen_], targets[: model.n_samples_seen_])
    assert model.penalty_ == pytest.approx(expected.penalty_)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-9, atol=1e-9)
