"""The same answer with any number of threads, and no step that does much more than others."""

from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.common import pieces
from newfound.common.pieces import Task
from newfound.selection.pending import SMALLEST_PIECE
from newfound.solvers.renewal import PIECE

MODELS = [
    IncrementalRidgeClassifier(),
    IncrementalRidgeClassifier(class_weight="balanced"),
    IncrementalRidgeClassifierCV(min_class_count=5),
    IncrementalRidgeClassifierCV(min_class_count=5, class_weight={}),
]


def stream(n: int, width: int, classes: int = 5) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    return rng.normal(size=(n, width)) + rng.normal(size=(classes, width))[y], y


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_single_rows_come_to_the_same_bits_with_any_number_of_threads(
    model: Any, dtype: Any
) -> None:
    X, y = stream(150, 300)
    X = X.astype(dtype)
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads, user_api="blas"):
            learner = type(model)(**model.get_params())
            scores = []
            for n in range(len(y)):
                learner.partial_fit(X[n : n + 1], y[n : n + 1])
                if n % 7 == 0:
                    scores.append(learner.predict_proba(X[n : n + 1]).tobytes())
            assert set(blas_threads()) == {threads}
        found.append((scores, learner.coef_.tobytes(), learner.novelty(X[:1]).tobytes()))
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_batches_come_to_the_same_result_with_any_number_of_threads(model: Any) -> None:
    X, y = stream(900, 260)
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads, user_api="blas"):
            learner = type(model)(**model.get_params()).fit(X[:700], y[:700])
            learner.partial_fit(X[700:], y[700:]).forget(X[:30], y[:30])
            found.append(learner.scores(X))
            assert set(blas_threads()) == {threads}
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "classes"), [(24, 4), (96, 12)])
def test_no_step_does_more_than_its_piece(
    width: int, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in operations, once the model is no longer young."""
    spent: list[float] = []

    def counted(tasks: list[Task]) -> list[Task]:
        def count(task: Task) -> Task:
            def run() -> None:
                spent[-1] += task.cost
                task.run()

            return Task(task.cost, run)

        return [count(task) for task in tasks]

    original = pieces.Pieces._begin_stage  # noqa: SLF001  (every task passes here)

    def begin(self: Any) -> None:
        original(self)
        self._tasks.extend(counted([self._tasks.popleft() for _ in range(len(self._tasks))]))

    monkeypatch.setattr(pieces.Pieces, "_begin_stage", begin)
    X, y = stream(1500, width, classes)
    model = IncrementalRidgeClassifierCV(min_class_count=10)
    for n in range(len(y)):
        spent.append(0.0)
        model.partial_fit(X[n : n + 1], y[n : n + 1])
        spent.append(0.0)
        model.predict(X[n : n + 1])
    piece = max(SMALLEST_PIECE, PIECE * width**2)
    assert max(spent[600:]) <= 1.5 * piece
    assert sum(spent[600::2]) > piece / 2
    assert max(spent[601::2]) <= piece / 10  # questions do none of it
