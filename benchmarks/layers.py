"""What a layer of random units that the stream chooses is worth, on streams and on tables.

The tables are those of `NEWFOUND_DATA/tables`: a third to test, at most 1,000 rows to learn, in ten
lessons; standardised, beside peers, and as they are, and sorted by class. docs/layer.md says what
was picked on what. What it is worth on streams, `benchmarks.comparison` says.
"""

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, make_moons
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks import comparison
from benchmarks.analytic import ACIL, AIR, Behind, RandomLayer, RanPAC
from benchmarks.choosing import (
    Stream,
    long_tail,
    one_after_another,
    per_class,
    rare_digit,
    root,
    shuffled,
)
from benchmarks.common import Measurement, held_bytes, show_parts
from benchmarks.comparison import SHOWN, TESTS, in_sequence, photos, teach
from benchmarks.streams import pixels, tables, washington
from benchmarks.teachable import TeachableHead
from benchmarks.unknown import auc
from newfound import IncrementalClassifier, IncrementalRidgeClassifierCV, Layer
from newfound.common.extras import imported_from
from newfound.paper.timing import step, time_call

TITLE = "A layer that the stream chooses"
STREAM_DRAWS, TABLE_DRAWS, TABLE_ROWS = 3, 5, 1000
FIGURE = Path(__file__).parent.parent / "docs" / "layer.png"
OURS, LINEAR = "newfound", "newfound, linear"

Makers = dict[str, Callable[[], Any]]


class Found(NamedTuple):
    """How one model did in one draw of a stream."""

    stream: str
    model: str
    accuracy: float  # mean of per-class accuracies, in %
    uses_layer: bool
    advantage: float  # of the layer, in standard errors


class Task(NamedTuple):
    """One draw of a stream, and who is taught it."""

    stream: Stream
    draw: int
    beside_peers: bool


def judged(task: Task) -> list[Found]:
    """Return what is found of a draw of a stream."""
    stream, draw, beside_peers = task
    models: Makers = {OURS: IncrementalClassifier, LINEAR: IncrementalRidgeClassifierCV}
    if beside_peers:
        models = others(stream, draw) | models
    found: list[Found] = []
    with threadpool_limits(1):
        for name, make in models.items():
            model = make()
            teach(model, stream)
            accuracy = per_class(model.predict(stream.X_test), stream.y_test)
            is_ours = name == OURS
            uses_layer = is_ours and model.layer_ is not None
            advantage = model.layer_advantage_ if is_ours else np.nan
            found.append(Found(stream.name, name, accuracy, uses_layer, advantage))
    return found


def others(stream: Stream, draw: int) -> Makers:
    """Return the peers, as the comparison has them, without newfound's own models."""
    peers = comparison.peers(stream, draw)
    return {name: make for name, make in peers.items() if not name.startswith("newfound")}


def all_judged(tasks: Iterable[Task], workers: int = 2) -> list[Found]:
    """Return what is found of all draws, as many at a time as there are workers."""
    with ProcessPoolExecutor(workers) as pool:
        return [found for part in pool.map(judged, tasks) for found in part]


def means(found: Iterable[Found]) -> dict[str, dict[str, float]]:
    """Return the mean accuracy of each model, by stream and model."""
    values: dict[str, dict[str, list[float]]] = {}
    for each in found:
        of_stream = values.setdefault(each.stream, {})
        of_stream.setdefault(each.model, []).append(each.accuracy)
    return {
        stream: {model: float(np.mean(each)) for model, each in of_models.items()}
        for stream, of_models in values.items()
    }


def lines(found: list[Found]) -> Iterator[Measurement]:
    """Yield a line for each stream: ours beside linear and beside the best peer."""
    for stream, of_models in means(found).items():
        draws = [each for each in found if (each.stream, each.model) == (stream, OURS)]
        used = sum(each.uses_layer for each in draws)
        t = ", ".join(f"{each.advantage:.1f}" for each in draws)
        worst = min(each.accuracy for each in draws)
        peers = {name: value for name, value in of_models.items() if name not in (OURS, LINEAR)}
        note = f"linear {of_models[LINEAR]:.1f}, worst {worst:.1f}, layer {used} of {len(draws)}"
        if peers:
            best = max(peers, key=lambda name: peers[name])
            note += f", best peer {best} {peers[best]:.1f}"
        yield Measurement(f"{stream}", of_models[OURS], "%", note=f"{note}; t {t}")


