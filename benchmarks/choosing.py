"""How good is what is chosen in the stream: beside other rules, and beside hindsight."""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Measurement, show
from benchmarks.streams import pixels, washington
from newfound import IncrementalRidgeClassifierCV
from newfound.datasets.rgbd import Frames
from newfound.selection.rules import paper_rule
from newfound.selection.selector import right_answers
from newfound.solvers.recursive import RecursiveSolver

TITLE = "Choosing penalty and recoding inside the stream"
COUNTS = (1, 5, 10, 50, 100, 500)
TARGETS = {
    "total": (81.0, 83.3, 83.6, 84.8, 85.3, 86.0),
    "rare": (25.0, 45.0, 50.0, 60.0, 65.0, 72.0),
}


class Found(NamedTuple):
    """Accuracies in percent: by rule, of all classes and of the rare ones; of fixed recodings."""

    total: dict[str, float]
    rare: dict[str, float]
    fixed: NDArray[np.float64]  # for each recoding, with the penalty validated without recoding
    tuned: NDArray[np.float64]  # for each recoding, with the penalty validated for it


def judge(model: IncrementalRidgeClassifierCV, X: Any, y: Any, rare: list[Any]) -> Found:
    """Ask one model what it chose, and what other rules choose from the same candidates."""
    sums = model.to_state().sums
    solvers = [
        RecursiveSolver(sums, float(penalty), model.fit_intercept)
        for penalty in np.unique(model.validation_scores_["penalty"])
    ]
    rows, held = model.holdout_
    votes = np.isin(held, model.classes_[model.class_count_ >= model.min_class_count])
    validation = _accuracies(solvers, rows[votes], held[votes], model.recodings)
    by_class = _accuracies(solvers, X, y, model.recodings)
    validated = validation.mean(axis=2).argmax(axis=0)  # the penalty for each recoding
    labels, answers = np.unique(y), model.predict(X)
    mine = np.array([np.mean(answers[y == label] == label) for label in labels])
    chosen = {
        "naive": (validated[0], 0),
        "recoding 0.7": (validated[7], 7),
        "paper": paper_rule(validation, 0.0),
        "paper, one standard error": paper_rule(validation, "one-se"),
    }
    found = {name: by_class[k, a] for name, (k, a) in chosen.items()} | {"what-if": mine}
    is_rare = np.isin(labels, rare)
    return Found(
        {name: 100 * float(each.mean()) for name, each in found.items()},
        {name: 100 * float(each[is_rare].mean()) for name, each in found.items()},
        100 * by_class[validated[0]].mean(axis=1),
        100 * by_class[validated, np.arange(len(validated))].mean(axis=1),
    )


def _accuracies(
    solvers: list[RecursiveSolver], X: Any, y: Any, recodings: Any
) -> NDArray[np.float64]:
    """Return the accuracy by solver, recoding and class of y, classes sorted."""
    # Columns of the weights are in the order in which classes arrived.
    columns = {label: column for column, label in enumerate(solvers[0].sums.labels.tolist())}
    truth = np.array([columns[label] for label in y.tolist()])
    _, index, sizes = np.unique(y, return_inverse=True, return_counts=True)
    return np.array(
        [
            [
                np.bincount(index, right) / sizes
                for right in right_answers(solver, X, truth, recodings)
            ]
            for solver in solvers
        ]
    )


def rare_digit(data: Any, trial: int) -> list[Found]:
    """The paper's protocol on MNIST: nine digits shown 1,200 times, 8 a few times."""
    X, y, X_test, y_test = data
    rng = np.random.default_rng(trial)
    train = {t: rng.permutation(np.flatnonzero(y == t))[:1200] for t in range(10)}
    test = np.concatenate([rng.permutation(np.flatnonzero(y_test == t))[:200] for t in range(10)])
    known = rng.permutation(np.concatenate([train[t] for t in range(10) if t != 8]))
    model = IncrementalRidgeClassifierCV(fit_intercept=False).partial_fit(X[known], y[known])
    found, shown = [], 0
    for count in COUNTS:
        rows = train[8][shown:count]
        model.partial_fit(X[rows], y[rows])
        shown = count
        found.append(judge(model, X_test[test], y_test[test], [8]))
    return found


