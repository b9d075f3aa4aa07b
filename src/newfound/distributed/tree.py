"""A tree of tasks that adds up what partitions have become, in the order of the partitions."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from newfound.distributed.dask_import import import_dask

# Parts that are added by one task, at most. With more of them fewer bytes move in all: k / (k - 1)
# times the sums of all partitions. But a task waits for all of its parts and holds them at once.
MOST, LEAST = 8, 2
# Bytes that these may take, about.
ROOM = 256 * 2**20


def fan_in(width: int, per_class: bool) -> int:
    """Return how many parts are added by one task, for sums of so many features.

    Where each class has sums of its own nobody knows beforehand how large they are: two.

    Examples
    --------
    >>> fan_in(1280, per_class=False), fan_in(4096, per_class=False), fan_in(1280, per_class=True)
    (8, 2, 2)
    """
    return LEAST if per_class else max(LEAST, min(MOST, ROOM // (8 * width**2)))


def levels(number: int, width: int) -> list[list[range]]:
    """Return which nodes of the level below each node of a tree adds, from the leaves up.

    Examples
    --------
    >>> levels(5, 2)
    [[range(0, 2), range(2, 4), range(4, 5)], [range(0, 2), range(2, 3)], [range(0, 2)]]
    """
    tree: list[list[range]] = []
    while number > 1 or not tree:
        starts = range(0, number, width)
        tree.append([range(start, min(start + width, number)) for start in starts])
        number = len(starts)
    return tree


def added_up(leaves: Any, add: Callable[[Sequence[Any]], Any], width: int) -> Any:
    """Return a lazy value: all blocks of a Dask array, added by a tree.

    Which are added to which depends on their order alone, not on which is there first. A task that
    is lost with its worker can be done again: it changes nothing that it is given.

    Parameters
    ----------
    leaves : Dask array
        Cut in rows alone.
    add : callable
        From a list of them to their sum.
    width : int
        How many are added at a time.

    Returns
    -------
    Delayed

    Examples
    --------
    >>> import dask.array
    >>> added_up(dask.array.arange(9, chunks=1), sum, 2).compute()
    array([36])
    """
    dask = import_dask()
    from dask.delayed import Delayed

    (leaves,) = dask.optimize(leaves)  # so that what reads a partition also adds it up
    keys = list(dask.core.flatten(leaves.__dask_keys__()))
    name = f"newfound-add-{uuid4().hex}"
    graph: dict[Any, Any] = {}
    # As a graph, and not call by call: ten thousand calls of `delayed` take half a minute.
    for level, nodes in enumerate(levels(len(keys), width)):
        below, keys = keys, [(name, level, node) for node in range(len(nodes))]
        for key, node in zip(keys, nodes, strict=True):
            graph[key] = (add, [below[child] for child in node])
    whole = dask.highlevelgraph.HighLevelGraph.from_collections(name, graph, dependencies=[leaves])
    return Delayed(keys[0], whole, layer=name)
