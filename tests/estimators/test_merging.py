"""Which models can be merged with which; that merging is the union is one of the laws."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from tests.streams import saved

X, Y = np.random.default_rng(0).normal(size=(20, 2)), ["a", "b"] * 10
KINDS = [IncrementalRidgeClassifier, IncrementalRidgeClassifierCV]


@pytest.mark.parametrize("kind", KINDS)
def test_only_models_of_newfound_can_be_merged(kind: Any) -> None:
    with pytest.raises(TypeError, match="can only merge with a model of newfound, got list"):
        kind().fit(X, Y).merge([1, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_features_of_different_names_are_not_mixed(kind: Any) -> None:
    one, two = (
        kind().fit(pd.DataFrame(X, columns=names), Y)
        for names in (["weight", "height"], ["height", "weight"])
    )
    before = saved(one)
    with pytest.raises(ValueError, match="features of other names"):
        one.merge(two)
    assert saved(one) == before
    unnamed = kind().fit(X, Y).merge(two)
    assert unnamed.feature_names_in_.tolist() == ["height", "weight"]


@pytest.mark.parametrize("kind", KINDS)
def test_sums_per_class_cannot_be_made_of_sums_that_are_not(kind: Any) -> None:
    one, two = kind(class_weight={}).fit(X, Y), kind().fit(X, Y)
    before = saved(one)
    with pytest.raises(ValueError, match="holds its sums per class and the other does not"):
        one.merge(two)
    assert saved(one) == before
    assert two.merge(one).n_samples_seen_ == 40


def test_a_class_may_be_announced_by_a_model_that_chooses() -> None:
    model = IncrementalRidgeClassifierCV().fit(X[:1], ["a"])
    model.partial_fit(X[1:2], ["a"], classes=["a", "b"])
    assert model.witnesses_[1].tolist() == ["a", "a"]
    assert model.classes_.tolist() == ["a", "b"]
    assert model.predict(X).tolist() == ["a"] * 20
    assert model.partial_fit(X[2:3], ["b"]).class_count_.tolist() == [2, 1]
