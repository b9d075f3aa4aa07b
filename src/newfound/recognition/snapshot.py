"""The model's file beside a journal: how far it knows the entries."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from newfound.common.errors import ModelFileError
from newfound.common.files import digest_of
from newfound.recognition.beside import journal_file
from newfound.recognition.journal import Journal
from newfound.recognition.knowledge import Knowledge
from newfound.recognition.replay import changes_array, stored_changes
from newfound.storage import format as file_format

# What snapshots call the journal that they are of, and how far they are.
STORED_ID, STORED_POSITION = "journal.id", "journal.position"


class FileSnapshot:
    """What a model's file holds, if there is one.

    Parameters
    ----------
    path : path-like
        A file that is damaged is made again from its journal, where there is one.

    Raises
    ------
    ModelFileError
        If it is no model, or damaged, and there is no journal.
    """

    # knowledge: what it holds. None: there is no file, or it is damaged.

    def __init__(self, path: Path) -> None:
        self.path = path
        self.knowledge: Knowledge | None = None
        self._marks: Mapping[str, Any] = {}
        if not path.exists():
            return
        try:
            state = file_format.read(path)
            self.knowledge, self._marks = Knowledge.of_state(state, path), state.arrays
            self.knowledge.changes = stored_changes(state)
        except ModelFileError as error:
            if not journal_file(path).exists():
                raise
            warnings.warn(f"{error}; it is made again from its journal", stacklevel=4)

    @property
    def digest(self) -> bytes:
        """What the file is known by."""
        return digest_of(self.path.read_bytes())

    def position(self, journal: Journal) -> int | None:
        """Return up to which entry it knows a journal; None: it is none of it."""
        name, at = self._marks.get(STORED_ID), self._marks.get(STORED_POSITION)
        if name is None or at is None or name.tobytes() != journal.id or at.shape != (1,):
            mark, entry = journal.found
            # One that was taken in, and killed before the next snapshot.
            return entry if mark and self.knowledge is not None and mark == self.digest else None
        position = int(at[0])
        return position if 0 <= position <= journal.last else None


def marks_of(journal: Journal, changes: int) -> dict[str, Any]:
    """Return what a snapshot says of its journal, whose last entry it knows."""
    return {
        STORED_ID: np.frombuffer(journal.id, np.uint8),
        STORED_POSITION: np.array([journal.last]),
        **changes_array(changes),
    }
