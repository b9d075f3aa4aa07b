"""How long would a billion rows take on 10 to 10,000 workers: the tree, replayed.

What a row, an addition and a task cost is measured here, in seconds of one core, so that other
programs on the machine do not count; the network is assumed. Events are replayed in order of time.
A worker does one thing at a time, and additions go first. Client and scheduler hand out one task
at a time. A part moves to the worker that adds it, at the speed of the network.
"""

import heapq
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

from benchmarks.common import Measurement, show
from benchmarks.distributed import BLOCK, CLASSES, WIDTH, block
from newfound.distributed.part import Part, merged
from newfound.distributed.tree import fan_in, levels
from newfound.memory.memory import Memory

TITLE = "Cluster size: a billion rows of 1280 features, replayed with measured costs"
ROWS = 1_000_000_000
SIZES = (10, 100, 1000, 10_000)
PARTITIONS = (20_000, 100_000)  # rows of one: 100 and 500 MB
# Assumed: 10 Gbit/s for each worker, and a millisecond until the first byte comes.
BANDWIDTH, LATENCY = 1.25e9, 1e-3


@dataclass
class Costs:
    """Seconds and bytes that a cluster is made of."""

    row: float  # seconds to add up a row
    add: float  # seconds to add one part to others
    pack: float  # seconds to pack a part, and to unpack it again
    part_bytes: int  # of a part that travels
    task: float  # seconds of client and scheduler for a task


@dataclass
class Replay:
    """What became of a cluster."""

    seconds: float
    moved: int  # bytes, in all
    depth: int  # levels of the tree
    tail: float  # seconds after the last partition was added up


def memory_of(X: Any, y: Any) -> Memory:
    """Add up a partition."""
    memory = Memory.blank(WIDTH)
    memory.add(memory.batch(X, y))
    return memory


def measured() -> Costs:
    """Measure on this machine, on one core."""
    X, y = block(0)
    parts = [Part(memory_of(X, y), 0), Part(memory_of(X[:5000], y[:5000]), 1)]

    travelling = pickle.dumps(parts[0], protocol=5)
    partition, two, pack = (
        median(cpu_seconds(call) for _ in range(5))
        for call in (
            lambda: memory_of(X, y),
            lambda: merged(parts),
            lambda: pickle.loads(pickle.dumps(parts[0], protocol=5)),
        )
    )
    return Costs(partition / BLOCK, two, pack, len(travelling), task_seconds())


def cpu_seconds(call: Callable[[], Any]) -> float:
    """Return how long this process computes in a call."""
    start = process_time()
    call()
    return process_time() - start


def task_seconds(tasks: int = 2000) -> float:
    """Return how long client and scheduler, which are this process, compute for a task."""
    import dask.array as da

    from distributed import Client, LocalCluster
    from newfound import IncrementalRidgeClassifier

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster),
    ):
        X, y = da.ones((tasks, 1), chunks=1), da.ones(tasks, chunks=1, dtype=int)
        IncrementalRidgeClassifier().fit(X[:9], y[:9])
        seconds = cpu_seconds(lambda: IncrementalRidgeClassifier().fit(X, y))
        return seconds / (tasks + sum(map(len, levels(tasks, fan_in(1, per_class=False)))))


def replay(costs: Costs, workers: int, partitions: int, size: int) -> Replay:
    """Replay a cluster that adds up so many partitions of a size; return when it was done."""
    width = fan_in(WIDTH, per_class=False)
    tree = levels(partitions, width)
    waiting = [[len(node) for node in level] for level in tree]
    # Of each level below, the worker that has a part.
    place: list[list[int]] = [[0] * partitions, *([0] * len(level) for level in tree)]
    ready: list[tuple[int, int]] = []  # additions that can be done, the highest first
    idle, running, scheduler = list(range(workers)), list[Any](), 0.0
    now, leaf, moved, last_leaf = 0.0, 0, 0, 0.0
    while True:
        while idle and (ready or leaf < partitions):
            scheduler = max(scheduler, now) + costs.task
            if ready:
                depth, node = heapq.heappop(ready)
                depth, children = -depth, tree[-depth][node]
                worker, away = _choose(idle, [place[depth][child] for child in children])
                moved += away * costs.part_bytes
                travel = away * (costs.pack + costs.part_bytes / BANDWIDTH) + LATENCY * (away > 0)
                done = scheduler + travel + (len(children) - 1) * costs.add
                heapq.heappush(running, (done, worker, depth + 1, node))
            else:
                worker = idle.pop()
                heapq.heappush(running, (scheduler + size * costs.row, worker, 0, leaf))
                leaf += 1
        now, worker, level, node = heapq.heappop(running)
        idle.append(worker)
        place[level][node] = worker
        last_leaf = now if level == 0 else last_leaf
        if level == len(tree):
            break
        parent = node // width
        waiting[level][parent] -= 1
        if not waiting[level][parent]:
            heapq.heappush(ready, (-level, parent))
    # The client gets one part.
    now += costs.pack + costs.part_bytes / BANDWIDTH + LATENCY
    return Replay(now, moved + costs.part_bytes, len(tree), now - last_leaf)


def _choose(idle: list[int], places: list[int]) -> tuple[int, int]:
    """Take a worker that is idle, one of those that have a part if there is one of them.

    Return also how many parts have to come to it from elsewhere.
    """
    for at, worker in enumerate(reversed(idle)):
        if worker in places:
            del idle[len(idle) - 1 - at]
            break
        if at == 16:  # whoever was last idle has most likely just finished one of them
            worker = idle.pop()
            break
    else:
        worker = idle.pop()
    return worker, sum(place != worker for place in places)


def measure(rows: int = ROWS) -> Iterator[Measurement]:
    costs = measured()
    yield Measurement(f"a row added up, d = {WIDTH}, T = {CLASSES}", 1e6 * costs.row, "µs")
    yield Measurement("a part added to another", 1e3 * costs.add, "ms")
    yield Measurement("a part packed and unpacked", 1e3 * costs.pack, "ms")
    yield Measurement("a part that travels", costs.part_bytes / 1e6, "MB")
    yield Measurement("a task, of client and scheduler", 1e3 * costs.task, "ms")
    for size in PARTITIONS:
        for workers in SIZES:
            found = replay(costs, workers, rows // size, size)
            note = (
                f"{found.moved / 1e9:.0f} GB moved, {found.depth} levels, {found.tail:.1f} s after "
                f"the last partition; rows alone {rows / workers * costs.row:.0f} s"
            )
            what = f"{rows:,} rows in partitions of {size:,}, {workers:,} workers"
            yield Measurement(what, found.seconds, "s", note=note)


if __name__ == "__main__":
    show(TITLE, measure())