def to_linear(what: str, found: list[Found], mean: float, worst: float) -> Iterator[Measurement]:
    """Yield how much better than linear we are, in the mean and at worst."""
    gaps = {name: each[OURS] - each[LINEAR] for name, each in means(found).items()}
    yield from _summary(f"{what}, to linear", gaps, min, (mean, worst), more_is_better=True)


def behind(what: str, found: list[Found], mean: float, worst: float) -> Iterator[Measurement]:
    """Yield how far behind the best peer we are, and linear is; who is ahead is 0 behind."""
    for ours, bars in ((OURS, (mean, worst)), (LINEAR, (None, None))):
        gaps = {}
        for stream, of_models in means(found).items():
            peers = [value for name, value in of_models.items() if name not in (OURS, LINEAR)]
            gaps[stream] = max(0.0, max(peers) - of_models[ours])
        yield from _summary(f"{what}, {ours}, behind the best peer", gaps, max, bars)


def _summary(
    what: str,
    gaps: dict[str, float],
    worst_of: Callable[..., str],
    bars: tuple[float | None, float | None],
    more_is_better: bool = False,
) -> Iterator[Measurement]:
    worst = worst_of(gaps, key=lambda name: gaps[name])
    mean = float(np.mean(list(gaps.values())))
    of = f"of {len(gaps)}"
    yield Measurement(f"{what}: mean", mean, "points", bars[0], more_is_better, of)
    yield Measurement(f"{what}: worst", gaps[worst], "points", bars[1], more_is_better, worst)


# Tables ----------------------------------------------------------------------------------------


def standardised_tables() -> Iterator[Measurement]:
    found = all_judged(Task(standardised(each), draw, True) for draw, each in drawn_tables())
    yield from lines(found)
    yield from to_linear("tables, standardised", found, 5.0, -0.4)
    yield from behind("tables, standardised", found, 0.8, 6.0)


def raw_tables() -> Iterator[Measurement]:
    found = all_judged(Task(each, draw, False) for draw, each in drawn_tables())
    yield from lines(found)
    yield from to_linear("tables, raw", found, 2.5, -1.0)


def sorted_tables() -> Iterator[Measurement]:
    shuffled_, sorted_ = (
        means(all_judged(Task(change(each), draw, False) for draw, each in drawn_tables()))
        for change in (standardised, lambda each: in_sequence(standardised(each)))
    )
    gaps = {name: sorted_[name][OURS] - of_models[OURS] for name, of_models in shuffled_.items()}
    what = "tables, sorted by class to shuffled"
    yield from _summary(what, gaps, min, (-0.3, -1.5), more_is_better=True)


def drawn_tables() -> Iterator[tuple[int, Stream]]:
    """Yield each draw of each table, as it is."""
    found = tables()
    if not found:
        print("NEWFOUND_DATA has no tables: left out", file=sys.stderr)
    for draw in range(TABLE_DRAWS):
        for name, (X, y) in found.items():
            stream = shuffled(name, X.astype(np.float64), y, draw)
            yield draw, stream._replace(X=stream.X[:TABLE_ROWS], y=stream.y[:TABLE_ROWS])


def standardised(stream: Stream) -> Stream:
    """Return the same, standardised by the rows to learn."""
    scaler = StandardScaler().fit(stream.X)
    return stream._replace(X=scaler.transform(stream.X), X_test=scaler.transform(stream.X_test))


# Pixels ----------------------------------------------------------------------------------------


def protocol(trials: int = 3) -> Iterator[Measurement]:
    """Yield accuracies in the paper's protocol on MNIST, with all the 500 examples of 8."""
    if pixels() is None:
        print("NEWFOUND_DATA has no MNIST: left out", file=sys.stderr)
        return
    streams = [rare_digit(trial) for trial in range(trials)]
    bars: dict[int | None, float | None] = {None: None, 2000: 94.0, 4000: 95.0}
    for units, bar in bars.items():
        found = []
        for stream in streams:
            model = IncrementalClassifier(layer=units, fit_intercept=units is not None)
            teach(model, stream)
            found.append(per_class(model.predict(stream.X_test), stream.y_test))
        note = f"worst {min(found):.1f} of {len(found)}"
        what = f"MNIST, the paper's protocol, {units or 'no'} units"
        yield Measurement(what, float(np.mean(found)), "%", bar, True, note)


