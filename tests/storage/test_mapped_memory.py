"""Models in memory that cannot be written to."""

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import newfound
from newfound import IncrementalRidgeClassifier
from tests.streams import assert_same_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 10))
Y = np.array(list("abcd") * 50)


@pytest.mark.parametrize("rows", [1, 2, 40])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_model_mapped_from_a_file_answers_and_learns(
    class_weight: Any, rows: int, tmp_path: Path
) -> None:
    """BLAS writes to read-only memory without asking, and the process is gone."""
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y).partial_fit(X, Y)
    model.predict(X)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    np.testing.assert_array_equal(mapped.predict(X), model.predict(X))
    mapped.save(tmp_path / "model.newfound")
    assert newfound.load(tmp_path / "model.newfound").n_samples_seen_ == 400
    mapped.partial_fit(X[:rows], Y[:rows])
    assert_same_scores(mapped, model.partial_fit(X[:rows], Y[:rows]), X)
    mapped = joblib.load(tmp_path / "model", mmap_mode="r").forget(X[:rows], Y[:rows])
    assert_same_scores(mapped, model.forget(X[:rows], Y[:rows]).forget(X[:rows], Y[:rows]), X)
