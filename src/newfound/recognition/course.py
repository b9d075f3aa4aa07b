"""Lessons on the workers of a Dask cluster, which read images, look at them and sum the vectors.

Chunks and groups of chunks are cut from the list of images, chosen and merged in its order. Which
worker was faster, or was lost, decides nothing.
"""

import asyncio
import pickle
import secrets
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from newfound.common.errors import ClusterError
from newfound.recognition.chunks import (
    Choice,
    Chunk,
    Recipe,
    Record,
    add_up,
    look,
    records_of,
    remembered,
)
from newfound.recognition.sources import (
    ImageAddress,
    ImageFile,
    ImageInMemory,
    Problem,
    Sources,
)

if TYPE_CHECKING:
    from newfound.recognition.lesson import Lesson

Image = ImageFile | ImageAddress
# As distributed has it, whose types are half said.
Future = Any

# Images that a worker looks at in one go, and chunks whose images are learned as one.
CHUNK, GROUP = 16, 32
# Groups that may wait to be learned, beside those that workers are looking at.
WAITING = 2
# Seconds after which to see whether there are workers, and to wait for one if there are none.
LOOK_UP, ALONE = 5.0, 60.0


def teach(lesson: "Lesson", found: Sources, client: Any) -> Iterator[None]:
    """Teach all that was found, files on the workers of a cluster, and yield once for each.

    Vectors and images in memory are taught here, first. A lesson that is broken off has learned
    whole groups of images, and can be gone on with.

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
    extractor = recogniser.extractor_for(found)
    files = [image for image in found.images if not isinstance(image, ImageInMemory)]
    here: list[Any] = [image for image in found.images if isinstance(image, ImageInMemory)]
    rest = Sources(found.need_labels, here, found.vectors, found.passed_over, found.problems)
    for example in recogniser.examples(rest, lesson.wants):
        lesson.add(example)
        yield
    lesson.learn()
    if files:
        recogniser.check_labels(found)
        yield from Course(lesson, client, Recipe(pickle.dumps(extractor))).run(files)


class Looking(NamedTuple):
    """A group of chunks that workers are looking at."""

    images: list[list[Image]]  # of each chunk, as the user calls them, with labels of the model
    seen: list[Future]  # what was seen, which stays with the workers
    records: list[Future]


class Summing(NamedTuple):
    """A group whose images are being added up."""

    part: Future  # to be merged
    names: list[str]
    group: Looking


class Course:
    """A lesson under way on a cluster.

    Parameters
    ----------
    lesson : Lesson
    client : distributed.Client
    recipe : Recipe
        Of the extractor.
    """

    # chosen: images that workers are adding up, by label and digest.
    # summing: what will be learned next, in order.
    # names: of the images of each task that may fail, by its key.
    # old: labels under which something was taught before, which workers may leave out.
    # taught: what that is, by label, once a worker is to know: a task each.
    # Data goes to workers as tasks of its own: when a worker is lost, it can be had again.

    def __init__(self, lesson: "Lesson", client: Any, recipe: Recipe) -> None:
        self.lesson, self.client = lesson, client
        self.chosen = set[tuple[Any, bytes]]()
        self.summing = deque[Summing]()
        self.names: dict[Any, list[str]] = {}
        known = {} if lesson.again else lesson.recogniser.taught.digests
        self.old = {label for label, digests in known.items() if digests}
        self.taught: dict[Any, Future] = {}
        self.run_id, self.tasks = secrets.token_hex(8), 0
        self.recipe = self._submit(_itself, recipe)
        self.blank = self._submit(_itself, lesson.recogniser.blank())

    def run(self, images: Sequence[Image]) -> Iterator[None]:
        """Teach images, and yield once for each."""
        coming, looking = iter(images), deque[Looking]()
        while True:
            while len(looking) < self._most_ahead():
                some = list(islice(coming, CHUNK * GROUP))
                if not some:
                    break
                looking.append(self._look(some))
            if not looking:
                break
            yield from self._learn(looking.popleft())
            while len(self.summing) > WAITING:
                self._take()
        while self.summing:
            self._take()

    def _most_ahead(self) -> int:
        """Return how many groups workers may look at: two chunks for each thread, and no more."""
        with self._naming():
            threads: int = sum(self.client.nthreads().values())
        return 2 + 2 * threads // GROUP

    def _look(self, images: list[Image]) -> Looking:
        """Have workers look at a group of images."""
        label = self.lesson.recogniser.label
        images = [image._replace(label=label(image.label)) for image in images]
        chunks = [images[start : start + CHUNK] for start in range(0, len(images), CHUNK)]
        seen = []
        for chunk in chunks:
            labels = dict.fromkeys(image.label for image in chunk)
            taught = {each: self._taught(each) for each in labels}
            known = {each: future for each, future in taught.items() if future is not None}
            where = Chunk([_for_worker(image) for image in chunk], list(known))
            seen.append(self._submit(look, self.recipe, where, *known.values()))
            self.names[seen[-1].key] = [str(image.path) for image in chunk]
        return Looking(chunks, seen, [self._submit(records_of, each) for each in seen])

    def _taught(self, label: Any) -> Future | None:
        """Return what was taught under a label before this lesson, for workers; None: nothing."""
        if label not in self.old:
            return None
        if label not in self.taught:
            digests = self.lesson.recogniser.taught.digests[label]
            self.taught[label] = self._submit(remembered, b"".join(digests))
        return self.taught[label]

    def _learn(self, group: Looking) -> Iterator[None]:
        """Choose what is to be learned of a group that was looked at, and have it added up."""
        choices: list[Choice] = []
        for number, (images, records) in enumerate(zip(group.images, group.records, strict=True)):
            names = [str(image.path) for image in images]
            self._take_while_waiting_for(records, names)
            seen = self._result(records, names)
            for place, (image, record) in enumerate(zip(images, seen, strict=True)):
                if self._is_chosen(image, record):
                    where = number, place, image.label, record.digest, str(image.path)
                    choices.append(Choice(*where))
                yield
        if choices:
            names = [choice.name for choice in choices]
            future = self._submit(add_up, self.blank, self.recipe, choices, *group.seen, first=True)
            self.summing.append(Summing(future, names, group))
        else:
            self._drop(group)

    def _is_chosen(self, image: Image, record: Record) -> bool:
        """Note what became of an image; tell whether it is to be learned."""
        lesson, key = self.lesson, (image.label, record.digest)
        if record.problem is not None:
            lesson.problems.append(Problem(str(image.path), record.problem))
            return False
        if lesson.again:
            return True
        is_new = record.has_vector and key not in self.chosen
        if not is_new or lesson.recogniser.taught.count(*key):
            lesson.known += 1
            return False
        self.chosen.add(key)
        return True

    def _take_while_waiting_for(self, future: Future, names: list[str]) -> None:
        """Learn groups that are added up until workers have looked at images of these names."""
        while self.summing and not future.done():
            self._wait([future, self.summing[0].part], names)
            if self.summing[0].part.done():
                self._take()

    def _take(self) -> None:
        """Learn the group that is next."""
        future, names, group = self.summing.popleft()
        part = self._result(future, names)
        self.lesson.take(part)
        self._drop(group)
        for label, digests in part.taught.digests.items():
            self.chosen.difference_update((label, digest) for digest in digests)

    def _drop(self, group: Looking) -> None:
        """Forget the names of images that are done with."""
        for each in group.seen:
            del self.names[each.key]

    def _result(self, future: Future, names: list[str]) -> Any:
        """Return what a worker makes of images of these names, once it is there.

        Results stay with workers until they are asked for. If those that had this one died, it is
        made again.
        """
        alone = 0.0
        with self._naming(names):
            # Asked for once, and looked after: a client whose gathering is broken off, as
            # `future.result(timeout=...)` does, never gathers that again.
            coming = asyncio.run_coroutine_threadsafe(
                self.client.gather(future, asynchronous=True), self.client.loop.asyncio_loop
            )
            while not futures.wait([coming], timeout=LOOK_UP).done:
                alone = self._alone(alone)
            return coming.result()

    def _wait(self, either: list[Future], names: list[str]) -> None:
        """Wait until one of these is done, but not for ever if there is nobody to do it."""
        import distributed

        wait: Any = distributed.wait
        alone = 0.0
        while not any(future.done() for future in either):
            with self._naming(names), self.client.as_current():
                try:
                    wait(either, timeout=LOOK_UP, return_when="FIRST_COMPLETED")
                except TimeoutError:
                    alone = self._alone(alone)

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
    def _naming(self, names: Sequence[str] = ()) -> Iterator[None]:
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
            lost = "\n".join(self.names.get(error.task, names))
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

    def _submit(self, function: Any, *given: Any, first: bool = False) -> Future:
        self.tasks += 1
        key = f"newfound-{function.__name__.strip('_')}-{self.run_id}-{self.tasks}"
        # What adds up goes before what looks further ahead.
        with self._naming():
            return self.client.submit(function, *given, key=key, pure=False, priority=int(first))


def _itself(thing: Any) -> Any:
    return thing


def _for_worker(image: Image) -> Image:
    """Return an image under a name that does not depend on where this process is."""
    if isinstance(image, ImageAddress):
        return image
    return image._replace(path=image.path.absolute())
