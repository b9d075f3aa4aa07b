"""The paper's timing claim: an update takes as long after many examples as after few."""

from statistics import median
from time import perf_counter
from typing import Any

from newfound.estimators.classifier import IncrementalRidgeClassifier
from newfound.paper.studies import Study

STEPS, RETRAININGS = 30, 3


def update_times(study: Study) -> list[dict[str, Any]]:
    """Return the time to learn one example and predict one, and to retrain from scratch.

    Parameters
    ----------
    study : Study

    Returns
    -------
    list of dict
        `k`, examples learned before; `update` and `retrain`, in milliseconds.
    """
    X, y = study.X, study.y
    sizes = [k for k in (100, 1000, 10_000) if k + STEPS <= len(y)]
    found = []
    for k in sizes:
        model = IncrementalRidgeClassifier(fit_intercept=False).fit(X[:k], y[:k])
        model.predict(X[:1])
        updates = []
        for row in range(k, k + STEPS):
            start = perf_counter()
            model.partial_fit(X[row : row + 1], y[row : row + 1])
            model.predict(X[row : row + 1])
            updates.append(perf_counter() - start)
        retrainings = []
        for _ in range(RETRAININGS):
            start = perf_counter()
            IncrementalRidgeClassifier(fit_intercept=False).fit(X[:k], y[:k]).predict(X[:1])
            retrainings.append(perf_counter() - start)
        found.append(
            {
                "k": k,
                "update": round(1e3 * median(updates), 3),
                "retrain": round(1e3 * median(retrainings), 1),
            }
        )
    return found
