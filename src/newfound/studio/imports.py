"""An import of examples: how far it is, how much it may take, and an end before its end."""

import asyncio
import secrets
from functools import partial
from time import monotonic
from typing import Any
from zipfile import ZipFile

from newfound.common.files import digest_of
from newfound.features.images import count_pixels
from newfound.recognition.sources import Problem
from newfound.studio.archives import ArchiveImage, read
from newfound.studio.service import LessonRequest, Service
from newfound.studio.workers import Lane

# Letters of a file's name that an example's source holds.
LONGEST_SOURCE = 200
GO_ON = "import the same zip again to go on"


class ExampleImport:
    """Teaches the images of a zip in turn with everybody else's. They are undone as one.

    It ends early if it is stopped, or has taken as many pixels or seconds as it may. What was
    learned by then stays. Images that are known already take no pixels, so that a second import of
    the same zip goes on where the first ended.

    Parameters
    ----------
    service : Service
    archive : ZipFile
    images : list of ArchiveImage
    problems : list of Problem
        What cannot be used, as far as it is known; more are added.
    """

    # done: images that were looked at. stopped: why it ends early. _pixels: of images decoded.

    def __init__(
        self,
        service: Service,
        archive: ZipFile,
        images: list[ArchiveImage],
        problems: list[Problem],
    ) -> None:
        self.done, self.stopped = 0, ""
        self._service, self._archive, self._images = service, archive, images
        self._problems, self._counts = problems, {"taught": 0, "known": 0}
        self._lane, self._action = Lane(), f"import-{secrets.token_hex(8)}"
        self._pixels, self._start = 0, monotonic()

    @property
    def progress(self) -> dict[str, int]:
        """How many images were looked at, and of how many."""
        return {"done": self.done, "of": len(self._images)}

    def stop(self) -> None:
        """Take no more images than the one under way."""
        self.stopped = "it was stopped"

    async def run(self) -> dict[str, Any]:
        """Teach, and return what became of the images."""
        self._service.importing = self
        try:
            for image in self._images:
                self._check_limits()
                if self.stopped:
                    break
                await self._take(image)
                self.done += 1
                self._service.board.tell()
        finally:
            self._service.importing = None
            self._service.board.tell()
        return {
            **self._counts,
            "problems": [problem._asdict() for problem in self._problems],
            "left": len(self._images) - self.done,
            "stopped": self.stopped or None,
        }

    def _check_limits(self) -> None:
        limits = self._service.limits
        if self._pixels >= limits.import_pixels:
            most = f"{limits.import_pixels // 1_000_000:,} megapixels"
        elif monotonic() - self._start > limits.import_seconds:
            most = f"{limits.import_seconds / 60:g} minutes"
        else:
            return
        self.stopped = self.stopped or f"an import may take {most}; {GO_ON}"

    async def _take(self, image: ArchiveImage) -> None:
        service = self._service
        try:
            label = image.label
            data = await asyncio.to_thread(read, self._archive, image)
            if service.editor.is_taught(digest_of(data), label):
                self._counts["known"] += 1
                return
            self._pixels += await asyncio.to_thread(count_pixels, data)
            source = f"zip: {image.name[-LONGEST_SOURCE:]}"
            lesson = LessonRequest(data, label, source, None, self._action)
            work = partial(service.lesson_now, lesson, monotonic())
            done, _ = await service.in_lane(self._lane, work)
        except ValueError as error:  # also UnreadableImageError, and labels that cannot be
            self._problems.append(Problem(image.name, str(error)))
        else:
            self._counts["taught" if done["examples"] else "known"] += 1
