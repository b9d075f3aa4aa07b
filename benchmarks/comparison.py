"""How newfound and its peers do on the same streams: accuracy, and time.

docs/comparison.md says who the peers are and how they are set; `python -m benchmarks.everything
comparison` writes the tables there.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.analytic import (
    ACIL,
    AIR,
    KLDA,
    Behind,
    FourierLayer,
    RandomLayer,
    RanDumb,
    RanPAC,
)
from benchmarks.choosing import (
    Stream,
    long_tail,
    one_after_another,
    per_class,
    reordered,
    shuffled,
    tailed,
)
from benchmarks.common import Measurement, show
from benchmarks.online import River, Scaled
from benchmarks.peers import Means, Refit, StreamingLDA
from benchmarks.streams import washington
from benchmarks.teachable import TeachableHead
from newfound import (
    IncrementalClassifier,
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
)
from newfound.common.extras import imported_from
from newfound.features import EfficientNetLite0
from newfound.paper.timing import step, time_call

TITLE = "Comparison: newfound and its peers on the same streams"
LESSONS = 10  # a stream comes in so many parts
DRAWS = 3
TABLE_ROWS = 1000  # at most, of a table
SHOWN, TESTS = 20, 20  # of each category of Washington
MOST = 60  # in its long tail
WIDE = 100  # features from which on river takes minutes: less of it is run
STEPS, SLOW = 15, 1.0  # a step that takes more seconds is not repeated
PHOTOS = [
    "astronaut.png",
    "brick.png",
    "camera.png",
    "cell.png",
    "chelsea.png",
    "coffee.png",
    "coins.png",
    "grass.png",
    "gravel.png",
    "hubble_deep_field.jpg",
    "ihc.png",
    "moon.png",
    "motorcycle_left.png",
    "page.png",
    "retina.jpg",
    "rocket.jpg",
]

Rows = NDArray[np.float64]
Maker = Callable[[], Any]


# Streams ---------------------------------------------------------------------------------------


def streams(draw: int) -> Iterator[Stream]:
    """Yield one draw of every stream that there is data for."""
    X, y = load_digits(return_X_y=True)
    digits = shuffled("digits, in sequence", X / 16, y, draw)
    yield in_sequence(digits)
    tail = digits._replace(name="digits, long tail")
    yield tailed(tail, np.random.default_rng(draw))
    yield from tables(draw)
    yield photos(draw)
    yield from washington_streams(draw)


def in_sequence(stream: Stream) -> Stream:
    """Return the same rows, one class after another, the classes in the order of their labels."""
    order = np.argsort(stream.y, kind="stable")
    return stream._replace(X=stream.X[order], y=stream.y[order])


def tables(draw: int) -> Iterator[Stream]:
    """Data that comes with river and that nothing in newfound was picked on, standardised."""
    try:
        from river import datasets
    except ImportError:
        return
    kinds: dict[str, Any] = {
        "segments": datasets.ImageSegments,
        "phishing": datasets.Phishing,
        "bananas": datasets.Bananas,
    }
    for name, kind in kinds.items():
        rows, labels = zip(*kind(), strict=True)
        X = np.array([list(row.values()) for row in rows], dtype=np.float64)
        found = shuffled(name, X, np.array(labels, dtype=str), draw)
        scaler = StandardScaler().fit(found.X[:TABLE_ROWS])
        yield found._replace(
            X=scaler.transform(found.X[:TABLE_ROWS]),
            y=found.y[:TABLE_ROWS],
            X_test=scaler.transform(found.X_test),
        )


def photos(draw: int, shown: int = 20, root: bool = False) -> Stream:
    """Crops of photos that come with scikit-image, one photo after another.

    From which photo is a crop? Taught are left halves, asked right ones; plain features, or their
    roots at unit length.
    """
    with imported_from("vision"):
        import skimage
        from PIL import Image

    rng, crops = np.random.default_rng(draw), []
    for name in PHOTOS:
        with Image.open(Path(skimage.__file__).parent / "data" / name) as file:
            whole = file.convert("RGB")
        for part in range(2 * shown):  # by turns left and right
            side = rng.uniform(0.25, 0.5) * min(whole.width, whole.height)
            left = rng.uniform(0, whole.width / 2 - side) + part % 2 * whole.width / 2
            top = rng.uniform(0, whole.height - side)
            crops.append(whole.resize((224, 224), box=(left, top, left + side, top + side)))
    X = EfficientNetLite0(root=root)(crops).astype(np.float64)
    y = np.repeat([name.partition(".")[0] for name in PHOTOS], 2 * shown)
    return Stream("photos, in sequence", X[::2], y[::2], X[1::2], y[1::2], (len(y) // 2,))


def washington_streams(draw: int) -> Iterator[Stream]:
    """Categories of Washington RGB-D, tested on objects that are left out; plain features."""
    frames = washington()
    if frames is None:
        return
    first = one_after_another(frames, draw, ", in sequence", SHOWN, TESTS)
    yield first._replace(name="Washington, in sequence")
    yield reordered(first, draw)._replace(name="Washington, shuffled")
    yield long_tail(frames, draw, most=MOST, per_test=TESTS)


# Peers -----------------------------------------------------------------------------------------


def peers(stream: Stream, draw: int) -> dict[str, Maker]:
    """Return how to make each peer that takes part in a stream."""
    classes, width = np.unique(stream.y), stream.X.shape[1]
    small = 1 / np.sqrt(3 * width)  # as torch draws the weights of a layer, which ACIL leaves so

    def behind(model: Any, spread: float = 1.0) -> Behind:
        return Behind(RandomLayer(width, seed=draw, spread=spread), model)

    def kernelised(model: Any) -> Behind:
        return Behind(FourierLayer(width, seed=draw), model)

    return {
        "newfound": IncrementalClassifier,
        "newfound, linear": IncrementalRidgeClassifierCV,
        "newfound, nothing chosen": IncrementalRidgeClassifier,
        "RidgeClassifier, refitted": lambda: Refit(classes),
        "SGDClassifier": lambda: Scaled(SGDClassifier(random_state=draw), classes),
        **of_river(stream, draw),
        "streaming LDA": lambda: StreamingLDA(classes),
        "ACIL": lambda: behind(ACIL(classes), small),
        "AIR": lambda: behind(AIR(classes), small),
        "RanPAC": lambda: behind(RanPAC(classes)),
        "RanDumb": lambda: kernelised(RanDumb(classes)),
        "KLDA": lambda: kernelised(KLDA(classes)),
        "nearest class mean": lambda: Means(classes),
        "Teachable Machine": lambda: TeachableHead(classes, draw),
    }


def of_river(stream: Stream, draw: int) -> dict[str, Maker]:
    """Return river's linear classifier, its neighbours and its forest.

    On wide rows, where these take minutes, only the first, in the first draw, and not on the tail.
    """
    try:
        from river import forest, linear_model, neighbors, preprocessing
    except ImportError:
        print("river is not installed: its classifiers and data are left out", file=sys.stderr)
        return {}
    scaler = preprocessing.StandardScaler
    softmax: dict[str, Maker] = {
        "river softmax": lambda: River(scaler() | linear_model.SoftmaxRegression())
    }
    if stream.X.shape[1] > WIDE:
        return softmax if draw == 0 and "tail" not in stream.name else {}
    return softmax | {
        "river neighbours": lambda: River(scaler() | neighbors.KNNClassifier()),
        "river forest": lambda: River(forest.ARFClassifier(seed=draw)),
    }


# Measurements ----------------------------------------------------------------------------------


def teach(model: Any, stream: Stream) -> float:
    """Teach a stream in ten lessons, ask once, and return the seconds that it took."""

    def learn() -> None:
        for part in np.array_split(np.arange(len(stream.y)), LESSONS):
            model.partial_fit(stream.X[part], stream.y[part])
        model.predict(stream.X[:1])

    return time_call(learn)


def step_time(model: Any, stream: Stream) -> float:
    """Return the median seconds to learn one more row and predict one."""
    times: list[float] = []
    for i in np.random.default_rng(0).integers(0, len(stream.y), STEPS):
        times.append(time_call(step(model, stream.X, stream.y, i)))
        if times[0] > SLOW:
            break
    return median(times)


def measure() -> Iterator[Measurement]:
    with threadpool_limits(1):  # all alike, on a machine that others use
        yield from _measure()


def _measure() -> Iterator[Measurement]:
    found: dict[str, dict[str, list[float]]] = {}
    times: list[Measurement] = []
    for draw in range(DRAWS):
        for stream in streams(draw):
            timed = draw == 0 and stream.name in ("segments", "Washington, shuffled")
            for name, make in peers(stream, draw).items():
                model = make()
                took = teach(model, stream)
                accuracy = per_class(model.predict(stream.X_test), stream.y_test)
                found.setdefault(stream.name, {}).setdefault(name, []).append(accuracy)
                if timed:
                    times += _times(name, model, stream, took)
    for where, of_peers in found.items():
        for name, values in of_peers.items():
            note = f"worst {min(values):.1f} of {len(values)}" if len(values) > 1 else "1 draw"
            yield Measurement(f"{where}: {name}", float(np.mean(values)), "%", note=note)
    yield from behind_the_best(found)
    yield from times


def _times(name: str, model: Any, stream: Stream, took: float) -> Iterator[Measurement]:
    n, d = stream.X.shape
    note = f"n = {n}, d = {d}, T = {len(np.unique(stream.y))}"
    yield Measurement(f"{stream.name}: {name}: learn all", took, "s", note=note)
    yield Measurement(f"{stream.name}: {name}: step", 1e3 * step_time(model, stream), "ms")


def behind_the_best(found: dict[str, dict[str, list[float]]]) -> Iterator[Measurement]:
    """How far each is behind the best of all: in the mean over streams, and where it is worst."""
    gaps: dict[str, dict[str, float]] = {}
    for where, of_peers in found.items():
        best = max(np.mean(values) for values in of_peers.values())
        for name, values in of_peers.items():
            gaps.setdefault(name, {})[where] = float(best - np.mean(values))
    for name, of_streams in gaps.items():
        where = max(of_streams, key=lambda each: of_streams[each])
        mean, number = float(np.mean(list(of_streams.values()))), len(of_streams)
        note = f"{number} streams; most, {of_streams[where]:.1f}, on {where}"
        yield Measurement(f"behind the best: {name}", mean, "points", note=note)
    gap = gaps["newfound"]
    for what, value, bar in (
        ("mean", np.mean(list(gap.values())), 0.4),
        ("worst", max(gap.values()), 1.2),
    ):
        yield Measurement(f"newfound behind the best of all: {what}", float(value), "points", bar)


if __name__ == "__main__":
    show(TITLE, measure())
