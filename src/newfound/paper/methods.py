"""The ways to learn that the paper compares, and the one that chooses in the stream."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from newfound.common.arrays import Labels, Rows
from newfound.estimators.classifier import IncrementalRidgeClassifier
from newfound.estimators.classifier_cv import IncrementalRidgeClassifierCV
from newfound.paper.protocol import Labelled
from newfound.paper.timing import step, time_call

# What the paper's table calls its ways to learn, and what figures and the demo call them.
NAMES = {"N": "naive", "RB": "rebalanced", "RC": "recoded", "chosen": "chosen"}
# The three ways of the paper, as parameters.
METHODS: dict[str, dict[str, Any]] = {
    "naive": {"recoding": 0.0},
    "rebalanced": {"class_weight": "balanced"},
    "recoded": {"recoding": 0.7},
}

# As in the authors' code: 20 penalties, from one a row downwards, over three decades.
PENALTIES = np.logspace(0, -3, 20)
# How far scores of the incremental and the batch solution may differ, through rounding.
SAME = 1e-3


def fit_and_validate(
    model: IncrementalRidgeClassifier, known: Labelled, validation: Labelled
) -> None:
    """Fit a model with the largest penalty with which it is right as often as with any other.

    That is, within one standard error of the best. Validation is flat over a decade of penalties,
    and the very best is a matter of luck. Penalties are in proportion to the number of examples.
    """
    model.fit(*known)
    penalties = [float(penalty) for penalty in len(known.y) * PENALTIES]
    scores = [model.set_params(penalty=penalty).score(*validation) for penalty in penalties]
    best = max(scores)
    error = np.sqrt(best * (1 - best) / len(validation.y))
    model.set_params(penalty=penalties[int(np.argmax(np.array(scores) >= best - error))])


class OneModel:
    """A model that learns every example, and answers under one name.

    Parameters
    ----------
    name : str
    model : estimator
    """

    def __init__(self, name: str, model: Any) -> None:
        self.name, self.model = name, model

    def begin(self, known: Labelled, validation: Labelled) -> None:
        """Learn the known classes."""
        self.model.fit(*known)

    def learn(self, X: Rows, y: Labels) -> None:
        """Learn one more example."""
        self.model.partial_fit(X, y)

    def answers(self, X: Rows) -> dict[str, Labels]:
        """Return labels."""
        return {self.name: self.model.predict(X)}


class Fixed(OneModel):
    """One of the three ways, its penalty given beforehand; every step of it is timed.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    """

    # step_seconds: of each step so far: learn one example, predict one.

    def __init__(self, method: str) -> None:
        super().__init__(method, IncrementalRidgeClassifier(**METHODS[method]))
        self.step_seconds: list[float] = []

    def learn(self, X: Rows, y: Labels) -> None:
        """Learn one more example, and predict it."""
        self.step_seconds.append(time_call(step(self.model, X, y, 0)))


class Recoded(OneModel):
    """Naive and recoded: one model, asked with several recodings.

    Parameters
    ----------
    recodings : mapping of name to recoding
    """

    def __init__(self, recodings: Mapping[str, float]) -> None:
        super().__init__("recoded", IncrementalRidgeClassifier(fit_intercept=False))
        self.recodings = recodings

    def begin(self, known: Labelled, validation: Labelled) -> None:
        """Learn the known classes; choose the penalty, once."""
        # Classes of the same size are not recoded, so the penalty is the same for all recodings.
        fit_and_validate(self.model, known, validation)

    def answers(self, X: Rows) -> dict[str, Labels]:
        """Return labels with each recoding."""
        return {
            name: self.model.set_params(recoding=recoding).predict(X)
            for name, recoding in self.recodings.items()
        }


class Rebalanced(OneModel):
    """The class-weighted loss, exact after every example."""

    def __init__(self) -> None:
        model = IncrementalRidgeClassifier(fit_intercept=False, class_weight="balanced")
        super().__init__("RB", model)
        self.rows: list[Labelled] = []

    def begin(self, known: Labelled, validation: Labelled) -> None:
        """Learn the known classes; choose the penalty, once."""
        fit_and_validate(self.model, known, validation)
        self.rows = [known]

    def learn(self, X: Rows, y: Labels) -> None:
        """Learn one more example."""
        super().learn(X, y)
        self.rows.append(Labelled(X, y))

    def agrees_with_batch(self, X: Rows) -> bool:
        """Tell whether scores are those of a model taught all rows at once, to rounding."""
        batch = IncrementalRidgeClassifier(**self.model.get_params())
        batch.fit(*map(np.concatenate, zip(*self.rows, strict=True)))
        order = [batch.classes_.tolist().index(label) for label in self.model.classes_.tolist()]
        expected, scores = batch.decision_function(X)[:, order], self.model.decision_function(X)
        return bool(np.abs(expected - scores).max() <= SAME * np.abs(expected).max())


class Chosen(OneModel):
    """Penalty and recoding chosen in the stream; every example is learned."""

    def __init__(self) -> None:
        super().__init__("chosen", IncrementalRidgeClassifierCV(fit_intercept=False))

    def begin(self, known: Labelled, validation: Labelled) -> None:
        """Learn the known classes from all that others learn and validate on."""
        X, y = (np.concatenate(parts) for parts in zip(known, validation, strict=True))
        # As a stream would bring them: of all classes by turns.
        order = np.random.default_rng(0).permutation(len(y))
        self.model.fit(X[order], y[order])