def rare_tomato(data: Frames, trial: int) -> list[Found]:
    """Fifty categories shown 300 times (fewer, where there are fewer frames), tomato a few."""
    rng, train, test = _split(data, trial, per_test=400)
    known = [rows[:300] for label, rows in train.items() if label != "tomato"]
    shuffled = rng.permutation(np.concatenate(known))
    X, y = data.X, data.categories
    model = IncrementalRidgeClassifierCV().partial_fit(X[shuffled], y[shuffled])
    found, shown = [], 0
    for count in COUNTS:
        rows = train["tomato"][shown:count]
        model.partial_fit(X[rows], y[rows])
        shown = count
        found.append(judge(model, X[test], y[test], ["tomato"]))
    return found


def long_tail(data: Frames, trial: int) -> Found:
    """25 of 51 categories shown 1 to 20 times, the others 300; all shuffled."""
    rng, train, test = _split(data, trial, per_test=100)
    labels = sorted(train)
    rare = [labels[i] for i in rng.permutation(51)[:25]]
    shown = dict.fromkeys(labels, 300)
    for label in rare:
        shown[label] = round(float(np.exp(rng.uniform(0, np.log(20)))))
    rows = rng.permutation(np.concatenate([train[t][: shown[t]] for t in labels]))
    X, y = data.X, data.categories
    model = IncrementalRidgeClassifierCV().fit(X[rows], y[rows])
    found = judge(model, X[test], y[test], rare)
    balanced = IncrementalRidgeClassifierCV(class_weight="balanced").fit(X[rows], y[rows])
    answers = balanced.predict(X[test])
    each = {t: 100 * float(np.mean(answers[y[test] == t] == t)) for t in labels}
    rare_ones = float(np.mean([each[t] for t in rare]))
    return found._replace(
        total={**found.total, "rebalanced": float(np.mean(list(each.values())))},
        rare={**found.rare, "rebalanced": rare_ones},
    )


class Arrivals(NamedTuple):
    """What became of 51 categories taught one after another, in percent and points."""

    final: float
    batch: float
    dips: NDArray[np.float64]  # by category and moment: accuracy of known ones, below what it was
    stays: NDArray[np.float64]  # by category: the part of it that stays, the task being harder now


def arrivals(data: Frames, shown: int = 60, block: int = 5) -> Arrivals:
    """Show 51 categories one after another: the first example alone, then five at a time."""
    _, train, test = _split(data, 0, per_test=40)
    X, y, rows = data.X, data.categories, []
    model = IncrementalRidgeClassifierCV()
    dips, known = [], np.zeros(0, dtype=np.intp)
    for label in train:
        before = _accuracy(model, X[known], y[known]) if len(known) else 0.0
        rows.append(train[label][:shown])
        dip = []
        for part in np.split(rows[-1], [1, *range(block, shown, block)]):
            model.partial_fit(X[part], y[part])
            if len(known):
                dip.append(before - _accuracy(model, X[known], y[known]))
        if dip:
            dips.append(dip)
        known = np.concatenate([known, test[y[test] == label]])
    final = _accuracy(model, X[test], y[test])
    batch = _batch(X, y, np.concatenate(rows), test)
    return Arrivals(final, batch, np.array(dips), np.maximum(0, np.array(dips)[:, -1]))


def _accuracy(model: Any, X: Any, y: Any) -> float:
    return 100 * float(np.mean(model.predict(X) == y))


