"""When two models are the same: in labels and counts to the bit, in sums to rounding."""

from typing import Any

import numpy as np

from tests.oracles import seen_from_zero


def assert_same(model: Any, expected: Any, rtol: float = 1e-12) -> None:
    """Both hold the same sums, classes being matched by label."""
    found, wanted = model.learner_.to_state().sums, expected.learner_.to_state().sums
    if not np.array_equal(found.origin, wanted.origin):
        found, wanted = seen_from_zero(found), seen_from_zero(wanted)
    assert model.classes_.dtype == expected.classes_.dtype
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert model.class_count_.tolist() == expected.class_count_.tolist()
    assert model.n_samples_seen_ == expected.n_samples_seen_
    assert found.dtype == wanted.dtype
    assert found.per_class == wanted.per_class
    scale = max(float(np.abs(wanted.gram).max()), 1e-300)
    np.testing.assert_allclose(np.tril(found.gram), np.tril(wanted.gram), rtol=0, atol=rtol * scale)
    there, here = wanted.cross[:, wanted.order], found.cross[:, found.order]
    scale = max(float(np.abs(there).max()), scale**0.5)
    np.testing.assert_allclose(here, there, rtol=0, atol=rtol * scale)


def assert_identical(model: Any, expected: Any) -> None:
    """Both hold the same bits: sums, and witnesses where there are any."""
    from newfound.sums.arrays import to_arrays

    ours, theirs = model.learner_.to_state().sums, expected.learner_.to_state().sums
    assert ours.labels.tolist() == theirs.labels.tolist()
    for name, array in to_arrays(ours).items():
        np.testing.assert_array_equal(array, to_arrays(theirs)[name], err_msg=name)
    for one, other in zip(model.witnesses_, expected.witnesses_, strict=True):
        np.testing.assert_array_equal(one, other)
