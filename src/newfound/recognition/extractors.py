"""Which extractor a model needs, and whether vectors are of that one."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from newfound.common.errors import InputError, WrongExtractorError
from newfound.features.identity import Identity

if TYPE_CHECKING:
    from newfound.features.extractor import Extractor


class _Default(str):
    """A name that nobody gave."""


# Told from the same word, given on purpose, by its type.
DEFAULT = _Default("efficientnet-lite0")


def is_given(choice: "str | os.PathLike[str] | Extractor | None") -> bool:
    """Tell whether someone chose an extractor."""
    return choice is not None and not isinstance(choice, _Default)


def common_identity(
    known: Identity | None,
    other: Identity | None,
    what: str,
    whose: str = "this model was taught vectors",
) -> Identity | None:
    """Return the identity of both, where either is known, or raise WrongExtractorError.

    Examples
    --------
    >>> common_identity(None, Identity("pixels"), "these are").name
    'pixels'
    >>> common_identity(Identity("pixels"), Identity("onnx"), "these are")
    Traceback (most recent call last):
    newfound.WrongExtractorError: this model was taught vectors of pixels, but these are of ...
    """
    if known is not None and other is not None and known != other:
        differences = known.differences(other)
        raise WrongExtractorError(
            f"{whose} of {known}, but {what} of {other}: "
            "the numbers of one mean nothing to the other"
            f"{f'; they differ in {differences}' if differences else ''}"
        )
    return known or other


def extractor_for(
    known: Identity | None, choice: "str | os.PathLike[str] | Extractor | None"
) -> "Extractor":
    """Return the extractor that a model needs, or the one chosen if it needs none in particular.

    Parameters
    ----------
    known : Identity, optional
        Of the vectors that the model was taught.
    choice : str, Extractor or None
        A name, as on the command line. For a model of an ONNX file it may be where that file is.
        A name that says nothing of roots leaves them as the model has them.

    Returns
    -------
    Extractor

    Raises
    ------
    WrongExtractorError
        If the one chosen is another than the model's.
    """
    from newfound.features.catalog import extractor_from_identity, extractor_from_name

    if choice is None:
        raise InputError("there is no extractor: this takes vectors, and no images")
    if isinstance(choice, os.PathLike):
        choice = os.fspath(choice)
    if not isinstance(choice, str):
        extractor = choice
    elif known is None:
        return extractor_from_name(choice)
    elif isinstance(choice, _Default):
        return extractor_from_identity(known)
    elif known.name in ("onnx", "caffenet") and Path(choice).is_file():
        return extractor_from_identity(known, choice)
    else:
        extractor = extractor_from_name(choice, known.root)
    common_identity(known, extractor.identity, f"{_name(choice)} makes those")
    return extractor


def _name(choice: "str | Extractor") -> str:
    return os.fspath(choice) if isinstance(choice, str) else type(choice).__name__
