"""From a file to a model."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from newfound.common.errors import InputError
from newfound.estimators.learner import KINDS, Learner
from newfound.estimators.torch_device import torch_device
from newfound.storage import format as file_format

if TYPE_CHECKING:
    from newfound.estimators.classifier import IncrementalRidgeClassifier


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
    IncrementalRidgeClassifier, IncrementalRidgeClassifierCV or IncrementalRidge
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
    if state.estimator == "IncrementalRidge":
        return _regressor(state, path, there is not None)
    model = as_estimator(learner_of(state, path))
    return model if there is None else model.move_to(there)


def _regressor(state: file_format.State, path: str | os.PathLike[str], on_device: bool) -> Any:
    """Return the regressor that a file holds, or raise ModelFileError."""
    from newfound.estimators.regressor import IncrementalRidge

    if on_device:
        raise InputError("an IncrementalRidge lives on the host: load it without a device")
    with _naming(path):
        return IncrementalRidge.from_state(state)


def learner_of(state: file_format.State, path: str | os.PathLike[str]) -> Learner:
    """Return the learner that a file holds, or raise ModelFileError; without scikit-learn."""
    if state.estimator not in KINDS:
        name = state.estimator[:50]
        raise file_format.ModelFileError(
            f"{os.fspath(path)}: holds a {name}, which this version does not know"
        )
    with _naming(path):
        return Learner.from_state(state)


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file in what goes wrong."""
    try:
        yield
    except Exception as error:  # whatever parameters that are none make of it
        said = f"{error}"[:200]
        raise file_format.ModelFileError(
            f"{os.fspath(path)}: damaged: its parameters are not a model's ({said})"
        ) from error


def as_estimator(learner: Learner) -> "IncrementalRidgeClassifier":
    """Return the estimator that a learner is without its face; it takes over all of it.

    What was a plain learner must not be used any more. An estimator is returned as it is.
    """
    kinds = estimators()
    if isinstance(learner, kinds["IncrementalRidgeClassifier"]):
        return learner
    return kinds[learner.kind]().take_over(learner)


def estimators() -> "dict[str, type[IncrementalRidgeClassifier]]":
    """Return the estimators by name; imports scikit-learn, which takes a second or two."""
    from newfound.estimators.classifier import IncrementalRidgeClassifier
    from newfound.estimators.classifier_cv import IncrementalRidgeClassifierCV

    kinds = (IncrementalRidgeClassifier, IncrementalRidgeClassifierCV)
    return {kind.__name__: kind for kind in kinds}
