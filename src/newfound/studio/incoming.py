"""Models that are brought in: whether a service could look at images with them."""

from pathlib import Path
from typing import TYPE_CHECKING

from newfound.common.errors import InputError, NewfoundError
from newfound.recognition.recogniser import Recogniser

if TYPE_CHECKING:
    from newfound.features.extractor import Extractor

# What an extractor raises that cannot be had: of options that make no sense, of a file or a
# package that is not here.
NOT_TO_BE_HAD = (NewfoundError, ValueError, TypeError, ArithmeticError, OSError, ImportError)


def usable(path: Path, recogniser: Recogniser) -> Recogniser:
    """Return the model of a file, which can take the place of a recogniser's.

    Parameters
    ----------
    path : Path
    recogniser : Recogniser
        It is asked for its extractor, and not changed.

    Returns
    -------
    Recogniser

    Raises
    ------
    InputError
        If it is no model, was taught nothing, or if there is no extractor for it here.
    """
    model = Recogniser(path, None)
    if not model.is_taught:
        raise InputError("this model was taught nothing")
    width = _extractor(model, path, recogniser).width
    if width != model.knowledge.width:
        raise InputError(
            f"this model was taught vectors of {model.knowledge.width} features, but images become "
            f"vectors of {width} here"
        )
    return model


def _extractor(model: Recogniser, path: Path, recogniser: Recogniser) -> "Extractor":
    """Return what would turn images into vectors for a model."""
    try:
        if model.identity is not None and model.identity == recogniser.identity:
            return recogniser.extractor  # which is loaded already
        return Recogniser(path, recogniser.eyes.wanted).extractor
    except InputError:
        raise
    except NOT_TO_BE_HAD as error:
        raise InputError(f"there is no extractor for this model here: {error}") from error
