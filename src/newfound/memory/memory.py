"""Everything taught: sums, and witnesses beside them, changed together or not at all."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Floats, Index, Labels, Rows
from newfound.common.device import Array, Device, namespace_of, on_host
from newfound.common.errors import InputError, NotTaughtError
from newfound.common.interrupts import uninterrupted
from newfound.layers.layer import FIRST_ROWS, Layer
from newfound.memory.batch import Batch
from newfound.memory.witnesses import Witnesses
from newfound.sums.arrays import moved
from newfound.sums.buffer import NOT_HELD
from newfound.sums.labels import join_labels
from newfound.sums.leading import leading_copy
from newfound.sums.sums import Sums

# The one class of rows that end in targets.
EVERYTHING = "everything"
OTHER_LAYER = (
    "cannot merge: the other model has another layer before its sums, or none. Merge both into a "
    "model with layer=None, which is exact and linear; or give all models one layer before they "
    "learn: layer=Layer.of(rows)"
)


class OtherLayerError(InputError):
    """Models with different layers before their sums are to be merged."""


class Quota(NamedTuple):
    """How many witnesses are kept."""

    of_class: int = 0  # of each class, at least, if there are so many
    in_all: int = 0  # and of all together

    def of_each(self, classes: int) -> int:
        """Return how many are kept of each of so many classes.

        >>> Quota(40, 1000).of_each(5), Quota(40, 1000).of_each(100)
        (200, 40)
        """
        return max(self.of_class, -(-self.in_all // max(1, classes)))


NOTHING = Quota()


def _sizes(memory: "Memory") -> str:
    targets = f" and {memory.targets} targets" if memory.targets else ""
    return f"{memory.width} features{targets}"


class Memory:
    """Sums over all rows, and copies of a few of them; whatever else a model has follows from it.

    Parameters
    ----------
    sums : Sums
        Taken over.
    witnesses : Witnesses
    quota : Quota, optional
        How many witnesses are kept; none by default.
    targets : int, default=0
        How many numbers at the end of each row are targets of a regression, k.
    layer : Layer, optional
        From rows (m, d) to what is added up of them, shape (m, D).
    units : int, default=0
        Of a layer that is made of the first rows, once there are enough; 0: of none. Until then the
        memory is young: rows are added up as they come, and all of them are witnesses.

    Examples
    --------
    >>> memory = Memory.blank(1, quota=Quota(40))
    >>> memory.add(memory.batch(np.array([[0.0], [1.0]]), np.array(["cup", "mug"])))
    >>> memory.sums.counts.tolist(), memory.witnesses["mug"].rows
    ([1, 1], (array([1.]),))
    """

    # device: where the sums live; None: on the host.

    def __init__(
        self,
        sums: Sums,
        witnesses: Witnesses,
        quota: Quota = NOTHING,
        targets: int = 0,
        layer: Layer | None = None,
        units: int = 0,
    ) -> None:
        self.sums, self.witnesses, self.quota, self.targets = sums, witnesses, quota, targets
        self.layer, self.units, self.device = layer, units, sums.device

    @classmethod
    def blank(
        cls,
        width: int,
        *,
        per_class: bool = False,
        quota: Quota = NOTHING,
        seed: int = 0,
        targets: int = 0,
        device: Device | None = None,
        layer: Layer | None = None,
        units: int = 0,
        is_centred: bool = False,
    ) -> "Memory":
        """Return one that holds nothing, for rows of so many features."""
        features = width if layer is None else layer.outputs
        sums = Sums(features + targets, per_class or targets > 0, device, is_centred)
        return cls(sums, Witnesses(seed), quota, targets, layer, units)

    @property
    def is_young(self) -> bool:
        """Whether a layer is to come."""
        return self.layer is None and self.units > 0

    @property
    def cap(self) -> int:
        """How many witnesses of a class are kept now, at most."""
        return self._cap(self.sums.n_classes)

    def _cap(self, classes: int) -> int:
        cap = self.quota.of_each(classes)
        return max(cap, FIRST_ROWS) if self.is_young else cap

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
        before, cap = self.cap, self._cap(len(batch.labels))
        if cap:
            witnesses = self.witnesses.add(on_host(batch.rows), batch.y, cap, batch.weights)
            if cap < before:
                witnesses = witnesses.first(cap)
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
            gone = batch.size if batch.weights is None else batch.weights.sum()
            if self.is_young and not left.hold_all(self.sums.weight_sum, gone):
                raise NotTaughtError(NOT_HELD)
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
        if (self.width, self.targets) != (other.width, other.targets):
            raise InputError(f"cannot merge: {_sizes(other)} there, {_sizes(self)} here")
        ours, other = _behind_one_layer(self, other)
        if ours is not self:
            self._become(ours)
        self.sums.merge(other.sums)
        cap = self.sums.total if self.is_young else self.cap
        if cap:
            self.witnesses = self.witnesses.merge(other.witnesses, cap)
        if self.is_due:
            self._become(self.grown())

    @property
    def holds_all(self) -> bool:
        """Whether all rows are among the witnesses."""
        return self.witnesses.hold_all(self.sums.weight_sum)

    @property
    def is_due(self) -> bool:
        """Whether it has the rows to make its layer of."""
        return self.is_young and self.sums.total >= FIRST_ROWS

    def layer_to_come(self) -> Layer:
        """Return the layer that suits the rows there are, once there are enough."""
        rows, _ = self.witnesses.stack(self.sums.labels, self.width + self.targets)
        return Layer.of(rows[:, : self.width], self.units, self.witnesses.seed)

    def grown(self) -> "Memory":
        """Return one that holds the same behind the layer that was to come."""
        return self.behind(self.layer_to_come())

    def behind(self, layer: Layer) -> "Memory":
        """Return one that holds the same rows, all of which are witnesses, behind a layer."""
        ours, labels = self.sums, self.sums.labels
        rows, index = self.witnesses.stack(labels, self.width + self.targets)
        weights: Floats | None = self.witnesses.weights(labels)
        assert weights is not None
        if not ours.is_weighted:  # then they say how often a row came
            times = np.rint(weights).astype(np.intp)
            rows, index, weights = np.repeat(rows, times, axis=0), np.repeat(index, times), None
        blank = Memory.blank(
            self.width,
            per_class=ours.per_class,
            targets=self.targets,
            device=self.device,
            layer=layer,
            is_centred=ours.is_centred,
        )
        features = blank.features(self.place(rows.astype(ours.dtype or np.float64)))
        blank.sums.add(features, index, labels, weights)
        blank.sums.counts = ours.counts
        if weights is not None and len(rows) < ours.total:
            for gram in blank.sums.grams:  # of a row that came again, no one knows each weight
                gram.let_go()
        cap = self.quota.of_each(len(labels))
        witnesses = self.witnesses.first(cap) if cap else Witnesses(self.witnesses.seed)
        return Memory(blank.sums, witnesses, self.quota, self.targets, layer, self.units)

    def cut(self, units: int) -> "Memory":
        """Return one of fewer units, the first; with none, the part that is linear in rows."""
        sums, layer, witnesses = self.sums, self.layer, self.witnesses
        if layer is not None:  # the leading block of all sums
            sums = moved(leading_copy(sums, self.width + units), self.device)
            layer = layer.cut(units) if units else None
        cut = Memory(sums, witnesses, self.quota, self.targets, layer, units)
        cut.witnesses = witnesses.first(cut.cap) if cut.cap else Witnesses(witnesses.seed)
        return cut

    def _become(self, other: "Memory") -> None:
        vars(self).update(vars(other))

    def blank_like(self) -> "Memory":
        """Return one on the host that holds nothing, for rows and parameters such as these."""
        sums = Sums(self.sums.width, self.sums.per_class, None, self.sums.is_centred)
        seed = self.witnesses.seed
        return Memory(sums, Witnesses(seed), self.quota, self.targets, self.layer, self.units)

    def copy(self) -> "Memory":
        """Return another that holds the same."""
        return self._with(copy.deepcopy(self.sums))

    def move(self, device: Device | None) -> "Memory":
        """Return another that holds the same, on a device or, with None, on the host."""
        return self.copy() if device == self.device else self._with(moved(self.sums, device))

    def _with(self, sums: Sums) -> "Memory":
        witnesses = self.witnesses
        return Memory(sums, witnesses, self.quota, self.targets, self.layer, self.units)

    def learn(self, rows: Array, y: Labels, weights: Floats | None = None) -> None:
        """Take in rows (m, d) with labels (m,), all of them checked, where no solver follows."""
        self.add(self.batch(rows, y, weights))

    def centre(self, is_centred: bool) -> None:
        """See rows from near them from now on, or from zero, as it must be without an intercept."""
        if is_centred != self.sums.is_centred:
            if not is_centred and self.sums.origin is not None:
                self.sums.move_origin(None)
            self.sums.is_centred = is_centred

    def keep(self, quota: Quota, seed: int) -> None:
        """Keep so many witnesses from now on, drawn by this seed."""
        if (quota, seed) != (self.quota, self.witnesses.seed):
            self.quota, self.witnesses = quota, Witnesses(seed, self.witnesses.of_class)

    def rows_of(self, label: Any) -> Rows:
        """Return copies of the rows of a class that are still held as they came, shape (m, d).

        All of them while a class that has sums of its own has few; else its witnesses.
        """
        rows = self.sums.rows_of(label)
        kept = self.witnesses[label].rows
        if self.layer is not None:  # the sums hold what that has made of them
            rows = np.zeros((0, self.width + self.targets))
        return rows if len(rows) or not kept else np.array(kept)


def _behind_one_layer(ours: Memory, other: Memory) -> tuple[Memory, Memory]:
    """Return two memories, the second of which is to be merged into the first, behind one layer."""
    if ours.layer is None and not ours.units and other.layer is not None and not ours.targets:
        other = other.cut(0)
    elif ours.is_young and other.layer is not None and other.layer.units == ours.units:
        ours = ours.behind(other.layer)
    elif other.layer is None and ours.layer is not None and other.holds_all:
        other = other.behind(ours.layer)
    # Until there is a layer all rows have to be held, for they go behind it once it comes.
    if ours.layer != other.layer or (ours.is_young and not other.holds_all):
        raise OtherLayerError(OTHER_LAYER)
    return ours, other
