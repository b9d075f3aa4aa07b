"""From a file to a model."""

import os
from typing import TYPE_CHECKING, Any

from newfound.estimators.torch_device import torch_device
from newfound.learner.learner import Learner
from newfound.learner.loading import KINDS, learner_of
from newfound.solvers.settings import RegressionSettings
from newfound.storage import format as file_format

if TYPE_CHECKING:
    from newfound.estimators.base import IncrementalEstimator

# All estimators, as model files name them, and what their parameters are.
ESTIMATORS = {**KINDS, "IncrementalRidge": RegressionSettings}


def load(path: str | os.PathLike[str], device: Any = None) -> Any:
    """Read a model that its `save` wrote.

    Loading never runs code from the file.

    Parameters
    ----------
    path : str or path-like
    device : str or torch.device, optional
        Where it is to live, such as "cuda", wherever it was saved from. By default on the host,
        with numpy's arrays.

    Returns
    -------
    IncrementalClassifier, IncrementalRidgeClassifier, IncrementalRidgeClassifierCV or
    IncrementalRidge
        With the sums, the labels and the parameters as they were saved.

    Raises
    ------
    ModelFileError
        If the file is damaged or not a model.
    OSError
        If it cannot be read.
    ValueError
        If there is no such device.

    Examples
    --------
    >>> import os, tempfile
    >>> from newfound import IncrementalRidgeClassifier
    >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "kitchen.newfound"))
    ...     load(os.path.join(folder, "kitchen.newfound")).classes_
    array(['cup', 'mug'], dtype='<U3')
    """
    there = None if device is None else torch_device(device)
    state = file_format.read(path)
    model = as_estimator(learner_of(state, path, ESTIMATORS))
    return model if there is None else model.move_to(there)


def as_estimator(learner: Learner) -> "IncrementalEstimator":
    """Return an estimator over a learner; imports scikit-learn, which takes a second or two."""
    from newfound.estimators.base import over
    from newfound.estimators.classifier import IncrementalRidgeClassifier
    from newfound.estimators.classifier_cv import IncrementalRidgeClassifierCV
    from newfound.estimators.incremental import IncrementalClassifier
    from newfound.estimators.regressor import IncrementalRidge

    kinds = (
        IncrementalClassifier,
        IncrementalRidgeClassifier,
        IncrementalRidgeClassifierCV,
        IncrementalRidge,
    )
    by_name: dict[str, type[IncrementalEstimator]] = {kind.__name__: kind for kind in kinds}
    return over(by_name[learner.kind], learner)
