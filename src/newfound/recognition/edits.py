"""How what a recogniser knows is changed, by lessons and front doors.

`Knowledge` (knowledge.py) makes edits and nothing more; an `Editor` (editor.py) writes each into a
journal first.
"""

import os
from collections.abc import Sequence
from typing import Any, Protocol

from newfound.recognition.knowledge import Knowledge
from newfound.recognition.sources import NewExample


class Edits(Protocol):
    """What changes a recogniser's knowledge."""

    @property
    def lock(self) -> Any:
        """Hold it to make several edits as one: a reentrant lock."""

    @property
    def keeps_thumbnails(self) -> bool:
        """Whether pictures of what is taught are kept."""

    def teach(
        self, examples: Sequence[NewExample], labels: Sequence[Any], *, at_once: bool = False
    ) -> Any:
        """Learn examples, also if they were taught before; at once, if answers shall not wait."""

    def forget(self, examples: Sequence[NewExample], labels: Sequence[Any]) -> Any:
        """Take back examples, as if they had never been taught."""

    def forget_class(self, label: Any) -> Any:
        """Take back all that was taught with a label."""

    def rename(self, old: Any, new: Any) -> Any:
        """Give a class another label; a class that has it already takes it in."""

    def merge(self, other: Knowledge) -> int:
        """Learn all that another was taught; return how many images both were."""

    def refresh(self) -> None:
        """Choose parameters now."""

    def refresh_if_due(self) -> None:
        """Choose parameters if a good part of what is known came or went since the last time."""

    def save(self, path: str | os.PathLike[str], *, refresh: bool) -> None:
        """Write all that is known to a file; choose parameters before, if anything changed."""
