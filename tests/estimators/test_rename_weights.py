"""Weights are those of labels, not of places."""

import numpy as np

from newfound import IncrementalRidgeClassifier
from tests.streams import assert_same_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 10))
Y = np.array(list("abcd") * 50)


def test_weights_by_label_follow_a_rename_whatever_is_set_in_between() -> None:
    model = IncrementalRidgeClassifier(class_weight={"a": 5.0}).fit(X, Y)
    model.predict(X)
    model.set_params(class_weight="balanced").rename_class("a", "z")
    model.set_params(class_weight={"a": 5.0})
    other = IncrementalRidgeClassifier(class_weight={"a": 5.0}).fit(X, np.where(Y == "a", "z", Y))
    assert_same_scores(model, other, X)
