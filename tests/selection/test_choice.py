"""What a choice rests on: rows that are still learned, penalties still there, enough known."""

import warnings

import numpy as np

from newfound import IncrementalRidgeClassifierCV
from tests.streams import blobs


def test_votes_are_about_the_penalties_they_were_called_for() -> None:
    X, y = blobs()
    model = IncrementalRidgeClassifierCV(penalties=[1e-3, 1.0]).fit(X, y)
    model.predict(X)
    model.set_params(penalties=[1e5, 1e9])
    fresh = IncrementalRidgeClassifierCV(penalties=[1e5, 1e9]).fit(X, y)
    for ours, theirs in zip(
        model.validation_scores_.values(), fresh.validation_scores_.values(), strict=True
    ):
        np.testing.assert_allclose(ours, theirs)


def test_nobody_votes_once_too_little_is_known() -> None:
    X, y = blobs()
    model = IncrementalRidgeClassifierCV().fit(X, y)
    assert np.isfinite(model.validation_scores_["accuracy"]).all()
    few = np.flatnonzero(y > 0)
    model.forget(X[few], y[few])
    assert np.isnan(model.validation_scores_["accuracy"]).all()
    assert np.isnan(model.validation_scores_["rare"]).all()
    assert 0.6 < model.recoding_[0] < 0.7


def test_every_class_may_be_well_known_from_its_first_example() -> None:
    X, y = blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IncrementalRidgeClassifierCV(min_class_count=1).fit(X, y)
        assert np.isfinite(model.validation_scores_["accuracy"]).all()
        for n in range(1, 12):
            IncrementalRidgeClassifierCV(min_class_count=1).fit(X[:n], y[:n]).predict(X)


def test_rows_forgotten_vote_no_further() -> None:
    X, y = blobs(500)
    model = IncrementalRidgeClassifierCV(witnesses=600).fit(X, y)
    model.forget(X[:100], y[:100])
    rows, _ = model.witnesses_
    assert len(rows) == 400
    assert not any((row == rows).all(axis=1).any() for row in X[:100])
    fresh = IncrementalRidgeClassifierCV(witnesses=600, rule="paper").fit(X[100:], y[100:])
    model.set_params(rule="paper")
    np.testing.assert_allclose(
        model.validation_scores_["accuracy"], fresh.validation_scores_["accuracy"]
    )