def all_of_mnist(*units: int) -> Iterator[Measurement]:
    """Yield accuracies once all 60,000 rows have come, the digits one after another."""
    data = pixels()
    if data is None:
        return
    X, y, X_test, y_test = data
    order = np.argsort(y, kind="stable")
    bars = {2000: 96.5, 8000: 98.0}
    for number in units or (0, 2000):
        model = IncrementalClassifier(layer=number or None)
        for part in np.array_split(order, 60):
            model.store(X[part], y[part])
        found = 100 * float(np.mean(model.predict(X_test) == y_test))
        what = f"MNIST, 60,000 rows, digits in sequence, {number or 'no'} units"
        yield Measurement(what, found, "%", bars.get(number), True)


# Costs -----------------------------------------------------------------------------------------


def costs() -> Iterator[Measurement]:
    """Yield what a step takes, and what a model holds, on narrow rows and on those of MNIST."""
    steps: dict[tuple[int, int], float] = {}
    with threadpool_limits(1):
        for d, units in itertools.product((18, 784), (0, 1000, 2000)):
            *found, steps[d, units] = _costs(d, units)
            yield from found
    ours, stream = steps[18, 2000], _narrow()
    makers: Makers = {
        "AIR": lambda: Behind(RandomLayer(18), AIR(np.arange(7))),
        "RanPAC": lambda: Behind(RandomLayer(18), RanPAC(np.arange(7))),
        "ACIL": lambda: Behind(RandomLayer(18), ACIL(np.arange(7))),
        "Teachable Machine": lambda: TeachableHead(np.arange(7)),
    }
    with threadpool_limits(1):
        for name, make in makers.items():
            model = make()
            teach(model, stream)
            ratio = ours / comparison.step_time(model, stream)
            bar = None if name == "ACIL" else 0.01
            yield Measurement(f"step, d = 18, 2,000 units, in steps of {name}", ratio, bar=bar)


def _narrow(d: int = 18, n: int = 1000) -> Stream:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.abs(X[:, 0] * 2).astype(int) % 7
    return Stream(f"{d} features", X, y, X[:1], y[:1], (n,))


def _costs(d: int, units: int) -> Iterator[Any]:
    """Yield what a model of so many units costs, and last the seconds of its step."""
    model, stream = IncrementalClassifier(layer=units or None), _narrow(d)
    what, times = f"d = {d}, {units or 'no'} units", []
    teach(model, stream)
    for i in range(600):
        times.append(time_call(step(model, stream.X, stream.y, i)))
    bar = 0.8 if (d, units) == (18, 2000) else None
    yield Measurement(f"step, {what}", 1e3 * median(times), "ms", bar)
    yield Measurement(f"held, {what}", held_bytes(model) / 1e6, "MB")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.newfound"
        model.save(path)
        yield Measurement(f"file, {what}", path.stat().st_size / 1e6, "MB")
    yield median(times)


# Deep features, and what is unknown -------------------------------------------------------------


def deep_features() -> Iterator[Measurement]:
    """Yield what "auto" changes on features of a network, at unit length as newfound makes them."""
    frames, found = washington(), list[Found]()
    if frames is None:
        return
    for draw in range(STREAM_DRAWS):
        first = one_after_another(root(frames), draw, ", root", SHOWN, TESTS)
        tail = long_tail(root(frames), draw, ", root", most=60, per_test=TESTS)
        crops = photos(draw, root=True)
        found += all_judged(Task(stream, draw, False) for stream in (first, tail, crops))
    yield from lines(found)
    gaps = {name: each[OURS] - each[LINEAR] for name, each in means(found).items()}
    yield from _summary("deep features, to linear", gaps, min, (None, -0.2), more_is_better=True)


def unknown() -> Iterator[Measurement]:
    """Yield how well strangers are told: half of the classes are taught, the others asked."""
    bars = {"digits": 97.0, "MNIST": 88.0, "segments": 93.0, "vowel": 94.0}
    for name, bar in bars.items():
        found: dict[str, list[float]] = {}
        for draw in range(STREAM_DRAWS):
            X, y = _labelled(name, draw)
            classes = np.random.default_rng(draw).permutation(np.unique(y))
            taught = np.isin(y, classes[: len(classes) // 2])
            mine = shuffled(name, X[taught], y[taught], draw)
            for what, model in (
                ("layer", IncrementalClassifier()),
                ("linear", IncrementalClassifier(layer=None)),
            ):
                teach(model, mine)
                asked = [model.unknown_proba(rows) for rows in (X[~taught][:1000], mine.X_test)]
                found.setdefault(what, []).append(auc(*asked))
        note = f"linear {np.mean(found['linear']):.1f}, worst {min(found['layer']):.1f}"
        yield Measurement(
            f"unknown, AUC, {name}", float(np.mean(found["layer"])), "%", bar, True, note
        )


def _labelled(name: str, draw: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(draw)
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16, y
    if name == "segments":
        (stream,) = (each for each in comparison.tables(draw) if each.name == name)
        return np.concatenate([stream.X, stream.X_test]), np.concatenate([stream.y, stream.y_test])
    if name == "vowel":
        X, y = tables()[name]
        return StandardScaler().fit_transform(X), y
    data = pixels()
    assert data is not None
    X, y = data[:2]
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == t))[:150] for t in range(10)])
    return X[rows], y[rows]


