"""How good is what is chosen in the stream: beside a fixed setting, and beside hindsight."""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler

from benchmarks.common import Measurement, show
from benchmarks.streams import washington
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.datasets.rgbd import Frames
from newfound.paper.protocol import draw
from newfound.paper.studies import mnist_study

TITLE = "Choosing penalty and recoding inside the stream"
COUNTS = (1, 5, 10, 50, 100, 500)
# What a fixed setting would be: a penalty in mean squares of a feature, and a recoding.
FIXED_PENALTY, FIXED_RECODING = 600.0, 0.7
# Candidates of hindsight: penalties in mean squared lengths of a row.
PENALTIES, RECODINGS = 10.0 ** np.arange(-6, 2.5, 0.5), np.linspace(0, 1, 11)
# A question is asked after so many rows.
ASK_EVERY = 10

Floats = NDArray[np.float64]
BARS = {
    "MNIST, 8 rare": (80.7, 82.6, 84.0, 85.3, 85.6, 85.9),
    "Washington, tomato rare": (87.2, 88.3, 88.4, 88.5, 88.5, 88.6),
    "Washington, long tail": (78.0,),
    "Washington, long tail, root": (80.0,),
    "Washington, one after another": (87.6,),
    "Washington, one after another, root": (89.6,),
}


class Stream(NamedTuple):
    """Rows in the order in which they come, and when to look how well all is known."""

    name: str
    X: Floats
    y: Any
    X_test: Floats
    y_test: Any
    moments: tuple[int, ...]
    fit_intercept: bool = True


class Found(NamedTuple):
    """Means of per-class accuracies at one moment, in percent."""

    chosen: float
    fixed: float
    hindsight: float  # of penalty and one recoding, both tuned on the test rows


def judge(stream: Stream) -> list[Found]:
    """Teach a stream row by row, as users do, with a question every ten rows."""
    model = IncrementalRidgeClassifierCV(fit_intercept=stream.fit_intercept)
    found, taught = [], 0
    for moment in stream.moments:
        for i in range(taught, moment):
            model.partial_fit(stream.X[i : i + 1], stream.y[i : i + 1])
            if i % ASK_EVERY == 0:
                model.predict(stream.X[i : i + 1])
        taught = moment
        chosen = per_class(model.predict(stream.X_test), stream.y_test)
        found.append(Found(chosen, *rivals(stream, moment)))
    return found


def rivals(stream: Stream, moment: int) -> tuple[float, float]:
    """Return the accuracy of the fixed setting, and the best of all in hindsight."""
    X, y = stream.X[:moment], stream.y[:moment]
    labels, index, counts = np.unique(y, return_inverse=True, return_counts=True)
    mean = X.mean(axis=0) * stream.fit_intercept
    Z = X - mean
    values, vectors = np.linalg.eigh(Z.T @ Z)
    values = np.maximum(values, 0.0)
    offset = counts / len(y) * stream.fit_intercept
    right = vectors.T @ (Z.T @ (np.eye(len(labels))[index] - offset))
    tests, length = (stream.X_test - mean) @ vectors, values.sum() / len(y)

    def accuracies(penalty: float, recodings: Iterable[float]) -> list[float]:
        scores = tests @ (right / (values + penalty)[:, None]) + offset
        share = len(y) / (len(labels) * counts)
        return [
            per_class(labels[(scores * share**each).argmax(axis=1)], stream.y_test)
            for each in recodings
        ]

    fixed = accuracies(FIXED_PENALTY * length / X.shape[1], [FIXED_RECODING])[0]
    return fixed, max(max(accuracies(length * each, RECODINGS)) for each in PENALTIES)


def per_class(answers: Any, truth: Any) -> float:
    """Return the mean over classes of their accuracies, in percent."""
    return 100 * float(np.mean([np.mean(answers[truth == t] == t) for t in np.unique(truth)]))


# Streams ---------------------------------------------------------------------------------------


