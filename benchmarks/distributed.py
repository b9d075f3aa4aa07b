"""Do two workers learn as fast as one process on both cores, and in bounded memory.

Rows are made by seed where they are added up. What is measured runs in a process of its own:
`python -m benchmarks.distributed one 100000` and `... many 100000` print what they took.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.common import Measurement, show
from newfound import IncrementalRidgeClassifier
from newfound.paper.busy import environment

TITLE = "Distributed: two workers of one thread, beside one process on both cores"
WIDTH, CLASSES, BLOCK = 1280, 51, 20_000  # rows of a partition: 100 MB
ROWS, ROUNDS = 1_000_000, 3
WORKERS = 2


def block(number: int) -> tuple[Any, Any]:
    """Return rows (BLOCK, WIDTH) and labels of a partition, the same wherever they are made."""
    rng = np.random.default_rng(number)
    y = rng.integers(0, CLASSES, BLOCK)
    X = rng.standard_normal((BLOCK, WIDTH), dtype=np.float32)
    X[:, :CLASSES] += np.eye(CLASSES, dtype=np.float32)[y]
    return X, y


def rows_of(block_id: Any) -> Any:
    return block(block_id[0])[0]


def labels_of(block_id: Any) -> Any:
    return np.random.default_rng(block_id[0]).integers(0, CLASSES, BLOCK)


def collections(partitions: int) -> tuple[Any, Any]:
    """Return lazy rows and labels."""
    import dask.array as da

    lengths, nothing = (BLOCK,) * partitions, np.empty((0, 0), dtype=np.float32)
    X = da.map_blocks(rows_of, chunks=(lengths, (WIDTH,)), dtype=np.float32, meta=nothing)
    y = da.map_blocks(labels_of, chunks=(lengths,), dtype=np.int64, meta=np.empty(0, dtype=int))
    return X, y


def peak_mb() -> float:
    """Return how much memory this process has held at most, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def one(partitions: int) -> tuple[Any, dict[str, Any]]:
    """Learn all rows in this process: two threads make two blocks, and then both add them up."""
    model = IncrementalRidgeClassifier()
    start, cpu = perf_counter(), process_time()
    with ThreadPoolExecutor(WORKERS) as pool:
        for first in range(0, partitions, WORKERS):
            numbers = range(first, min(first + WORKERS, partitions))
            for X, y in list(pool.map(block, numbers)):
                model.store(X, y)
    took = {"seconds": perf_counter() - start, "cpu": process_time() - cpu}
    return model, {**took, "client": peak_mb()}


def many(partitions: int) -> tuple[Any, dict[str, Any]]:
    """Learn all rows with two workers of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        IncrementalRidgeClassifier().fit(*collections(WORKERS))  # so that all is imported
        start, cpu = perf_counter(), cpu_seconds(client)
        model = IncrementalRidgeClassifier().fit(*collections(partitions))
        took = {"seconds": perf_counter() - start, "cpu": cpu_seconds(client) - cpu}
        workers = max(client.run(peak_mb).values())
        return model, {**took, "client": peak_mb(), "worker": workers}


def cpu_seconds(client: Any) -> float:
    """Return how long workers, client and scheduler, which is in its process, have computed."""
    workers: dict[str, float] = client.run(process_time)
    return process_time() + sum(workers.values())


def run(how: str, rows: int, folder: str) -> dict[str, Any]:
    """Learn so many rows in a process of its own; return what it took, and its sums."""
    path = Path(folder, "sums.npz")
    command = [sys.executable, "-m", "benchmarks.distributed", how, str(rows), str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment())
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    with np.load(path) as sums:
        found["sums"] = dict(sums)
    return found


def difference(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Return by how much sums differ, relative to the largest of them; infinite if counts do."""
    if not np.array_equal(one["counts"], other["counts"]):
        return float("inf")
    pairs = [(one[name], other[name]) for name in ("gram", "cross")]
    return max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs)


def measure(rows: int = ROWS, rounds: int = ROUNDS) -> Iterator[Measurement]:
    with TemporaryDirectory() as folder:
        # In turn, so that other work on the machine is shared.
        found = [
            [
                run(how, size, folder)
                for how, size in (("one", rows), ("many", rows // 2), ("many", rows))
            ]
            for _ in range(rounds)
        ]
    single, half, whole = zip(*found, strict=True)
    seconds = {
        name: median(each["seconds"] for each in runs)
        for name, runs in (("one", single), ("half", half), ("many", whole))
    }
    shape = f"{rows:,} x {WIDTH} float32"
    note = f"{seconds['many']:.1f} s and {seconds['one']:.1f} s, medians of {rounds}"
    yield Measurement(
        f"{shape}, to one process", seconds["many"] / seconds["one"], bar=1.25, note=note
    )
    cpu = [median(each["cpu"] for each in runs) for runs in (whole, single)]
    note = f"{cpu[0]:.1f} s and {cpu[1]:.1f} s: beside other programs the better measure"
    yield Measurement("CPU of all processes, to one process", cpu[0] / cpu[1], note=note)
    growth = seconds["many"] / seconds["half"]
    yield Measurement("twice the rows, in times of half of them", growth, bar=2.1)
    yield Measurement("the same", growth, bar=1.9, more_is_better=True)
    memory = {who: max(each[who] for each in whole) for who in ("worker", "client")}
    yield Measurement("largest worker, peak", memory["worker"], "MB", 1500)
    yield Measurement("client, peak", memory["client"], "MB", 1000)
    apart = max(difference(a["sums"], b["sums"]) for a, b in zip(single, whole, strict=True))
    yield Measurement("sums beside those of one process, relative", apart, bar=1e-12)


def main(how: str, rows: str, path: str = "") -> None:
    model, took = {"one": one, "many": many}[how](int(rows) // BLOCK)
    sums = model.to_state().sums
    if path:
        cross = sums.cross[:, sums.order]
        np.savez(path, gram=np.tril(sums.gram), cross=cross, counts=model.class_count_)
    print(json.dumps(took))


if __name__ == "__main__":
    if sys.argv[1:2] in (["one"], ["many"]):
        main(*sys.argv[1:])
    else:
        show(TITLE, measure())