def draw(path: Path = FIGURE) -> None:
    """Draw two moons, and where classes are taken to be: by a plane, and with units beside it."""
    with imported_from("plots"):
        from matplotlib.figure import Figure

    X, y = make_moons(300, noise=0.15, random_state=0)
    axes = np.meshgrid(np.linspace(-1.7, 2.7, 300), np.linspace(-1.2, 1.7, 200))
    asked, layer = np.stack(axes, axis=-1).reshape(-1, 2), Layer.of(X[:100], units=200)
    figure = Figure(figsize=(9.6, 2.8), layout="constrained")
    titles = "a plane", "10 units", "200 units"
    layers = None, layer.cut(10), layer
    for axis, title, each in zip(figure.subplots(1, 3), titles, layers, strict=True):
        model = IncrementalClassifier(each).fit(X, y)
        of_second = model.decision_function(asked).reshape(axes[0].shape)
        colours = ["tab:blue", "tab:orange"]
        axis.contourf(*axes, of_second, levels=[-99, 0, 99], colors=colours, alpha=0.3)
        axis.scatter(*X.T, c=np.array(colours)[y], s=8)
        axis.set(xticks=[], yticks=[], title=title)
    figure.savefig(path, dpi=110)


# Very wide rows --------------------------------------------------------------------------------


def wide(d: int = 100_000, n: int = 20_000, size: int = 1000) -> Iterator[Measurement]:
    """Yield rows a second and accuracy on texts of two topics, beside gradient descent."""
    X, y = texts(n + 5000, d)
    makers: Makers = {
        OURS: IncrementalClassifier,
        "newfound, 500 units": lambda: IncrementalClassifier(layer=500),
        "SGDClassifier": lambda: SGDClassifier(random_state=0),
    }
    for name, make in makers.items():
        model, taken = make(), 0.0
        for start in range(0, n, size):
            part = slice(start, start + size)
            more = {"classes": [0, 1]} if name == "SGDClassifier" else {}
            taken += time_call(partial(model.partial_fit, X[part], y[part], **more))
        what = f"{d:,} features, 50 of a row not zero, batches of {size:,}, {name}"
        yield Measurement(what, n / taken, "rows/s")
        yield Measurement(f"{what}, held out", 100 * model.score(X[n:], y[n:]), "%")


def texts(n: int, d: int, words: int = 50, seed: int = 0) -> tuple[Any, Any]:
    """Return n made texts as sparse rows of unit length, and which of two topics each is of.

    Words are as frequent as in a language, so that most are rare; of those of the first topic, one
    in ten is three times as frequent as in the second.
    """
    rng = np.random.default_rng(seed)
    usual, y = 1 / (10 + np.arange(d)), rng.integers(0, 2, n)
    marks = rng.permutation(d)
    columns = np.empty((n, words), dtype=np.int64)
    for topic in (0, 1):
        weights = usual * np.where(marks % 10 == topic, 3.0, 1.0)
        own = np.flatnonzero(y == topic)
        columns[own] = rng.choice(d, (len(own), words), p=weights / weights.sum())
    rows = np.repeat(np.arange(n), words)
    counts = csr_array((np.ones(n * words), (rows, columns.ravel())), (n, d))
    return TfidfTransformer().fit_transform(counts), y


PARTS: dict[str, Callable[[], Iterable[Measurement]]] = {
    "standardised": standardised_tables,
    "raw": raw_tables,
    "sorted": sorted_tables,
    "protocol": protocol,
    "mnist": all_of_mnist,
    "costs": costs,
    "deep": deep_features,
    "unknown": unknown,
    "wide": wide,
}


def measure() -> Iterator[Measurement]:
    draw()
    for part in PARTS.values():
        yield from part()


if __name__ == "__main__":
    show_parts(TITLE, PARTS)