def rare_digit(trial: int) -> Stream:
    """The paper's protocol on MNIST: nine digits shown 1,000 times by turns, then 8s."""
    study = mnist_study()
    drawn = draw(
        study.X, study.y, study.test_of(trial), study.rare, study.sizes, seed=[0, trial, 8]
    )
    X, y = (np.concatenate(parts) for parts in zip(drawn.known, drawn.validation, strict=True))
    order = np.random.default_rng(trial).permutation(len(y))
    X, y = np.concatenate([X[order], drawn.rare.X]), np.concatenate([y[order], drawn.rare.y])
    moments = tuple(len(order) + count for count in COUNTS)
    rows = (X.astype(np.float64), y, drawn.test.X.astype(np.float64), drawn.test.y)
    return Stream("MNIST, 8 rare", *rows, moments, fit_intercept=False)


def rare_tomato(frames: Frames, trial: int, name: str = "") -> Stream:
    """Fifty categories shown 300 times (fewer, where there are fewer frames), then tomatoes."""
    rng, train, test = _split(frames, trial, per_test=400)
    known = [rows[:300] for label, rows in train.items() if label != "tomato"]
    shuffled = rng.permutation(np.concatenate(known))
    rows = np.concatenate([shuffled, train["tomato"][: max(COUNTS)]])
    moments = tuple(len(shuffled) + min(count, len(rows) - len(shuffled)) for count in COUNTS)
    return _of_frames(f"Washington, tomato rare{name}", frames, rows, test, moments)


def long_tail(
    frames: Frames, trial: int, name: str = "", order: int = 0, most: int = 300, per_test: int = 100
) -> Stream:
    """25 of 51 categories shown 1 to 20 times, the others 300, or `most`; all shuffled."""
    rng, train, test = _split(frames, trial, per_test)
    labels = sorted(train)
    shown = dict.fromkeys(labels, most)
    for i in rng.permutation(len(labels))[:25]:
        shown[labels[i]] = round(float(np.exp(rng.uniform(0, np.log(20)))))
    rows = rng.permutation(np.concatenate([train[t][: shown[t]] for t in labels]))
    rows = np.random.default_rng(order).permutation(rows) if order else rows
    return _of_frames(f"Washington, long tail{name}", frames, rows, test, (len(rows),))


def one_after_another(
    frames: Frames, trial: int, name: str = "", most: int = 300, per_test: int = 100
) -> Stream:
    """51 categories, 300 of each, or `most`, each shown only when all before it have been."""
    _, train, test = _split(frames, trial, per_test)
    rows = np.concatenate([rows[:most] for rows in train.values()])
    return _of_frames(f"Washington, one after another{name}", frames, rows, test, (len(rows),))


def of_scikit_learn(trial: int) -> Iterator[Stream]:
    """Data that scikit-learn ships or makes, raw and otherwise; a third of it to test."""
    rng = np.random.default_rng(trial)
    X, y = datasets.load_digits(return_X_y=True)
    yield shuffled("digits", X, y, trial)
    features = np.maximum(0, (X - X.mean(axis=0)) @ rng.normal(size=(64, 600)))
    yield shuffled("digits, 600 random features", features, y, trial)
    yield tailed(shuffled("digits, long tail", X, y, trial), rng)
    for load in (datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer):
        X, y = load(return_X_y=True)
        name = load.__name__.removeprefix("load_").replace("_", " ")
        yield shuffled(name, X, y, trial)
        yield shuffled(f"{name}, standardised", StandardScaler().fit_transform(X), y, trial)
    for width, classes in ((20, 4), (200, 10)):
        X, y = datasets.make_classification(
            2000,
            width,
            n_informative=width // 2,
            n_classes=classes,
            n_clusters_per_class=2,
            random_state=trial,
        )
        yield shuffled(f"made, {width} features", X, y, trial)
    # As land cover is: mostly two of seven classes, features of very different size.
    X, y = datasets.make_classification(
        6000,
        54,
        n_informative=15,
        n_classes=7,
        weights=[0.37, 0.48, 0.06, 0.005, 0.02, 0.03, 0.035],
        random_state=trial,
    )
    yield shuffled("made, like land cover", X * np.logspace(-1, 3, 54), y, trial)


