"""How well is told what was never taught: beside peers, at the default bound, and at what price."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.stats import weibull_min
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.choosing import root
from benchmarks.common import Measurement, rows, show_parts
from benchmarks.streams import washington
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.common.extras import imported_from
from newfound.datasets.rgbd import Frames
from newfound.recognition import evaluation
from newfound.selection import calibration, result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "Telling what was never taught"
FIGURE = Path(__file__).parent.parent / "docs" / "unknown.png"
DRAWS = 5
# Views asked of each category or object.
ASKED = 60
# Draws of three objects, of which there are many.
TRIPLES = 40

Floats = NDArray[np.float64]
Score = Callable[[Floats], Floats]


class Case(NamedTuple):
    """Rows that are taught, further views of the same objects, other objects, and strangers."""

    X: Floats
    y: NDArray[Any]
    near: Floats
    y_near: NDArray[Any]
    new: Floats
    y_new: NDArray[Any]
    strange: Floats


# Data --------------------------------------------------------------------------------------------


def categories(frames: Frames, draw: int, shown: int, taught: int = 26) -> Case:
    """Categories drawn anew, each shown so many times; an object of each is held out."""
    rng = np.random.default_rng([draw, shown])
    names = rng.permutation(np.unique(frames.categories))
    held_out = np.isin(frames.objects, list(frames.trials[draw % len(frames.trials)]))

    def some(where: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
        return rng.permutation(np.flatnonzero(where))[:most]

    learned, near, new = [], [], []
    for name in names[:taught]:
        seen = some((frames.categories == name) & ~held_out, shown + ASKED)
        learned.append(seen[:shown])
        near.append(seen[shown:])
        new.append(some((frames.categories == name) & held_out, ASKED))
    strange = [some(frames.categories == name, ASKED) for name in names[taught:]]
    return _case(frames, learned, near, new, strange)


def objects(frames: Frames, draw: int, shown: int, taught: int = 3) -> Case:
    """Objects for classes, shown at two of the three heights and asked about at the third."""
    rng = np.random.default_rng([draw, shown, taught])
    names = rng.permutation(np.unique(frames.objects))
    height = (1, 2, 4)[draw % 3]
    learned, near = [], []
    for name in names[:taught]:
        own, there = frames.objects == name, frames.sequences == height
        learned.append(rng.permutation(np.flatnonzero(own & ~there))[:shown])
        near.append(rng.permutation(np.flatnonzero(own & there))[:ASKED])
    strange = [
        rng.permutation(np.flatnonzero(frames.objects == name))[:5]
        for name in names[taught : taught + 100]
    ]
    return _case(frames._replace(categories=frames.objects), learned, near, near, strange)


def _case(frames: Frames, *parts: Any) -> Case:
    learned, near, new, strange = map(np.concatenate, parts)
    X, y = frames.X, frames.categories
    return Case(X[learned], y[learned], X[near], y[near], X[new], y[new], X[strange])


# Peers -------------------------------------------------------------------------------------------


def peers(case: Case, model: IncrementalRidgeClassifierCV) -> dict[str, Score]:
    """Return how strange each of several ways finds rows, the stranger the larger."""
    X, y = case.X, case.y
    labels, index = np.unique(y, return_inverse=True)
    means = np.array([X[index == t].mean(axis=0) for t in range(len(labels))])
    return {
        "unknown_proba": model.unknown_proba,
        "novelty": model.novelty,
        "1 - largest score": lambda Q: -model.scores(Q).max(axis=1),
        "1 - max probability": lambda Q: -model.predict_proba(Q).max(axis=1),
        "cosine to the nearest example": lambda Q: -(_unit(Q) @ _unit(X).T).max(axis=1),
        "nearest class mean": lambda Q: _squares(Q, means).min(axis=1),
        "pooled Mahalanobis": _mahalanobis(X - means[index], means),
        "OpenMax": _openmax(model, X, y),
    }


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def _squares(Q: Floats, to: Floats) -> Floats:
    squares = np.square(Q).sum(axis=1)[:, None] + np.square(to).sum(axis=1)
    return np.asarray(np.maximum(squares - 2 * Q @ to.T, 0.0))


def _mahalanobis(deviations: Floats, means: Floats) -> Score:
    """Lee and others, NeurIPS 2018; the covariance is shrunk by a tenth towards a sphere."""
    d = means.shape[1]
    covariance = deviations.T @ deviations / len(deviations)
    covariance = 0.9 * covariance + 0.1 * np.trace(covariance) / d * np.eye(d)
    half = np.linalg.inv(np.linalg.cholesky(covariance)).T
    return lambda Q: _squares(Q @ half, means @ half).min(axis=1)


def _openmax(model: IncrementalRidgeClassifierCV, X: Floats, y: NDArray[Any]) -> Score:
    """Bendale and Boult, CVPR 2016, on the scores as activations, ten top classes.

    Distances are Euclidean, to the mean activation of rows that are classified rightly. The tail is
    a tenth of the rows: their 20 would be all of them here, and do far worse. It is shifted so that
    its least distance is one, as their code does. Scores of rows that were learned are nearly
    one-hot here, so activations are those of five folds, each left out; and softmax takes the
    sharpness of the model, for scores are no logits. Rows are ranked by how much more probable the
    unknown is than the best class.
    """
    labels, activations = model.classes_, np.zeros((len(y), len(model.classes_)))
    fold = IncrementalRidgeClassifier(penalty=model.penalty_)
    for learned, asked in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        activations[asked] = fold.fit(X[learned], y[learned]).scores(X[asked])
    right = labels[activations.argmax(axis=1)] == y
    tops = min(10, len(labels))
    means, tails = [], []
    for label in labels:
        own = activations[(y == label) & right]
        own = own if len(own) else activations[y == label]
        mean = own.mean(axis=0)
        distances = np.sort(np.linalg.norm(own - mean, axis=1))[-max(2, len(own) // 10) :]
        start = distances[0] - 1.0
        shape, _, scale = weibull_min.fit(distances - start, floc=0)
        means.append(mean)
        tails.append((shape, start, scale))

    def strange(Q: Floats) -> Floats:
        scores = model.scores(Q)
        order, found = np.argsort(-scores, axis=1)[:, :tops], []
        for row, best in zip(scores, order, strict=True):
            weights = np.ones(len(labels))
            for rank, t in enumerate(best):
                shape, start, scale = tails[t]
                distance = np.linalg.norm(row - means[t]) - start
                with np.errstate(over="ignore"):
                    beyond = weibull_min.cdf(max(0.0, distance), shape, scale=scale)
                weights[t] = 1 - (tops - rank) / tops * beyond
            logits = np.append(row * weights, (row * (1 - weights)).sum())
            likely = np.exp(model.calibration_.sharpness * (logits - logits.max()))
            likely /= likely.sum()
            found.append(likely[-1] - likely[:-1].max())
        return np.array(found)

    return strange


def auc(strange: Floats, known: Floats) -> float:
    """Return how often, in percent, something strange is found stranger than something known."""
    return 100 * evaluation.auc(known, strange)


# Measurements ------------------------------------------------------------------------------------


def ranking() -> Iterator[Measurement]:
    """Strangers against new objects of known categories, beside peers."""
    for name, frames in _features():
        for shown, bar in ((20, 85.0), (60, 87.0)):
            found: dict[str, list[tuple[float, float]]] = {}
            for draw in range(DRAWS):
                case = categories(frames, draw, shown)
                model = IncrementalRidgeClassifierCV().fit(case.X, case.y)
                for peer, score in peers(case, model).items():
                    strange, new, near = map(score, (case.strange, case.new, case.near))
                    found.setdefault(peer, []).append((auc(strange, new), auc(strange, near)))
            for peer, draws in found.items():
                new, near = np.array(draws).T
                note = f"std {new.std():.1f}, worst {new.min():.1f}; near views {near.mean():.1f}"
                held = bar if peer == "unknown_proba" and not name else None
                what = f"26 x {shown}{name}, AUC against new objects: {peer}"
                yield Measurement(what, float(new.mean()), "%", held, True, note)


def at_the_bound() -> Iterator[Measurement]:
    """What is called what, at the default bound."""
    for name, frames in _features():
        for what, drawn, draws, bars in (
            ("26 categories x 20", partial(categories, shown=20), DRAWS, (8.0, 25.0)),
            ("26 categories x 60", partial(categories, shown=60), DRAWS, (None, None)),
            ("3 objects x 10", partial(objects, shown=10), TRIPLES, (5.0, 10.0)),
            ("3 objects x 3", partial(objects, shown=3), TRIPLES, (12.0, 12.0)),
        ):
            table = []
            for draw in range(draws):
                case = drawn(frames, draw)
                model = IncrementalRidgeClassifierCV().fit(case.X, case.y)
                asked = (case.near, case.new, case.strange, case.X)
                table.append([100 * np.mean(model.unknown_proba(Q) > 0.5) for Q in asked])
            near, new, strange, taught = np.array(table).T
            limits = (None, None) if name else bars
            note = f"std {near.std():.1f}, worst {near.max():.0f}"
            if drawn.func is categories:
                note += f"; new objects {new.mean():.0f}"
            title = f"{what}{name}: near views called unknown"
            yield Measurement(title, float(near.mean()), "%", limits[0], note=note)
            note = f"std {strange.std():.1f}, worst {100 - strange.min():.0f}"
            title = f"{what}{name}: unknown called known"
            yield Measurement(title, 100 - float(strange.mean()), "%", limits[1], note=note)
            yield Measurement(f"{what}{name}: taught called unknown", float(taught.mean()), "%")


def probabilities() -> Iterator[Measurement]:
    """Log loss and expected calibration error, on rows that were held out."""
    X, y = load_digits(return_X_y=True)
    table = []
    for seed in range(DRAWS):
        A, B, a, b = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        model = IncrementalRidgeClassifierCV().fit(A, a)
        peer = CalibratedClassifierCV(RidgeClassifier()).fit(A, a)
        ours, theirs = model.predict_proba(B), peer.predict_proba(B)
        table.append((log_loss(b, ours), log_loss(b, theirs), ece(ours, b), ece(theirs, b)))
    ours, theirs, error, their_error = np.mean(table, axis=0)
    note = f"CalibratedClassifierCV {theirs:.2f}"
    yield Measurement("digits: log loss", ours, "", 0.45, note=note)
    note = f"CalibratedClassifierCV {their_error:.1f}"
    yield Measurement("digits: expected calibration error", error, "%", 3.0, note=note)
    for name, frames in _features():
        for shown in (5, 20, 60):
            found = []
            for draw in range(DRAWS):
                case = categories(frames, draw, shown)
                model = IncrementalRidgeClassifierCV().fit(case.X, case.y)
                found.append(
                    [
                        ece(model.predict_proba(Q), np.searchsorted(model.classes_, y))
                        for Q, y in ((case.near, case.y_near), (case.new, case.y_new))
                    ]
                )
            near, new = np.mean(found, axis=0)
            what = f"Washington 26 x {shown}{name}: expected calibration error"
            yield Measurement(what, near, "%", 3.0, note=f"new objects {new:.1f}")


def ece(probabilities: NDArray[np.floating], truth: NDArray[Any], bins: int = 15) -> float:
    """Return the expected calibration error, in percent: Naeini and others, AAAI 2015."""
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    place = np.minimum((sure * bins).astype(int), bins - 1)
    parts = [place == each for each in range(bins) if (place == each).any()]
    return 100 * float(
        sum(abs(sure[part].mean() - right[part].mean()) * part.mean() for part in parts)
    )


def price(n: int = 8000, d: int = 1280, T: int = 51) -> Iterator[Measurement]:
    """What it costs: in a stream of single rows, and when a row is looked at."""
    X, y = rows(n, d, T)
    asked = {True: calibration.calibrate, False: _nobody}
    times = dict.fromkeys(asked, 0.0)
    models = {each: IncrementalRidgeClassifierCV() for each in asked}
    for start in range(0, n, 100):  # by turns, so that a busy moment hits both
        for each, model in models.items():
            with patch.object(result, "calibrate", asked[each]):
                began = perf_counter()
                for i in range(start, start + 100):
                    model.partial_fit(X[i : i + 1], y[i : i + 1])
                times[each] += perf_counter() - began
    ratio = times[True] / times[False]
    yield Measurement(
        f"stream of {n} rows, d = {d}, T = {T}: to one that does not ask", ratio, bar=1.05
    )
    strange = np.random.default_rng(1).normal(size=(300, d))
    ratio = _looks(models[True], X[:300])
    yield Measurement("a look, to predict and novelty", ratio, bar=1.3)
    ratio = _looks(models[True], strange)
    yield Measurement("the same for strangers, whose examples are looked at, too", ratio)


def _looks(model: IncrementalRidgeClassifierCV, Q: NDArray[np.floating]) -> float:
    """Return what looking at single rows takes, to predict and novelty, in medians."""
    looks, before = [], []
    for row in Q[:, None]:
        began = perf_counter()
        model.look(row)
        between = perf_counter()
        model.predict(row)
        model.novelty(row)
        looks.append(between - began)
        before.append(perf_counter() - between)
    return float(np.median(looks) / np.median(before))


def _nobody(*_: Any) -> Any:
    """Ask nobody."""
    return calibration.Calibration()
    yield


def figure() -> Iterator[Measurement]:
    """Draw how known things, new ones and strangers are told apart: the figure of the docs."""
    frames = washington()
    if frames is not None:
        with imported_from("plots"):
            from matplotlib.figure import Figure

        drawing = Figure(figsize=(9.6, 3.8), layout="constrained")
        left, right = drawing.subplots(1, 2)
        cases = [categories(frames, draw, 20) for draw in range(DRAWS)]
        models = [IncrementalRidgeClassifierCV().fit(case.X, case.y) for case in cases]
        _draw_curves(cases, models, left)
        _draw_histograms(cases, models, right)
        for axis in (left, right):
            axis.spines[["top", "right"]].set_visible(False)
        drawing.savefig(FIGURE, dpi=110)
    yield from ()


def _draw_curves(
    cases: list[Case], models: list[IncrementalRidgeClassifierCV], axis: "Axes"
) -> None:
    """Draw ROC curves: means over the draws of what is told at the same price."""
    price, told = np.linspace(0, 1, 201), dict[str, list[Floats]]()
    for case, model in zip(cases, models, strict=True):
        for peer, score in peers(case, model).items():
            curve = evaluation.roc_curve(score(case.new), score(case.strange))
            told.setdefault(peer, []).append(np.interp(price, *curve))
    for peer, draws in told.items():
        ours = peer == "unknown_proba"
        mean = 100 * np.mean(draws, axis=0)
        axis.plot(100 * price, mean, "k" if ours else "", lw=2 if ours else 1, label=peer)
    axis.set(
        xlabel="new objects of known categories called unknown, %",
        ylabel="unknown categories called unknown, %",
    )
    axis.legend(fontsize=8, loc="lower right", frameon=False)


def _draw_histograms(
    cases: list[Case], models: list[IncrementalRidgeClassifierCV], axis: "Axes"
) -> None:
    for of, part, colour in (
        ("new views of taught objects", "near", "tab:blue"),
        ("new objects of taught categories", "new", "tab:orange"),
        ("categories never taught", "strange", "tab:red"),
    ):
        pairs = zip(cases, models, strict=True)
        found = np.concatenate([model.unknown_proba(getattr(case, part)) for case, model in pairs])
        bins, weights = np.linspace(0, 1, 26).tolist(), np.full(len(found), 100 / len(found))
        axis.hist(found, bins, weights=weights, histtype="step", color=colour, label=of, lw=1.5)
    axis.axvline(0.5, color="0.6", lw=1, ls=":")
    axis.set(xlabel="unknown_proba", ylabel="of the views, %", yscale="log")
    axis.legend(fontsize=8, frameon=False)


PARTS = {
    "figure": figure,
    "ranking": ranking,
    "bound": at_the_bound,
    "probabilities": probabilities,
    "price": price,
}


def measure() -> Iterator[Measurement]:
    for part in PARTS.values():
        yield from part()


def _features() -> Iterator[tuple[str, Frames]]:
    frames = washington()
    if frames is None:
        print("NEWFOUND_DATA does not name the data: left out", file=sys.stderr)
        return
    yield "", frames
    yield ", root", root(frames)


if __name__ == "__main__":
    show_parts(TITLE, PARTS)