def _batch(X: Any, y: Any, rows: Any, test: Any) -> float:
    """Ridge on all at once, its penalty chosen on a sixth of the rows."""
    from sklearn.linear_model import RidgeClassifier

    rng = np.random.default_rng(0)
    held, kept = np.split(rng.permutation(rows), [len(rows) // 6])
    models = [RidgeClassifier(p).fit(X[kept], y[kept]) for p in np.logspace(0, 5, 16)]
    best = max(models, key=lambda model: model.score(X[held], y[held]))
    return 100 * float(best.score(X[test], y[test]))


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


class Column(NamedTuple):
    """What all trials found at one count: values by rule; means by fixed recoding."""

    shown: int
    total: dict[str, NDArray[np.float64]]
    rare: dict[str, NDArray[np.float64]]
    fixed: NDArray[np.float64]
    tuned: NDArray[np.float64]


def columns(trials: list[list[Found]]) -> list[Column]:
    """Gather what several trials found."""
    gathered = []
    for count, found in zip(COUNTS, zip(*trials, strict=True), strict=True):
        rules = found[0].total
        total = {rule: np.array([each.total[rule] for each in found]) for rule in rules}
        rare = {rule: np.array([each.rare[rule] for each in found]) for rule in rules}
        fixed, tuned = (
            np.mean([getattr(each, name) for each in found], axis=0) for name in ("fixed", "tuned")
        )
        gathered.append(Column(count, total, rare, fixed, tuned))
    return gathered


def measure(trials: int = 10) -> Iterator[Measurement]:
    digits, frames = pixels(), washington()
    if digits is None or frames is None:
        print("NEWFOUND_DATA does not name the data: left out", file=sys.stderr)
        return
    of_digits = [rare_digit(digits, trial) for trial in range(trials)]
    yield from _of_rare_class("MNIST, 8", of_digits)
    of_tomato = [rare_tomato(frames, trial) for trial in range(min(3, trials))]
    yield from _of_rare_class("Washington RGB-D, tomato", of_tomato)
    yield from _of_tail([long_tail(frames, trial) for trial in range(min(5, trials))])
    yield from _of_arrivals(arrivals(frames))


def _of_rare_class(name: str, trials: list[list[Found]]) -> Iterator[Measurement]:
    for column in columns(trials):
        shown = f"{name} shown {column.shown} times"
        for rule, values in column.total.items():
            rare = column.rare[rule]
            note = f"rare {rare.mean():.1f} %, se {se(values):.1f} and {se(rare):.1f}"
            yield Measurement(f"{shown}: {rule}", float(values.mean()), "%", note=note)
        for fixed, how in ((column.fixed, ""), (column.tuned, ", penalty for each")):
            what = f"{shown}: best fixed recoding in hindsight{how}"
            note = f"recoding {fixed.argmax() / 10:.1f}"
            yield Measurement(what, float(fixed.max()), "%", note=note)


def _of_tail(trials: list[Found]) -> Iterator[Measurement]:
    values = {rule: [found.total[rule] for found in trials] for rule in trials[0].total}
    for kind, how in (("fixed", ""), ("tuned", ", penalty for each")):
        best = [float(getattr(found, kind).max()) for found in trials]
        values[f"best fixed recoding in hindsight{how}"] = best
    for rule, each in values.items():
        note = " ".join(f"{value:.0f}" for value in each)
        yield Measurement(f"long tail: {rule}", float(np.mean(each)), "%", note=note)


def _of_arrivals(stream: Arrivals) -> Iterator[Measurement]:
    name = "51 classes one after another"
    yield Measurement(f"{name}: final accuracy", stream.final, "%")
    yield Measurement(f"{name}: batch solution, penalty validated", stream.batch, "%")
    passing = np.maximum(0, stream.dips - stream.stays[:, None])
    for moment, when in ((0, "1 example"), (1, "5 examples"), (2, "10 examples")):
        worst = float(passing[:, moment].max())
        note = f"more than 2 at {np.count_nonzero(passing[:, moment] > 2)} of 50 arrivals"
        what = f"{name}: passing dip of known ones after {when} of the new"
        yield Measurement(what, worst, "points", 2.0, note=note)
    yield Measurement(
        f"{name}: most that known ones lose for good", float(stream.stays.max()), "points"
    )


def se(values: NDArray[np.float64]) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


if __name__ == "__main__":
    show(TITLE, measure())
