"""What was done to a model, and how it is undone and done again."""

from typing import NamedTuple, Protocol

from newfound.common.errors import InputError


class NothingToUndoError(InputError):
    """There is nothing to undo, or to redo."""


class Edit(NamedTuple):
    """What became of an edit."""

    position: int  # of the journal's last entry, after it; 0 where there is none
    repeated: bool  # its key was seen before: nothing was done again
    what: str  # in words
    examples: list[int]  # that it made or changed


class History(Protocol):
    """The past of a model: every edit, with a journal; the last command, without one."""

    def undo(self) -> Edit:
        """Take back what was done last, or raise NothingToUndoError."""

    def redo(self) -> Edit:
        """Do again what was undone last, or raise NothingToUndoError."""

    def forget_past(self) -> Edit:
        """Let go of all that undo could bring back."""
