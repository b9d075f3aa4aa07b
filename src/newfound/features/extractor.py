"""What all extractors share: images in, vectors out, several at a time."""

import os
import threading
import traceback
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError, UnreadableImageError
from newfound.common.files import digest_of
from newfound.common.threads import cores
from newfound.features.images import Image, Source, as_rgb, read_file
from newfound.features.preprocessing import Preprocessing
from newfound.features.transformer import Transformer


class Extracted(NamedTuple):
    """What became of one image."""

    source: Any
    digest: bytes  # of the bytes of the file; empty where there is none
    row: NDArray[np.float32] | None  # None: unreadable, or not wanted
    problem: UnreadableImageError | None


class Extractor(Transformer):
    """Images in, vectors out.

    Every worker reads, decodes and prepares its images and then runs the network on them, on one
    core. While one decodes, others compute, and no core waits for another. To scikit-learn it is a
    transformer.
    """

    # identity: what its vectors are known by. width: number of features, d.
    # prepare: from an RGB image to what the network takes.
    # smallest: fewest pixels a side of an image must have to mean anything to the network.
    # batch_size: images that a worker takes at a time.

    prepare: Preprocessing
    smallest: int = 16
    batch_size: int = 4
    _of_thread = threading.local()

    @abstractmethod
    def run(self, batch: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return features, shape (m, width), of what `prepare` made of m images.

        They must not share memory with `batch`, which is used again.
        """

    def __call__(self, images: Iterable[Source]) -> NDArray[np.float32]:
        """Return the features of images, shape (m, width).

        Parameters
        ----------
        images : iterable of paths, bytes of files, PIL images or uint8 arrays
            (h, w) or (h, w, 3)

        Returns
        -------
        ndarray of shape (m, width), float32

        Raises
        ------
        UnreadableImageError
            If any of them cannot be used.
        """
        if isinstance(images, str | bytes | os.PathLike | np.ndarray | Image.Image):
            raise InputError("give a list of images, also of a single one")
        rows = []
        for index, extracted in enumerate(self.stream(images)):
            if extracted.row is None:
                is_file = isinstance(extracted.source, str | os.PathLike)
                name = os.fspath(extracted.source) if is_file else f"image {index}"
                raise UnreadableImageError(f"{name}: {extracted.problem}")
            rows.append(extracted.row)
        return np.array(rows, dtype=np.float32).reshape(-1, self.width)

    def one(self, image: Source) -> NDArray[np.float32]:
        """Return the features of one image, shape (width,), in this very thread.

        Parameters
        ----------
        image : path, bytes of a file, PIL image or uint8 array

        Returns
        -------
        ndarray of shape (width,), float32

        Raises
        ------
        UnreadableImageError
            If it cannot be used.
        """
        extracted = self._extract([image], None)[0]
        if extracted.row is None:
            raise UnreadableImageError(str(extracted.problem))
        return extracted.row

    def stream(
        self,
        sources: Iterable[Source],
        wanted: Callable[[Any, bytes], bool] | None = None,
        threads: int | None = None,
        at_once: int | None = None,
    ) -> Iterator[Extracted]:
        """Yield what became of each image, in order, a few ahead of what is asked for.

        Parameters
        ----------
        sources : iterable of paths, bytes of files, PIL images or uint8 arrays
        wanted : callable, optional
            Given a source and the digest of its bytes, says whether its vector is wanted. Called
            in other threads.
        threads : int, optional
            How many of these there are. By default one for each core.
        at_once : int, optional
            How many images each takes at a time, if fewer than `batch_size`. For each thread, twice
            as many are held.

        Yields
        ------
        Extracted
        """
        workers, size = threads or cores(), min(at_once or self.batch_size, self.batch_size)
        remaining = iter(sources)
        chunks = iter(lambda: list(islice(remaining, size)), [])
        coming: deque[Future[list[Extracted]]] = deque()
        pool = ThreadPoolExecutor(workers, thread_name_prefix="newfound-images")
        try:
            while True:
                for chunk in islice(chunks, 2 * workers - len(coming)):
                    coming.append(pool.submit(self._extract, chunk, wanted))
                if not coming:
                    return
                yield from coming.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _extract(
        self, sources: list[Any], wanted: Callable[[Any, bytes], bool] | None
    ) -> list[Extracted]:
        results: list[Extracted] = []
        prepared: list[int] = []
        batch = self._workspace()
        for source in sources:
            digest = b""
            try:
                data = _read(source)
                if isinstance(data, bytes):
                    digest = digest_of(data)
                if wanted is None or wanted(source, digest):
                    image = as_rgb(data, smallest=self.smallest, enough=self.prepare.enough)
                    self.prepare(image, out=batch[len(prepared)])
                    prepared.append(len(results))
                results.append(Extracted(source, digest, None, None))
            except UnreadableImageError as problem:
                _drop_locals(problem)
                results.append(Extracted(source, digest, None, problem))
        if prepared:
            rows = self.run(batch[: len(prepared)])
            for index, row in zip(prepared, rows, strict=True):
                results[index] = results[index]._replace(row=row)
        return results

    def _workspace(self) -> NDArray[np.float32]:
        """Return the array for batches of this thread, which is kept: making it anew takes time."""
        shape = (self.batch_size, *self.prepare.shape)
        workspace: NDArray[np.float32] | None = getattr(self._of_thread, "workspace", None)
        if workspace is None or workspace.shape != shape:
            workspace = self._of_thread.workspace = np.empty(shape, dtype=np.float32)
        return workspace


def _drop_locals(error: BaseException | None) -> None:
    """Let go of what was at hand when an error came: images half decoded.

    They would stay until the garbage collector comes, for the error is kept where it was caught.
    """
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _read(source: Any) -> Any:
    """Return the bytes of a file, or what is in memory already.

    An image that lies elsewhere has a method `read` that gets at the bytes of its file, or raises
    UnreadableImageError.
    """
    if isinstance(source, str | os.PathLike):
        return read_file(source)
    return source.read() if hasattr(source, "read") else source
