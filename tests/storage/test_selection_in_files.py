"""A choice travels with its model: saved, loaded and saved again it is the same, at any moment."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.storage import format as file_format
from tests.covering import first_of
from tests.streams import blobs, reloaded, saved

PARAMETERS: list[dict[str, Any]] = [
    {},
    {"rule": "paper", "witnesses": 5},
    {"rule": None, "recodings": 0.5, "fit_intercept": False},
    {"class_weight": {1: 3.0}},
    {"class_weight": "balanced"},
]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", first_of([np.float64, np.float32]))
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_saved_and_loaded_at_any_moment_a_model_is_saved_the_same(
    parameters: dict[str, Any], dtype: Any
) -> None:
    """Before, during and after votes, and after forgetting."""
    X, y = blobs(300)
    X = X.astype(dtype)
    model = IncrementalRidgeClassifierCV(min_class_count=10, **parameters)
    moments = []
    for row in range(140):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        if row < 4 or row % 3 == 0:
            before = saved(model)
            assert saved(reloaded(model)) == before
            moments.append("pending.since" in model.learner_.to_state().arrays)
    assert len(set(moments)) == 2  # votes were under way at some, and at others not
    model.forget(X[:20], y[:20])
    assert saved(reloaded(model)) == saved(model)
    model.store(X[140:], y[140:])
    assert saved(reloaded(model)) == saved(model)


def test_how_much_was_forgotten_since_the_last_votes_is_saved() -> None:
    X, y = blobs(300)
    model = IncrementalRidgeClassifierCV(min_class_count=10).fit(X, y)
    while not model.learner_.to_state().arrays["selection.forgotten"][0]:  # until a row is no shock
        model.partial_fit(X, y).forget(X[:1], y[:1])
    assert saved(reloaded(model)) == saved(model)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_a_model_loaded_in_the_midst_of_votes_goes_on_as_the_other_does(
    parameters: dict[str, Any],
) -> None:
    X, y = blobs(300)
    stayed = IncrementalRidgeClassifierCV(min_class_count=10, **parameters)
    taught = 100
    stayed.partial_fit(X[:taught], y[:taught])
    while "pending.since" not in stayed.learner_.to_state().arrays:
        stayed.partial_fit(X[taught : taught + 1], y[taught : taught + 1])
        taught += 1
    travelled = reloaded(stayed)
    choices = set()
    for row in range(taught, 300):
        for model in (stayed, travelled):
            model.partial_fit(X[row : row + 1], y[row : row + 1])
        assert travelled.penalty_ == stayed.penalty_
        np.testing.assert_array_equal(travelled.recoding_, stayed.recoding_)
        if (row - taught) % 10 == 0:
            votes = zip(
                travelled.validation_scores_.values(),
                stayed.validation_scores_.values(),
                strict=True,
            )
            for ours, theirs in votes:
                np.testing.assert_array_equal(ours, theirs)
                choices.add(theirs.tobytes())
    assert len(choices) > len(stayed.validation_scores_)
    for ours, theirs in zip(travelled.witnesses_, stayed.witnesses_, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_classes_without_witnesses_are_saved_as_well() -> None:
    """Merged from a model that keeps none, or announced and not taught."""
    from newfound import IncrementalRidgeClassifier

    X, y = blobs(300)
    model = IncrementalRidgeClassifierCV().merge(IncrementalRidgeClassifier().fit(X, y))
    assert len(model.witnesses_[0]) == 0
    assert np.isnan(reloaded(model).validation_scores_["accuracy"]).all()
    assert saved(reloaded(model)) == saved(model)
    model.partial_fit(X[:5], y[:5], classes=[0, 1, 2, 9])
    again = reloaded(model)
    assert again.classes_.tolist() == [0, 1, 2, 9]
    assert len(again.witnesses_[0]) == 5


def test_arrays_are_written_as_they_read_however_they_lie_in_memory(tmp_path: Path) -> None:
    odd = np.arange(24.0).reshape(2, 3, 4).swapaxes(0, 2)
    state = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["a", "b"]).learner_.to_state()
    file_format.write(tmp_path / "m", state.keeping({"room.odd": odd, "room.every": odd[::2]}))
    arrays = file_format.read(tmp_path / "m").arrays
    np.testing.assert_array_equal(arrays["room.odd"], odd)
    np.testing.assert_array_equal(arrays["room.every"], odd[::2])
