"""What benchmarks say about our rivals is true of them."""

from typing import Any

import numpy as np

from newfound import IncrementalRidgeClassifierCV
from newfound.datasets import digits


def test_rivals_are_judged_by_their_own_answers_also_where_a_class_came_late() -> None:
    from benchmarks import choosing  # here, for collection shall not load it

    X, y = digits()
    is_late = np.isin(y[:1200], [0, 8])

    def taught(**parameters: Any) -> IncrementalRidgeClassifierCV:
        model = IncrementalRidgeClassifierCV(**parameters)
        for part in (np.flatnonzero(~is_late), np.flatnonzero(is_late)):
            model.partial_fit(X[part], y[part])
        return model

    truth = y[1200:]
    found = choosing.judge(taught(), X[1200:], truth, [8])
    for name, recoding in (("naive", 0.0), ("recoding 0.7", 0.7)):
        answers = taught(rule=None, recodings=(recoding,)).predict(X[1200:])
        of_class = [100 * np.mean(answers[truth == label] == label) for label in range(10)]
        np.testing.assert_allclose(found.total[name], np.mean(of_class))
        np.testing.assert_allclose(found.rare[name], of_class[8])
