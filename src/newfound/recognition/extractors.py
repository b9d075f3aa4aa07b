"""Which extractor a model needs, and whether vectors are of that one."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newfound.common.errors import InputError, WrongExtractorError
from newfound.common.locks import new_lock
from newfound.features.identity import Identity

if TYPE_CHECKING:
    from newfound.features.extractor import Extractor


class _Default(str):
    """A name that nobody gave."""


# Told from the same word, given on purpose, by its type.
DEFAULT = _Default("efficientnet-lite0")


class ExtractorChoice:
    """The extractor that somebody wants, made when the first image comes.

    Parameters
    ----------
    wanted : str, Extractor or None
        A name, as on the command line, an extractor, or None for vectors only.
    """

    # _made: the extractor, once it is, behind the identity of the vectors that it was made for.

    def __init__(self, wanted: "str | os.PathLike[str] | Extractor | None") -> None:
        self.wanted = wanted
        self._made: tuple[Identity | None, Extractor | None] = None, None
        self._lock = new_lock()

    def check(self, known: Identity | None) -> None:
        """Raise WrongExtractorError if somebody chose another than what made vectors known."""
        if known is not None and not (self.wanted is None or isinstance(self.wanted, _Default)):
            self.use(self.wanted, known)

    def use(
        self, wanted: "str | os.PathLike[str] | Extractor | None", known: Identity | None
    ) -> None:
        """Want another from now on, or raise WrongExtractorError if vectors are known of others."""
        with self._lock:
            made = None if wanted is None else extractor_for(known, wanted)
            self.wanted, self._made = wanted, (known, made)

    def extractor(self, known: Identity | None) -> "Extractor":
        """Return the extractor for images beside vectors that are known to be of this one."""
        with self._lock:
            made_for, made = self._made
            if made is None or (known != made_for and known != made.identity):
                made = extractor_for(known, self.wanted)
                self._made = known, made
            return made

    def __reduce__(self) -> tuple[Any, ...]:
        return ExtractorChoice, (self.wanted,)  # copies load their network themselves


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
    name = choice if isinstance(choice, str) else type(choice).__name__
    common_identity(known, extractor.identity, f"{name} makes those")
    return extractor
