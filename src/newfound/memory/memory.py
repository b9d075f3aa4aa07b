"""Everything taught: sums, and witnesses beside them, changed together or not at all."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Index, Labels, Rows
from newfound.common.device import Array, Device, namespace_of, on_host
from newfound.common.errors import InputError
from newfound.common.interrupts import uninterrupted
from newfound.memory.batch import Batch
from newfound.memory.layer import Layer
from newfound.memory.witnesses import Witnesses
from newfound.sums.arrays import moved
from newfound.sums.labels import join_labels
from newfound.sums.sums import Sums

# The one class of rows that end in targets.
EVERYTHING = "everything"


class Memory:
    """Sums over all rows, and copies of a few of them; whatever else a model has follows from it.

    Parameters
    ----------
    sums : Sums
        Taken over.
    witnesses : Witnesses
    cap : int, default=0
        How many witnesses of a class are kept, at most.
    targets : int, default=0
        How many numbers at the end of each row are targets of a regression, k.
    layer : Layer, optional
        From rows (m, d) to what is added up of them, shape (m, D).

    Examples
    --------
    >>> memory = Memory.blank(1, cap=40)
    >>> memory.add(memory.batch(np.array([[0.0], [1.0]]), np.array(["cup", "mug"])))
    >>> memory.sums.counts.tolist(), memory.witnesses["mug"].rows
    ([1, 1], (array([1.]),))
    """

    # device: where the sums live; None: on the host.

    def __init__(
        self,
        sums: Sums,
        witnesses: Witnesses,
        cap: int = 0,
        targets: int = 0,
        layer: Layer | None = None,
    ) -> None:
        self.sums, self.witnesses, self.cap, self.targets = sums, witnesses, cap, targets
        self.layer, self.device = layer, sums.device

    @classmethod
    def blank(
        cls,
        width: int,
        *,
        per_class: bool = False,
        cap: int = 0,
        seed: int = 0,
        targets: int = 0,
        device: Device | None = None,
        layer: Layer | None = None,
        is_centred: bool = False,
    ) -> "Memory":
        """Return one that holds nothing, for rows of so many features."""
        features = width if layer is None else layer.outputs
        sums = Sums(features + targets, per_class or targets > 0, device, is_centred)
        return cls(sums, Witnesses(seed), cap, targets, layer)

    @property
    def width(self) -> int:
        """How many features rows have, without targets, d."""
        return self.sums.width - self.targets if self.layer is None else self.layer.inputs

    def features(self, rows: Array) -> Array:
        """Return what is added up of rows; targets, in which rows may end, stay what they are."""
        if self.layer is None:
            return rows
        if not self.targets:
            return self.layer(rows)
        parts = self.layer(rows[:, : self.width]), rows[:, self.width :]
        return namespace_of(rows).concat(parts, axis=1)

    def place(self, array: Array) -> Array:
        """Return an array from anywhere, of its own type, where the sums live."""
        return on_host(array) if self.device is None else self.device.put(array, double=False)

    def batch(
        self, rows: Array, y: Labels, weights: Floats | None = None, announced: Labels | None = None
    ) -> Batch:
        """Return rows (m, d) with labels (m,), all of them checked, as what may be added.

        Classes that are announced get their place, too. Raises ValueError if labels are of another
        type than those that are known.
        """
        if self.device is not None or not isinstance(rows, np.ndarray):
            rows = self.place(rows)
        if announced is None:
            index, labels = self.sums.locate(y)
        else:
            index, labels = self.sums.locate(join_labels(announced, y))
            index = index[len(announced) :]
        features = rows if self.layer is None else self.features(rows)
        return Batch(rows, features, index, labels, weights)

    def add(self, batch: Batch, *also: Callable[[], object]) -> None:
        """Take rows in, all or none; what else is to change with them is done as one, last."""
        if self.cap:
            witnesses = self.witnesses.add(on_host(batch.rows), batch.y, self.cap, batch.weights)
            also = (partial(setattr, self, "witnesses", witnesses), *also)
        self.sums.add(batch.features, batch.of_class, batch.labels, batch.weights, *also)

    def prepare_removal(self, batch: Batch) -> Callable[[], Index]:
        """Do all that can fail of taking rows out; return a function that does the rest.

        That returns the classes that vanished. Raises NotTaughtError if not all can have been
        taught.
        """
        also = []
        if self.witnesses.of_class:
            left = self.witnesses.remove(on_host(batch.rows), batch.y, batch.weights)
            also = [partial(self._keep_only, left)]
        return self.sums.prepare_removal(batch.features, batch.of_class, batch.weights, *also)

    def _keep_only(self, witnesses: Witnesses) -> None:
        """Keep of these witnesses those of the classes there are."""
        self.witnesses = witnesses.only(self.sums.labels.tolist())

    def remove_class(self, label: Any) -> None:
        """Take out all rows of a class, whose own Gram is held."""
        with uninterrupted():
            self.sums.remove_classes(np.array([self.sums.position(label)]))
            self._keep_only(self.witnesses)

    def rename(self, old: Any, new: Labels) -> None:
        """Give class `old` the label in `new`, shape (1,); a class that has it takes `old` in."""
        label = new.tolist()[0]
        witnesses = self.witnesses
        if label != old and witnesses.of_class:
            witnesses = witnesses.rename(old, label, self.cap)
        with uninterrupted():
            self.sums.rename(old, new)
            self.witnesses = witnesses

    def merge(self, other: "Memory") -> None:
        """Add everything another holds; classes are matched by label. Merge into a copy."""
        if self.targets != other.targets:
            raise InputError(
                f"cannot merge: {other.width} features and {other.targets} targets there, "
                f"{self.width} and {self.targets} here"
            )
        if self.layer != other.layer:
            raise InputError("cannot merge: the other model has another layer before its sums")
        self.sums.merge(other.sums)
        if self.cap:
            self.witnesses = self.witnesses.merge(other.witnesses, self.cap)

    def blank_like(self) -> "Memory":
        """Return one on the host that holds nothing, for rows and parameters such as these."""
        sums = Sums(self.sums.width, self.sums.per_class, None, self.sums.is_centred)
        return Memory(sums, Witnesses(self.witnesses.seed), self.cap, self.targets, self.layer)

    def copy(self) -> "Memory":
        """Return another that holds the same."""
        return self._with(copy.deepcopy(self.sums))

    def move(self, device: Device | None) -> "Memory":
        """Return another that holds the same, on a device or, with None, on the host."""
        return self.copy() if device == self.device else self._with(moved(self.sums, device))

    def _with(self, sums: Sums) -> "Memory":
        return Memory(sums, self.witnesses, self.cap, self.targets, self.layer)

    def learn(self, rows: Array, y: Labels, weights: Floats | None = None) -> None:
        """Take in rows (m, d) with labels (m,), all of them checked, where no solver follows."""
        self.add(self.batch(rows, y, weights))

    def centre(self, is_centred: bool) -> None:
        """See rows from near them from now on, or from zero, as it must be without an intercept."""
        if is_centred != self.sums.is_centred:
            if not is_centred and self.sums.origin is not None:
                self.sums.move_origin(None)
            self.sums.is_centred = is_centred

    def keep(self, cap: int, seed: int) -> None:
        """Keep so many witnesses of each class from now on, drawn by this seed."""
        if (cap, seed) != (self.cap, self.witnesses.seed):
            self.cap, self.witnesses = cap, Witnesses(seed, self.witnesses.of_class)

    def rows_of(self, label: Any) -> Rows:
        """Return copies of the rows of a class that are still held as they came, shape (m, d).

        All of them while a class that has sums of its own has few; else its witnesses.
        """
        rows = self.sums.rows_of(label)
        kept = self.witnesses[label].rows
        if self.layer is not None:  # the sums hold what that has made of them
            rows = np.zeros((0, self.width + self.targets))
        return rows if len(rows) or not kept else np.array(kept)