def shuffled(name: str, X: Floats, y: Any, trial: int) -> Stream:
    """A random third of the rows to test, the others in random order."""
    order = np.random.default_rng(trial).permutation(len(y))
    test, train = np.split(order, [len(y) // 3])
    return Stream(name, X[train], y[train], X[test], y[test], (len(train),))


def tailed(stream: Stream, rng: np.random.Generator) -> Stream:
    """Keep 2 to 60 rows of half of the classes."""
    keep = np.ones(len(stream.y), dtype=bool)
    for label in rng.permutation(np.unique(stream.y))[::2]:
        few = round(float(np.exp(rng.uniform(np.log(2), np.log(60)))))
        keep[np.flatnonzero(stream.y == label)[few:]] = False
    X, y = stream.X[keep], stream.y[keep]
    return stream._replace(X=X, y=y, moments=(len(y),))


def _of_frames(name: str, frames: Frames, rows: Any, test: Any, moments: Any) -> Stream:
    X, y = frames.X, frames.categories
    return Stream(name, X[rows], y[rows], X[test], y[test], moments)


def _split(data: Frames, trial: int, per_test: int) -> tuple[Any, dict[str, Any], Any]:
    """Return a generator, training rows by category, and test rows: instances left out."""
    rng = np.random.default_rng(trial)
    is_test = np.isin(data.objects, list(data.trials[trial]))
    train, test = {}, []
    for label in np.unique(data.categories).tolist():
        of_label = data.categories == label
        train[label] = rng.permutation(np.flatnonzero(of_label & ~is_test))
        test.append(rng.permutation(np.flatnonzero(of_label & is_test))[:per_test])
    return rng, train, np.concatenate(test)


def root(frames: Frames) -> Frames:
    """Return the root of all features, each row at unit length."""
    X = np.sqrt(frames.X)
    return frames._replace(X=X / np.linalg.norm(X, axis=1, keepdims=True))


def streams(trials: int) -> Iterator[Stream]:
    """Yield every stream there is data for."""
    for trial in range(trials):
        yield from of_scikit_learn(trial)
    frames = washington()
    if frames is None:
        print("NEWFOUND_DATA does not name the data: left out", file=sys.stderr)
        return
    yield from (rare_digit(trial) for trial in range(trials))
    for data, name in ((frames, ""), (root(frames), ", root")):
        yield from (rare_tomato(data, trial, name) for trial in range(min(3, trials)))
        yield from (long_tail(data, trial, name) for trial in range(trials))
        yield one_after_another(data, 0, name)


# Measurements ----------------------------------------------------------------------------------


def measure(trials: int = 10) -> Iterator[Measurement]:
    cases: dict[str, list[list[Found]]] = defaultdict(list)
    for stream in streams(trials):
        cases[stream.name].append(judge(stream))
    beside_fixed, beside_hindsight = [], []
    for name, found in cases.items():
        table = np.array(found)  # by trial, moment, and who
        shown = COUNTS if table.shape[1] > 1 else ("",)
        bars = BARS.get(name, (None,) * len(shown))
        for moment, (count, bar) in enumerate(zip(shown, bars, strict=True)):
            chosen, fixed, best = table[:, moment].T
            beside_fixed.append(float((chosen - fixed).mean()))
            beside_hindsight.append(float((chosen - best).mean()))
            what = f"{name}, shown {count} times" if count else name
            note = f"fixed {fixed.mean():.1f}, hindsight {best.mean():.1f}, std {chosen.std():.1f}"
            yield Measurement(what, float(chosen.mean()), "%", bar, True, note)
    for rival, gaps, mean_bar, worst_bar in (
        ("the fixed setting", beside_fixed, 0.5, -1.0),
        ("hindsight", beside_hindsight, None, None),
    ):
        what = f"to {rival}, over {len(gaps)} cases"
        yield Measurement(f"{what}: mean", float(np.mean(gaps)), "points", mean_bar, True)
        yield Measurement(f"{what}: worst", float(np.min(gaps)), "points", worst_bar, True)
    yield from beside_scikit_learn()
    yield from shuffles()
    frames = washington()
    if frames is not None:
        yield from dips(frames)


def dips(frames: Frames, shown: int = 60, block: int = 5) -> Iterator[Measurement]:
    """What known classes lose when another arrives: the first example alone, then five at a time.

    The part that stays is due to the task, which is harder from then on; the rest is in passing.
    """
    _, train, test = _split(frames, 0, per_test=40)
    X, y, model = frames.X, frames.categories, IncrementalRidgeClassifierCV()
    found, known = [], np.zeros(0, dtype=np.intp)
    for label, rows in train.items():
        before = 100 * model.score(X[known], y[known]) if len(known) else 0.0
        lost = []
        for part in np.split(rows[:shown], [1, *range(block, shown, block)]):
            for row in part:
                model.partial_fit(X[row : row + 1], y[row : row + 1])
            if len(known):
                lost.append(before - 100 * model.score(X[known], y[known]))
        found += [lost] if lost else []
        known = np.concatenate([known, test[y[test] == label]])
    table = np.array(found)
    stays = np.maximum(0, table[:, -1:])
    passing = np.maximum(0, table - stays)
    for moment, when in ((0, "1 example"), (1, "5 examples"), (2, "10 examples")):
        note = f"more than 2 at {np.count_nonzero(passing[:, moment] > 2)} of {len(found)} arrivals"
        what = f"passing dip of known classes after {when} of a new one"
        yield Measurement(what, float(passing[:, moment].max()), "points", note=note)
    what = "most that known classes lose for good when one arrives"
    yield Measurement(what, float(stays.max()), "points")


def beside_scikit_learn() -> Iterator[Measurement]:
    """To the better of the plain estimator and scikit-learn's that chooses, 15 splits, `fit`."""
    gaps = []
    for load in (
        datasets.load_iris,
        datasets.load_wine,
        datasets.load_breast_cancer,
        datasets.load_digits,
    ):
        for how in ("raw", "standardised"):
            X, y = load(return_X_y=True)
            X = X if how == "raw" else StandardScaler().fit_transform(X)
            kinds = (IncrementalRidgeClassifierCV, IncrementalRidgeClassifier, RidgeClassifierCV)
            scores: Any = [[], [], []]
            for train, test in ShuffleSplit(15, test_size=1 / 3, random_state=0).split(X):
                for kind, found in zip(kinds, scores, strict=True):
                    found.append(100 * kind().fit(X[train], y[train]).score(X[test], y[test]))
            ours, plain, theirs = np.mean(scores, axis=1)
            gaps.append(float(ours - max(plain, theirs)))
            name = f"{load.__name__.removeprefix('load_').replace('_', ' ')}, {how}"
            note = f"{ours:.1f} %, plain {plain:.1f}, RidgeClassifierCV {theirs:.1f}"
            what = f"{name}: to the better of plain and scikit-learn"
            yield Measurement(what, gaps[-1], "points", -1.0, True, note)
    yield Measurement("mean of these eight", float(np.mean(gaps)), "points", -0.3, True)


def shuffles(number: int = 20) -> Iterator[Measurement]:
    """How much the order of the same rows matters: the standard deviation of accuracy."""
    X, y = datasets.load_digits(return_X_y=True)
    stream = shuffled("digits", X, y, 0)
    cases = [("digits", [reordered(stream, i) for i in range(number)])]
    frames = washington()
    if frames is not None:
        tails = [long_tail(frames, 0, order=i + 1) for i in range(number)]
        cases.append(("Washington, long tail", tails))
    for name, each in cases:
        found = [judge(one)[0].chosen for one in each]
        note = f"{np.min(found):.1f} to {np.max(found):.1f} %"
        what = f"{name}, {number} orders of the same rows: spread"
        yield Measurement(what, float(np.std(found)), "points", 0.5, note=note)


def reordered(stream: Stream, seed: int) -> Stream:
    """Return the same rows in another order."""
    order = np.random.default_rng(seed).permutation(len(stream.y))
    return stream._replace(X=stream.X[order], y=stream.y[order])


if __name__ == "__main__":
    show(TITLE, measure())
