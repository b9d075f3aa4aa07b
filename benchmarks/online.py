"""Peers that take rows one at a time by gradient, neighbour or tree: scikit-learn's and river's."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

Rows = NDArray[np.float64]


class Scaled:
    """One of scikit-learn's behind a running StandardScaler, told all classes from the start."""

    def __init__(self, model: Any, classes: Any) -> None:
        self.scaler, self.model, self.classes = StandardScaler(), model, classes

    def partial_fit(self, X: Rows, y: Any) -> None:
        rows = self.scaler.partial_fit(X).transform(X)
        self.model.partial_fit(rows, y, classes=self.classes)

    def predict(self, X: Rows) -> Any:
        return self.model.predict(self.scaler.transform(X))


class River:
    """A classifier of river, whose rows are dicts."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def partial_fit(self, X: Rows, y: Any) -> None:
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            self.model.learn_one(dict(enumerate(row)), label)

    def predict(self, X: Rows) -> Any:
        return np.array([self.model.predict_one(dict(enumerate(row))) for row in X.tolist()])
