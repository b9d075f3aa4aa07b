"""Images that the workers of a Dask cluster turn into vectors, in the order of the list.

Sums are made here: a vector of the default network takes 5 KB on its way and 0.2 ms to learn, and
to make it takes 20 ms. So a lesson on a cluster is one like any other, to the last bit, whichever
worker was faster or was lost.
"""

import asyncio
import pickle
import secrets
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from newfound.common.errors import ClusterError
from newfound.recognition.chunks import Chunk, Recipe, look, remembered
from newfound.recognition.reading import examples, extractor_for
from newfound.recognition.sources import Example, ImageAddress, ImageFile, ImageInMemory, Sources

if TYPE_CHECKING:
    from newfound.features.extractor import Extractor
    from newfound.recognition.lesson import Lesson

Image = ImageFile | ImageAddress
# As distributed has it, whose types are half said.
Future = Any

# Images that a worker looks at in one go.
CHUNK = 16
# Seconds after which to see whether there are workers, and to wait for one if there are none.
LOOK_UP, ALONE = 5.0, 60.0


def teach(lesson: "Lesson", found: Sources, client: Any) -> Iterator[None]:
    """Teach all that was found, files with the eyes of a cluster, and yield once for each.

    Vectors and images in memory are taught first. A lesson that is broken off has learned whole
    blocks of images, and can be gone on with.

    Parameters
    ----------
    lesson : Lesson
    found : Sources
    client : distributed.Client

    Raises
    ------
    ClusterError
        If workers cannot do it. What was learned before stays learned.
    """
    recogniser = lesson.recogniser
    recogniser.knowledge.check_labels(found.labels)
    extractor = extractor_for(recogniser, found)
    files = [image for image in found.images if not isinstance(image, ImageInMemory)]
    here: list[Any] = [image for image in found.images if isinstance(image, ImageInMemory)]
    rest = Sources(found.need_labels, here, found.vectors, found.passed_over, found.problems)
    for example in examples(recogniser, rest, lesson.wants):
        lesson.add(example)
        yield
    if files and extractor is not None:
        for example in RemoteExamples(lesson, client, extractor).of(files):
            lesson.add(example)
            yield
    lesson.learn()


class RemoteExamples:
    """Examples of images that workers look at.

    Parameters
    ----------
    lesson : Lesson
        What they are for.
    client : distributed.Client
    extractor : Extractor
    """

    # names: of the images of each task, by its key.
    # old: labels under which something was taught before, which workers may leave out.
    # taught: what that is, by label, once a worker is to know: a task each.
    # Data goes to workers as tasks of its own: when a worker is lost, it can be had again.

    def __init__(self, lesson: "Lesson", client: Any, extractor: "Extractor") -> None:
        self.lesson, self.client, self.extractor = lesson, client, extractor
        self.names: dict[Any, list[str]] = {}
        known = {} if lesson.again else lesson.recogniser.taught.digests
        self.old = {label for label, digests in known.items() if digests}
        self.taught: dict[Any, Future] = {}
        self.run_id, self.tasks = secrets.token_hex(8), 0
        self.recipe = self._submit(_itself, Recipe(pickle.dumps(extractor)))

    def of(self, images: Sequence[Image]) -> Iterator[Example]:
        """Yield an example of each image, in order."""
        coming, looking = iter(images), deque[tuple[list[Image], Future]]()
        while True:
            while len(looking) < self._most_ahead() and (chunk := list(islice(coming, CHUNK))):
                looking.append(self._look(chunk))
            if not looking:
                return
            chunk, future = looking.popleft()
            seen = self._result(future)
            del self.names[future.key]
            for image, (digest, vector, problem) in zip(chunk, seen, strict=True):
                name, made_by = str(image.path), self.extractor.identity
                yield Example(name, image.label, digest, vector, problem, extractor=made_by)

    def _most_ahead(self) -> int:
        """Return how many chunks workers may look at: two for each thread, and a few."""
        with self._naming():
            threads: int = sum(self.client.nthreads().values())
        return 2 + 2 * threads

    def _look(self, images: list[Image]) -> tuple[list[Image], Future]:
        """Have a worker look at images."""
        label = self.lesson.recogniser.label
        images = [image._replace(label=label(image.label)) for image in images]
        labels = dict.fromkeys(image.label for image in images if image.label in self.old)
        taught = [self._taught(label) for label in labels]
        chunk = Chunk([_for_worker(image) for image in images], list(labels))
        future = self._submit(look, self.recipe, chunk, *taught)
        self.names[future.key] = [str(image.path) for image in images]
        return images, future

    def _taught(self, label: Any) -> Future:
        """Return what was taught under a label before this lesson, for workers."""
        if label not in self.taught:
            digests = self.lesson.recogniser.taught.digests[label]
            self.taught[label] = self._submit(remembered, b"".join(digests))
        return self.taught[label]

    def _result(self, future: Future) -> Any:
        """Return what a worker has seen, once it is there.

        Results stay with workers until they are asked for. If those that had this one died, it is
        made again.
        """
        alone = 0.0
        with self._naming():
            # Asked for once, and looked after: a client whose gathering is broken off, as
            # `future.result(timeout=...)` does, never gathers that again.
            coming = asyncio.run_coroutine_threadsafe(
                self.client.gather(future, asynchronous=True), self.client.loop.asyncio_loop
            )
            while not futures.wait([coming], timeout=LOOK_UP).done:
                alone = self._alone(alone)
            return coming.result()

    def _alone(self, before: float) -> float:
        """Return for how long there are no workers by now; raise ClusterError if too long."""
        alone = 0.0 if self.client.nthreads() else before + LOOK_UP
        if alone > ALONE:
            raise ClusterError(
                f"the cluster has had no workers for {ALONE:.0f} s; what was learned is kept, "
                "and can be gone on with"
            )
        return alone

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Say in words what goes wrong with a cluster, and with which images.

        It stands around what is asked of the client alone: other files have errors of their own.
        """
        from distributed.client import ClosedClientError
        from distributed.scheduler import KilledWorker

        # A connection that is closed, or times out, is an OSError.
        gone = futures.CancelledError, ClosedClientError, OSError
        try:
            yield
        except KilledWorker as error:
            lost = "\n".join(self.names.get(error.task, ()))
            raise ClusterError(
                f"{error.allowed_failures + 1} workers died, one after the other, over the same "
                "files; what was learned before is kept, and without those that are to blame it "
                f"can be gone on with:\n{lost}"
            ) from error
        except gone as error:
            raise ClusterError(
                "the cluster is gone; what was learned is kept, and can be gone on with"
            ) from error
        except ModuleNotFoundError as error:  # of a worker that came later, without newfound
            raise ClusterError(f"a worker cannot take part: {error}") from error

    def _submit(self, function: Any, *values: Any) -> Future:
        self.tasks += 1
        key = f"newfound-{function.__name__.strip('_')}-{self.run_id}-{self.tasks}"
        with self._naming():
            return self.client.submit(function, *values, key=key, pure=False)


def _itself(thing: Any) -> Any:
    return thing


def _for_worker(image: Image) -> Image:
    """Return an image under a name that does not depend on where this process is."""
    if isinstance(image, ImageAddress):
        return image
    return image._replace(path=image.path.absolute())
