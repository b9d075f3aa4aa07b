"""From a file to a model."""

import os

from newfound.estimators.classifier import IncrementalRidgeClassifier
from newfound.estimators.classifier_cv import IncrementalRidgeClassifierCV
from newfound.storage import format as file_format

_KINDS = (IncrementalRidgeClassifier, IncrementalRidgeClassifierCV)


def load(path: str | os.PathLike[str]) -> IncrementalRidgeClassifier:
    """Read a model that its `save` wrote.

    Raises `newfound.ModelFileError` if the file is damaged or not a model. Loading never runs
    code from the file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    IncrementalRidgeClassifier or IncrementalRidgeClassifierCV
        With the sums, the labels and the parameters as they were saved.

    Examples
    --------
    >>> import os, tempfile
    >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "kitchen.newfound"))
    ...     load(os.path.join(folder, "kitchen.newfound")).classes_
    array(['cup', 'mug'], dtype='<U3')
    """
    return model_of(file_format.read(path), path)


def model_of(state: file_format.State, path: str | os.PathLike[str]) -> IncrementalRidgeClassifier:
    """Return the model that a file holds, or raise ModelFileError."""
    kinds = {kind.__name__: kind for kind in _KINDS}
    kind = kinds.get(state.estimator)
    if kind is None:
        name = state.estimator[:50]
        raise file_format.ModelFileError(
            f"{os.fspath(path)}: holds a {name}, which this version does not know"
        )
    try:
        return kind.from_state(state)
    except Exception as error:  # whatever parameters that are none make of it
        said = f"{error}"[:200]
        raise file_format.ModelFileError(
            f"{os.fspath(path)}: damaged: its parameters are not a model's ({said})"
        ) from error
