"""A lesson that someone gives before a camera: for some seconds, all that is seen is one thing."""

from collections import Counter
from time import monotonic
from typing import Any
from uuid import uuid4

from numpy.typing import NDArray

from newfound.features.identity import Identity
from newfound.features.images import Image
from newfound.recognition.editor import Editor
from newfound.recognition.sources import NewExample, describe
from newfound.recognition.thumbnails import thumbnail_of
from newfound.robot.thinning import Thinning


class LiveLesson:
    """Teaches frames under one label, but those that hardly differ; all are undone as one.

    Parameters
    ----------
    editor : Editor
    label : str, bool or int
    command : str
        What began it, to be told at its end.
    source : str
        Where the frames come from, in words.
    """

    # began: by the monotonic clock; what came before is not of this lesson. taught: frames.

    def __init__(self, editor: Editor, label: Any, command: str, source: str) -> None:
        self.label, self.command = label, command
        self.began, self.taught = monotonic(), 0
        self._editor, self._source = editor, source
        self._thinning, self._action = Thinning(), f"live {uuid4().hex}"
        self._known = 0

    def show(
        self, image: Image.Image, vector: NDArray[Any], digest: bytes, extractor: Identity
    ) -> bool:
        """Teach a frame, unless it adds nothing; tell whether it was taught."""
        if not (self._thinning.wants(image) and self._thinning.takes(vector)):
            return False
        picture = thumbnail_of(image) if self._editor.keeps_thumbnails else None
        example = NewExample(vector, digest, extractor, self._source, picture)
        edit = self._editor.teach_new(example, self.label, action=self._action)
        self.taught += bool(edit.examples)
        self._known += not edit.examples
        return bool(edit.examples)

    def report(self) -> dict[str, Any]:
        """Return what was taught and what was skipped, also in words."""
        skipped = +Counter({**self._thinning.skipped, "taught already": self._known})
        more = f"; skipped {describe(skipped)}" if skipped else ""
        what = f"taught {self.taught} of {self.label}{more}"
        return {"what": what, "taught": self.taught, "skipped": dict(skipped)}
