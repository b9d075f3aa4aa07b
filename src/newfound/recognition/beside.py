"""What lies beside a model's file."""

import os
from pathlib import Path


def journal_file(model: str | os.PathLike[str]) -> Path:
    """Return where the journal of a model is.

    >>> journal_file("kitchen.newfound").name
    'kitchen.newfound.journal'
    """
    path = Path(os.path.realpath(model))
    return path.with_name(f"{path.name}.journal")


def exists(model: str | os.PathLike[str]) -> bool:
    """Tell whether there is a model, or a journal that one can be made of."""
    return Path(model).exists() or journal_file(model).exists()
