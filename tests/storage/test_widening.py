"""Features that come later: a widened model is the one whose rows ended in zeros all along."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, InputError
from newfound.storage.widening import widened
from newfound.sums import Sums
from tests.oracles import seen_from_zero

KINDS = [
    IncrementalRidgeClassifier(),
    IncrementalRidgeClassifier(class_weight="balanced"),
    IncrementalRidgeClassifier(penalty=0.1, fit_intercept=False),
    IncrementalRidgeClassifierCV(),
    IncrementalRidgeClassifierCV(class_weight="balanced"),
]


def stream(n: int, d: int) -> tuple[Any, Any]:
    """Rows (n, d) around the means of three classes, the last of them rare."""
    rng = np.random.default_rng(0)
    index = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    return rng.normal(size=(n, d)) + np.eye(3, d)[index], np.array(["mug", "cup", "jug"])[index]


def with_zeros(X: Any, width: int) -> Any:
    return np.pad(X, ((0, 0), (0, width - X.shape[1])))


def close(one: Any, other: Any) -> None:
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(other).max())


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 3, 200])
def test_widened_sums_are_those_of_rows_that_end_in_zeros(
    n: int, dtype: Any, per_class: bool
) -> None:
    X, y = stream(n, 5)
    X = X.astype(dtype)
    model = IncrementalRidgeClassifier(class_weight={} if per_class else None)
    found = seen_from_zero(widened(model.fit(X, y).learner_.to_state(), 8).sums)
    expected = Sums.of(with_zeros(X, 8), y, per_class)
    assert (found.width, found.dtype, found.per_class) == (8, expected.dtype, per_class)
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.counts.tolist() == expected.counts.tolist()
    close(found.cross, expected.cross)
    close(np.tril(found.gram), np.tril(expected.gram))


@pytest.mark.slow
@pytest.mark.parametrize("model", KINDS, ids=str)
def test_a_widened_model_goes_on_as_if_its_rows_had_ended_in_zeros(model: Any) -> None:
    X, y = stream(300, 8)
    early, late = with_zeros(X[:150, :5], 8), X[150:]
    expected = clone(model).partial_fit(early, y[:150])
    found = clone(model).partial_fit(X[:150, :5], y[:150])
    found = type(model).from_state(widened(found.learner_.to_state(), 8))
    for one in (found, expected):
        one.partial_fit(late, y[150:])
        if isinstance(one, IncrementalRidgeClassifierCV):
            one.reconsider()
    close(found.scores(X), expected.scores(X))
    close(found.predict_proba(X), expected.predict_proba(X))
    close(found.novelty(X), expected.novelty(X))


def test_a_state_is_not_changed_by_widening_it() -> None:
    model = IncrementalRidgeClassifierCV().fit(*stream(60, 4))
    state = model.learner_.to_state()
    before = state.sums.gram.copy(), state.arrays["witnesses.rows"].shape
    widened(state, 9)
    assert state.sums.width == 4
    np.testing.assert_array_equal(state.sums.gram, before[0])
    assert state.arrays["witnesses.rows"].shape == before[1]


def test_features_are_not_taken_away() -> None:
    state = IncrementalRidgeClassifier().fit(*stream(9, 4)).learner_.to_state()
    with pytest.raises(InputError, match="4 features cannot be widened to 3"):
        widened(state, 3)


def test_named_features_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    state = (
        IncrementalRidgeClassifier()
        .fit(pd.DataFrame({"a": [0.0, 1.0]}), [1, 2])
        .learner_.to_state()
    )
    with pytest.raises(InputError, match="names"):
        widened(state, 2)
