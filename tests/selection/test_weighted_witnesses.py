"""Witnesses that weigh more or less than one, left out: what refits without them say."""

import numpy as np
import pytest

from newfound.engine.engine import Engine
from newfound.selection.validation import ValidationSet
from newfound.selection.what_if import Scenario, left_out_scores
from tests import oracles
from tests.choices import basis_of, learn, snapshot_of, to_choose, witnesses_of


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("width", [4, 200])  # of many features, rows span a space of their own
@pytest.mark.parametrize("penalty", [0.3, 30.0])
def test_left_out_scores_are_those_of_refits(intercept: bool, width: int, penalty: float) -> None:
    """A row that came twice leaves with the weight of both."""
    rng = np.random.default_rng(width)
    X, y, w = rng.normal(size=(30, width)), np.arange(30) % 3, rng.uniform(0.1, 5.0, 30)
    X[:, :3] += 2 * np.eye(3)[y]
    taught = np.append(np.arange(30), [3, 4])  # two of them once more
    engine = Engine.blank(width, to_choose(fit_intercept=intercept, witnesses=40))
    learn(engine, X[taught], y[taught], w[taught], defer=True)
    validation = ValidationSet(snapshot_of(engine), min_class_count=2, what_if=False)
    as_it_is = Scenario(validation.group.weight_sums, np.arange(3))
    basis = basis_of(validation, penalty)
    found = left_out_scores(
        basis, validation.group, as_it_is, validation.of_class, validation.shares
    )
    rows, of = witnesses_of(engine)
    assert len(rows) == 30
    for row, label, scores in zip(rows, of, found, strict=True):
        keep = ~((X[taught] == row).all(axis=1) & (y[taught] == label))
        targets = oracles.one_hot(y[taught][keep], np.arange(3))
        weights = w[taught][keep]
        W, b = oracles.ridge(X[taught][keep], targets, penalty, intercept, weights)
        np.testing.assert_allclose(scores, row @ W + b, rtol=1e-8, atol=1e-9)
