"""A model's recogniser, with what its journal says, where it has one."""

import os
from typing import TYPE_CHECKING

from newfound.recognition.beside import journal_file
from newfound.recognition.extractors import DEFAULT
from newfound.recognition.recogniser import Recogniser

if TYPE_CHECKING:
    from newfound.features.extractor import Extractor


def open_to_look(
    path: str | os.PathLike[str],
    extractor: "str | os.PathLike[str] | Extractor | None" = DEFAULT,
) -> Recogniser:
    """Return the recogniser of a model, up to date with its journal, to which it has no tie.

    Parameters
    ----------
    path : str or path-like
    extractor : str, Extractor or None, default="efficientnet-lite0"
        As for `Recogniser`.

    Returns
    -------
    Recogniser

    Raises
    ------
    ModelFileError, JournalError
        If the model's file, or the journal, cannot be read.
    """
    if not journal_file(path).exists():
        return Recogniser(path, extractor)
    from newfound.recognition.editor import Editor

    editor = Editor(path, extractor, read_only=True)
    editor.journal.close()
    editor.recogniser.edits = editor.knowledge
    return editor.recogniser
