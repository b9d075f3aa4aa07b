"""A layer is used where witnesses, each left out by refitting, are likelier behind it."""

from typing import Any

import numpy as np
import pytest

from newfound import IncrementalClassifier
from newfound.common.pieces import at_once
from newfound.heads.probabilities import log_losses, sharpness_of
from newfound.layers.layer import FIRST_ROWS
from newfound.selection import selector
from newfound.selection.snapshot import snapshot_in_stages
from newfound.solvers import settings
from tests import oracles
from tests.streams import reloaded

N = 150
ONE_CANDIDATE: dict[str, Any] = {"penalties": 1.0, "recodings": 0.5, "rule": None}


@pytest.fixture(autouse=True)
def few_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "UNITS", 20)


def shells(n: int = N) -> tuple[Any, Any]:
    """Three uneven classes, one around the other."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    names = np.array(["cup", "jug", "mug"])
    return X + 5, names[np.digitize(np.linalg.norm(X, axis=1), [1.5, 2.2])]


def losses_by_refits(F: Any, y: Any) -> Any:
    labels, index = np.unique(y, return_inverse=True)
    targets = oracles.one_hot(y, labels)
    scores = np.empty((len(y), len(labels)))
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        W, b = oracles.ridge(F[others], targets[others], 1.0)
        scores[i] = F[i] @ W + b
    scores *= oracles.recode(targets.sum(axis=0), 0.5)
    sizes = np.bincount(index)
    return log_losses(scores, index, sharpness_of(scores, index)), index, sizes


def test_the_advantage_is_that_of_refits_without_each_witness() -> None:
    X, y = shells()
    model = IncrementalClassifier(**ONE_CANDIDATE).fit(X, y)
    layer = model.learner_.engine.memory.layer
    assert layer is not None
    without, index, sizes = losses_by_refits(X, y)
    behind, *_ = losses_by_refits(layer(X), y)
    better, share = without - behind, 1 / sizes[index] / len(sizes)
    mean = share @ better
    expected = mean / np.sqrt(share**2 @ (better - mean) ** 2)
    assert model.layer_advantage_ == pytest.approx(expected, rel=1e-6)
    assert expected > selector.BEGIN_ABOVE
    assert model.layer_ == layer


@pytest.fixture
def advantages(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What each selection is told."""
    told: list[float] = []
    monkeypatch.setattr(selector, "standard_errors", lambda *_: told.pop(0) if told else 1.9)
    return told


def used_and_exact(model: Any, X: Any, y: Any) -> bool:
    """Tell whether a layer is used, and assert that answers are those of the closed form."""
    layer = model.layer_
    F, asked = (rows if layer is None else layer(rows) for rows in (X, X[:9]))
    targets = oracles.one_hot(y, model.classes_)
    W, b = oracles.ridge(F, targets, model.penalty_)
    expected = (asked @ W + b) * oracles.recode_each(targets.sum(axis=0), model.recoding_)
    np.testing.assert_allclose(model.scores(X[:9]), expected, rtol=1e-7, atol=1e-8)
    return layer is not None


def test_it_is_used_above_two_and_for_as_long_as_it_is_above_one(advantages: list[float]) -> None:
    X, y = shells(900)
    model, used = IncrementalClassifier(**ONE_CANDIDATE), list[tuple[float, bool]]()
    advantages += [1.9, 2.1, 1.1, 0.9, 1.9]
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        told = model.layer_advantage_
        if i % 7 == 0 or not used or told != used[-1][0]:
            now = told, used_and_exact(model, X[: i + 1], y[: i + 1])
            if not np.isnan(told) and (not used or now != used[-1]):
                used.append(now)
    assert used == [(1.9, False), (2.1, True), (1.1, True), (0.9, False), (1.9, False)]
    model.reconsider()
    assert model.layer_advantage_ == 1.9
    assert model.layer_ is None


def test_what_is_chosen_is_saved_with_how_the_rival_fared() -> None:
    X, y = shells()
    model = IncrementalClassifier().fit(X, y)
    again = reloaded(model)
    assert again.layer_advantage_ == model.layer_advantage_
    assert again.layer_ == model.layer_
    table, same = model.validation_scores_, again.validation_scores_
    assert all(np.array_equal(table[name], same[name]) for name in table)
    assert set(table["layer"]) == {0.0, 1.0}
    linear = IncrementalClassifier(layer=None, witnesses=334).fit(X, y).validation_scores_
    assert "layer" not in linear
    for name, column in linear.items():
        np.testing.assert_allclose(table[name][table["layer"] == 0], column, err_msg=name)


def test_both_are_drawn() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = shells()
    model = IncrementalClassifier().fit(X, y)
    axes = model.plot_validation()
    labels = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert any(text.startswith("without the layer") and "less likely" in text for text in labels)
    pyplot.close(axes[0].figure)


def test_a_row_that_is_learned_decides_at_the_same_moment_however_rows_come() -> None:
    X, y = shells(330)
    rows, parts = IncrementalClassifier(), IncrementalClassifier()
    for part in np.split(np.arange(330), [3, 99, 101, 250]):
        parts.partial_fit(X[part], y[part])
        for i in part:
            rows.partial_fit(X[i : i + 1], y[i : i + 1])
        assert parts.layer_ == rows.layer_
        np.testing.assert_allclose(parts.scores(X), rows.scores(X), rtol=1e-8, atol=1e-9)


def test_it_is_asked_as_soon_as_there_is_a_layer() -> None:
    X, y = shells()
    model = IncrementalClassifier()
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        assert np.isnan(model.layer_advantage_) or i > FIRST_ROWS
    choice = model.learner_.engine.choice
    assert isinstance(choice, selector.Selector)
    assert choice.latest is not None
    assert choice.latest.total == FIRST_ROWS + 1


def test_it_is_asked_again_as_the_second_of_two_classes_grows() -> None:
    X = np.random.default_rng(0).normal(size=(760, 3))
    y, model, begun = np.array(["cup"] * 450 + ["mug"] * 310), IncrementalClassifier(), set[int]()
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        choice = model.learner_.engine.choice
        assert isinstance(choice, selector.Selector)
        begun |= {each.total for each in (choice.pending, choice.latest) if each is not None}
    assert begun >= {450 + 2, 450 + 30, 450 + 100, 450 + 300}


def test_rows_that_came_twice_are_worked_on_in_the_space_they_span() -> None:
    X, y = shells(30)
    model = IncrementalClassifier(layer=100).fit(np.tile(X, (5, 1)), np.tile(y, 5))
    memory = model.learner_.engine.memory
    assert memory.sums.total == 150
    solver = model.learner_.engine.solver
    snapshot = at_once(snapshot_in_stages(solver, memory.witnesses, memory.cap, memory.layer))
    assert snapshot.space is not None
    assert len(snapshot.matrix) == 30 - 1  # around their mean
