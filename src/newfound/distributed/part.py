"""What one or more partitions become: sums, and witnesses if parameters are chosen."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from newfound.common.errors import InputError
from newfound.selection.selector import Selector
from newfound.selection.witnesses import Sample, Witness, Witnesses
from newfound.sums.arrays import from_arrays, to_arrays
from newfound.sums.sums import Sums


class Part:
    """The sums of partitions that follow each other. It is small when it travels.

    Parameters
    ----------
    sums : Sums
    witnesses : Witnesses or None
        None, if no parameters are chosen.
    partition : int
        The first of these partitions that has rows, or the first.

    Examples
    --------
    >>> import pickle
    >>> part = Part(Sums.of(np.ones((300, 50)), ["mug"] * 300), None, 0)
    >>> len(pickle.dumps(part)) < 8 * 50 * 51
    True
    >>> merged([part, pickle.loads(pickle.dumps(part))], cap=0).sums.counts
    array([600])
    """

    def __init__(self, sums: Sums, witnesses: Witnesses | None, partition: int) -> None:
        self.sums = sums
        self.witnesses = witnesses
        self.partition = partition

    @property
    def selector(self) -> Selector | None:
        """What a choice rests on; None, if no parameters are chosen."""
        return None if self.witnesses is None else Selector(self.witnesses)

    def __getstate__(self) -> tuple[Any, ...]:
        # Triangles are half as large as the squares they are held in, and a few large arrays
        # travel faster than thousands of rows.
        sums, witnesses = self.sums, self.witnesses
        packed = None
        if witnesses is not None:
            samples = witnesses.samples.items()
            packed = (
                witnesses.seed,
                [
                    (label, [one.key for one in each.held], np.array(each.rows), each.weights)
                    for label, each in samples
                ],
            )
        return to_arrays(sums), sums.labels, sums.per_class, sums.dtype, packed, self.partition

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        arrays, labels, per_class, dtype, packed, self.partition = state
        self.sums, self.witnesses = from_arrays(arrays, labels, per_class, dtype), None
        if packed is not None:
            seed, samples = packed
            held = {
                label: Sample(tuple(map(Witness, keys, rows, weights)))
                for label, keys, rows, weights in samples
            }
            self.witnesses = Witnesses(seed, held)

    def __sizeof__(self) -> int:
        """Return how many bytes it holds: schedulers ask, to know what moving it costs."""
        total = sum(part.nbytes for part in self.sums.cross_parts)
        for gram in self.sums.grams:
            total += gram.buffer.capacity * self.sums.width * 8
            total += 0 if gram.flushed is None else gram.flushed.store.nbytes
        samples = self.witnesses.samples.values() if self.witnesses is not None else ()
        return total + sum(row.nbytes for sample in samples for row in sample.rows)


def merged(parts: Sequence[Part], cap: int) -> Part:
    """Return one part of several, in their order; none of them is changed.

    Parameters
    ----------
    parts : sequence of Part
    cap : int
        Witnesses of a class, at most.

    Returns
    -------
    Part

    Raises
    ------
    InputError
        If their labels do not go together; it names the partition.
    """
    first = parts[0]
    sums, witnesses, partition = copy.deepcopy(first.sums), first.witnesses, first.partition
    for part in parts[1:]:
        if not part.sums.total:
            continue
        if not sums.total:
            partition = part.partition
        try:
            sums.merge(part.sums)
        except InputError as error:
            raise InputError(f"partition {part.partition}: {error}") from error
        if witnesses is not None and part.witnesses is not None:
            witnesses = witnesses.merged(part.witnesses, cap)
    return Part(sums, witnesses, partition)
