"""From what a file holds to a learner, without scikit-learn."""

import os
from typing import Any

from newfound.learner.learner import Fitted, Learner
from newfound.learner.schema import Schema
from newfound.solvers.settings import SelectionSettings, Settings
from newfound.storage.format import ModelFileError, State
from newfound.storage.model import engine_of, unpack_projection

# The classifiers, as model files name them, and what their parameters are.
KINDS: dict[str, Any] = {
    "IncrementalClassifier": SelectionSettings,
    "IncrementalRidgeClassifier": Settings,
    "IncrementalRidgeClassifierCV": SelectionSettings,
}


def learner_of(
    state: State, path: str | os.PathLike[str], kinds: dict[str, Any] = KINDS
) -> Learner:
    """Return the learner that a file holds, which takes over the state, or raise ModelFileError.

    Parameters
    ----------
    state : State
    path : str or path-like
        Of the file, which errors name.
    kinds : dict of str to type, default=KINDS
        What estimators it may be of, and what their parameters are.
    """
    if state.estimator not in kinds:
        name = state.estimator[:50]
        raise ModelFileError(f"{os.fspath(path)}: holds a {name}, which this version does not know")
    try:
        engine = engine_of(state, kinds[state.estimator])
    except Exception as error:  # whatever invalid parameters make of it
        raise ModelFileError(
            f"{os.fspath(path)}: damaged: its parameters are not a model's ({f'{error}'[:200]})"
        ) from error
    projection = unpack_projection(state.arrays)
    width = engine.memory.width if projection is None else projection.inputs
    schema = Schema(width, state.feature_names, projection)
    schema.targets, schema.is_flat = state.targets, state.is_flat
    return Learner(engine.settings, kind=state.estimator, learned=Fitted(schema, engine))
