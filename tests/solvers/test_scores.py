"""Scores are what weights and intercept make of rows, however many come, wherever they live."""

from typing import Any

import numpy as np
import pytest

from newfound.common.device import on_host
from newfound.solvers.base import solver_for
from newfound.solvers.settings import Settings
from newfound.sums.sums import Sums
from tests.devices import NEEDS, PLACES, device, placed
from tests.taught import sample

ELSEWHERE = [pytest.param(place, marks=NEEDS.get(place, [])) for place in PLACES]


@pytest.mark.parametrize("place", [None, *ELSEWHERE])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_are_what_weights_and_intercept_make_of_rows(
    place: str | None, class_weight: Any, fit_intercept: bool, dtype: Any
) -> None:
    X, y = sample(60, width=7)
    there = X.astype(dtype) if place is None else placed(X.astype(dtype), place)
    sums = Sums(7, class_weight is not None, None if place is None else device(place))
    solver = solver_for(sums, Settings(2.0, 0.0, class_weight, fit_intercept), 2.0)
    atol = 1e-12 if dtype is np.float64 else 1e-6
    factors = np.array([1.0, 2.0, 0.5, 3.0])
    for part in (slice(0, 40), *(slice(n, n + 1) for n in range(40, 60))):
        index, labels = sums.locate(y[part])
        solver.learn(there[part, :], index, labels)
        sums.add(there[part, :], index, labels)
        rows = X.astype(dtype).astype(np.float64)
        expected = (rows @ on_host(solver.weights) + on_host(solver.intercept)) * factors
        for few in (slice(0, 1), slice(0, 60)):
            found = on_host(solver.scores(there[few, :], factors))
            np.testing.assert_allclose(found, expected[few], atol=atol)
