"""Which images a model was taught under which label, by the digests of their files."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError, NotTaughtError
from newfound.common.files import DIGEST_BYTES
from newfound.storage.table import Arrays, Sizes


class TaughtImages:
    """Digests of what was taught, by label: 16 bytes an image, and 8 for its class in a file.

    Examples
    --------
    >>> taught = TaughtImages()
    >>> taught.add("mug", b"0" * 16)
    >>> taught.rename("mug", "cup")
    >>> taught.count("cup", b"0" * 16), len(taught)
    (1, 1)
    """

    # digests[label]: how often each image was taught as that.

    def __init__(self) -> None:
        self.digests: dict[Any, Counter[bytes]] = {}

    def __len__(self) -> int:
        return sum(digests.total() for digests in self.digests.values())

    def copy(self) -> "TaughtImages":
        """Return one that remembers the same."""
        other = TaughtImages()
        other.digests = {label: digests.copy() for label, digests in self.digests.items()}
        return other

    def count(self, label: Any, digest: bytes) -> int:
        """Return how often an image was taught under a label."""
        known = self.digests.get(label)
        return 0 if known is None else known[digest]

    def check(self, pairs: Iterable[tuple[Any, bytes]]) -> None:
        """Raise NotTaughtError if images are not remembered under their labels, where any are."""
        for (label, digest), times in Counter(pairs).items():
            if len(self) and self.count(label, digest) < times:
                raise NotTaughtError(f"an image with this digest was not taught as {label}")

    def add(self, label: Any, digest: bytes) -> None:
        """Remember an image."""
        if len(digest) != DIGEST_BYTES:
            raise InputError(f"a digest has {DIGEST_BYTES} bytes, got {len(digest)}")
        self.digests.setdefault(label, Counter())[digest] += 1

    def remove(self, label: Any, digest: bytes) -> None:
        """Forget one copy of an image, if there is one."""
        known = self.digests.get(label, Counter())
        if known[digest] > 1:
            known[digest] -= 1
        else:
            del known[digest]  # a Counter does not mind if it is not there

    def drop(self, label: Any) -> None:
        """Forget all images of a label."""
        self.digests.pop(label, None)

    def rename(self, old: Any, new: Any) -> None:
        """Remember the images of one label under another."""
        self.digests[new] = self.digests.pop(old, Counter()) + self.digests.get(new, Counter())

    def merge(self, other: "TaughtImages") -> int:
        """Remember what another does, too; return how many images both did."""
        both = 0
        for label, digests in other.digests.items():
            ours = self.digests.get(label, Counter())
            both += (ours & digests).total()
            self.digests[label] = ours + digests
        return both

    def to_arrays(self, labels: list[Any]) -> dict[str, NDArray[Any]]:
        """Return arrays for the model file, whose classes are `labels`."""
        digests, index = [], []
        for row, label in enumerate(labels):
            known = sorted(self.digests.get(label, Counter()).elements())
            digests += known
            index += [row] * len(known)
        return {
            "memory.digests": np.frombuffer(b"".join(digests), np.uint8).reshape(-1, DIGEST_BYTES),
            "memory.class": np.array(index, dtype=np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, labels: list[Any]) -> "TaughtImages":
        """Return the images that `to_arrays` was asked of, or raise ValueError."""
        sizes = Sizes()
        index = sizes.take(arrays, "memory.class", high=len(labels) - 1)
        digests = sizes.take(arrays, "memory.digests")
        taught = cls()
        for digest, row in zip(digests, index.tolist(), strict=True):
            taught.add(labels[row], digest.tobytes())
        return taught
