"""Teaching a pipeline on: scikit-learn's has no `partial_fit`."""

from typing import Any

from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from newfound.common.errors import InputError


def partial_fit(pipeline: Pipeline, X: Any, y: ArrayLike, **params: Any) -> Pipeline:
    """Have the last step of a pipeline learn what the steps before it make of `X`.

    These stay as they are: what would have to be fitted first, such as a scaler, is refused unless
    it was.

    Parameters
    ----------
    pipeline : Pipeline
        Of scikit-learn. Its last step has `partial_fit`.
    X : anything that the first step takes
    y : array-like of shape (m,)
        Labels.
    **params : dict
        For `partial_fit` of the last step, such as `classes`.

    Returns
    -------
    pipeline

    Raises
    ------
    InputError
        If a step has to be fitted first, or the last one cannot learn on.
    ValueError
        If rows or labels are none; then the model is as it was.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import HashingVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> import newfound
    >>> model = newfound.IncrementalRidgeClassifier()
    >>> pipeline = make_pipeline(HashingVectorizer(n_features=64), model)
    >>> for text, label in ("a mug of tea", "mug"), ("the red ball", "ball"):
    ...     _ = newfound.partial_fit(pipeline, [text], [label])
    >>> pipeline.predict(["tea"])
    array(['mug'], dtype='<U4')
    """
    if not isinstance(pipeline, Pipeline):
        raise InputError(f"partial_fit takes a Pipeline, got a {type(pipeline).__name__}")
    *steps, (name, last) = pipeline.steps
    if not hasattr(last, "partial_fit"):
        raise InputError(f"the last step, {name!r}, has no partial_fit")
    steps = [(name, step) for name, step in steps if step not in (None, "passthrough")]
    for name, step in steps:
        _check_fitted(name, step)
    for _, step in steps:
        X = step.transform(X)
    last.partial_fit(X, y, **params)
    return pipeline


def _check_fitted(name: str, step: Any) -> None:
    try:
        check_is_fitted(step)
    except NotFittedError as error:
        raise InputError(
            f"step {name!r} has to be fitted before the pipeline can learn on: fit it, or the "
            "whole pipeline, to examples of what will come; it then stays as it is"
        ) from error
