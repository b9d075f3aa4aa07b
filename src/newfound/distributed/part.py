"""What one or more partitions become: a memory that is small when it travels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from newfound.common.errors import InputError
from newfound.memory.memory import Memory
from newfound.memory.reservoir import Reservoir
from newfound.memory.witnesses import Witnesses
from newfound.sums.arrays import from_arrays, to_arrays


class Part:
    """The memory of partitions that follow each other.

    Parameters
    ----------
    memory : Memory
        On the host.
    partition : int
        The first of these partitions that has rows, or the first.

    Examples
    --------
    >>> import pickle
    >>> memory = Memory.blank(50)
    >>> memory.add(memory.batch(np.ones((300, 50)), np.array(["mug"] * 300)))
    >>> part = Part(memory, 0)
    >>> len(pickle.dumps(part)) < 8 * 50 * 51
    True
    >>> merged([part, pickle.loads(pickle.dumps(part))]).memory.sums.counts
    array([600])
    """

    def __init__(self, memory: Memory, partition: int) -> None:
        self.memory, self.partition = memory, partition

    def __getstate__(self) -> tuple[Any, ...]:
        # Triangles are half as large as the squares they are held in, and a few large arrays
        # travel faster than thousands of rows.
        memory = self.memory
        sums, witnesses = memory.sums, memory.witnesses
        reservoirs = {
            label: (*reservoir[:4], np.array(reservoir.rows))
            for label, reservoir in witnesses.of_class.items()
        }
        of_sums = to_arrays(sums), sums.labels, sums.per_class, sums.dtype, None, sums.is_centred
        rest = memory.quota, memory.targets, memory.layer, memory.units
        return of_sums, (witnesses.seed, reservoirs), rest, self.partition

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        of_sums, (seed, reservoirs), rest, self.partition = state
        of_class = {
            label: Reservoir(hashes, keys, weights, ranks, tuple(rows))
            for label, (hashes, keys, weights, ranks, rows) in reservoirs.items()
        }
        self.memory = Memory(from_arrays(*of_sums), Witnesses(seed, of_class), *rest)

    def __sizeof__(self) -> int:
        """Return how many bytes it holds: schedulers ask, to know what moving it costs."""
        sums = self.memory.sums
        total = sum(part.nbytes for part in sums.cross_parts)
        for gram in sums.grams:
            total += gram.buffer.capacity * sums.width * 8
            total += 0 if gram.flushed is None else gram.flushed.store.nbytes
        reservoirs = self.memory.witnesses.of_class.values()
        return total + sum(row.nbytes for reservoir in reservoirs for row in reservoir.rows)


def merged(parts: Sequence[Part]) -> Part:
    """Return one part of several, in their order; none of them is changed.

    Raises
    ------
    InputError
        If their labels do not go together; it names the partition.
    """
    memory, partition = parts[0].memory.copy(), parts[0].partition
    for part in parts[1:]:
        if not part.memory.sums.total:
            continue
        if not memory.sums.total:
            partition = part.partition
        try:
            memory.merge(part.memory)
        except InputError as error:
            raise InputError(f"partition {part.partition}: {error}") from error
    return Part(memory, partition)
