"""What a choice rests on: rows still held back, penalties still there, enough that is known."""

import warnings

import numpy as np

from newfound import IncrementalRidgeClassifierCV
from tests.streams import blobs


def test_a_schedule_is_about_the_penalties_it_was_made_for() -> None:
    X, y = blobs()
    model = IncrementalRidgeClassifierCV(penalties=[1e-3, 1.0]).fit(X, y)
    model.predict(X)
    model.set_params(penalties=[1e5, 1e9])
    fresh = IncrementalRidgeClassifierCV(penalties=[1e5, 1e9]).fit(X, y)
    for ours, theirs in zip(
        model.validation_scores_.values(), fresh.validation_scores_.values(), strict=True
    ):
        np.testing.assert_allclose(ours, theirs)


def test_nothing_is_said_of_what_ifs_once_too_little_is_known() -> None:
    X, y = blobs()
    model = IncrementalRidgeClassifierCV().fit(X, y)
    assert np.isfinite(model.validation_scores_["what_if"]).all()
    few = np.flatnonzero(y > 0)
    model.forget(X[few], y[few])
    assert np.isnan(model.validation_scores_["what_if"]).all()


def test_every_class_may_be_well_known_from_its_first_example() -> None:
    X, y = blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IncrementalRidgeClassifierCV(min_class_count=1).fit(X, y)
        assert np.isfinite(model.validation_scores_["what_if"]).all()


def test_rows_forgotten_judge_no_further() -> None:
    X, y = blobs()
    model = IncrementalRidgeClassifierCV().partial_fit(X[:200], y[:200])
    model.predict(X)
    model.partial_fit(X[200:], y[200:])
    # Work that is not finished is in no file and in no answer: only here is it to be seen.
    begun = model._selector.work  # noqa: SLF001
    assert begun is not None
    model.forget(X[:1], y[:1])
    work = model._selector.work  # noqa: SLF001
    assert work is not None
    assert work is not begun
    assert not (work.voters == X[0]).all(axis=1).any()
