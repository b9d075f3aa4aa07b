"""newfound: teach a classifier new things on the fly, exactly and in fixed time."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from newfound.common.errors import (
    InputError,
    MissingDataError,
    ModelFileError,
    NewfoundError,
    NotTaughtError,
    UnreadableImageError,
    WrongExtractorError,
)

if TYPE_CHECKING:
    from newfound import checks as checks
    from newfound import datasets as datasets
    from newfound import features as features
    from newfound import sums as sums
    from newfound.estimators.classifier import (
        IncrementalRidgeClassifier as IncrementalRidgeClassifier,
    )
    from newfound.estimators.classifier_cv import (
        IncrementalRidgeClassifierCV as IncrementalRidgeClassifierCV,
    )
    from newfound.estimators.incremental import IncrementalClassifier as IncrementalClassifier
    from newfound.estimators.loading import load as load
    from newfound.estimators.pipelines import partial_fit as partial_fit
    from newfound.estimators.regressor import IncrementalRidge as IncrementalRidge
    from newfound.layers.layer import Layer as Layer
    from newfound.layers.projection import Projection as Projection
    from newfound.recognition.recogniser import Recogniser as Recogniser

__version__ = "0.2.0"

# Imported on first use: scikit-learn takes a second, and `newfound --help` does not need it.
_HOME = {
    "IncrementalClassifier": "newfound.estimators.incremental",
    "IncrementalRidge": "newfound.estimators.regressor",
    "IncrementalRidgeClassifier": "newfound.estimators.classifier",
    "IncrementalRidgeClassifierCV": "newfound.estimators.classifier_cv",
    "Layer": "newfound.layers.layer",
    "Projection": "newfound.layers.projection",
    "Recogniser": "newfound.recognition.recogniser",
    "load": "newfound.estimators.loading",
    "partial_fit": "newfound.estimators.pipelines",
}
_ROOMS = ("checks", "datasets", "features", "sums")
__all__ = [
    "IncrementalClassifier",
    "IncrementalRidge",
    "IncrementalRidgeClassifier",
    "IncrementalRidgeClassifierCV",
    "InputError",
    "Layer",
    "MissingDataError",
    "ModelFileError",
    "NewfoundError",
    "NotTaughtError",
    "Projection",
    "Recogniser",
    "UnreadableImageError",
    "WrongExtractorError",
    "__version__",
    "checks",
    "datasets",
    "features",
    "load",
    "partial_fit",
    "sums",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"newfound.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
