"""What benchmarks say about our rivals is true of them."""

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV


@pytest.mark.parametrize("intercept", [False, True])
def test_rivals_are_judged_by_their_own_answers_also_where_a_class_came_late(
    intercept: bool,
) -> None:
    from benchmarks import choosing  # here, for collection shall not load it

    stream = next(choosing.of_scikit_learn(0))
    late = np.argsort(np.isin(stream.y, [0, 8]), kind="stable")[:-230]
    stream = stream._replace(X=stream.X[late], y=stream.y[late], fit_intercept=intercept)
    fixed, hindsight = choosing.rivals(stream, len(late))
    spread = ((stream.X - stream.X.mean(axis=0) * intercept) ** 2).mean()

    def accuracy(penalty: float, recoding: float) -> float:
        model = IncrementalRidgeClassifier(penalty, recoding, fit_intercept=intercept)
        answers = model.fit(stream.X, stream.y).predict(stream.X_test)
        return choosing.per_class(answers, stream.y_test)

    assert fixed == pytest.approx(accuracy(600 * spread, 0.7))
    length = 64 * spread
    some = [accuracy(length * penalty, a) for penalty in (0.01, 0.1, 1.0) for a in (0.0, 0.5, 0.8)]
    assert hindsight >= max(some) - 1e-9
    assert hindsight < 100


def test_a_stream_is_taught_row_by_row() -> None:
    from benchmarks import choosing

    stream = next(choosing.of_scikit_learn(0))
    stream = stream._replace(moments=(70, 300))
    found = choosing.judge(stream)
    model = IncrementalRidgeClassifierCV()
    for moment, start, end in zip(found, (0, 70), (70, 300), strict=True):
        model.partial_fit(stream.X[start:end], stream.y[start:end])
        answers = model.predict(stream.X_test)
        assert moment.chosen == pytest.approx(choosing.per_class(answers, stream.y_test))
        assert moment.hindsight >= moment.fixed
