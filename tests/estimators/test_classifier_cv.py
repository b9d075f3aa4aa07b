"""Choosing in the stream: the paper's rule to the letter, and the same public face throughout."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import check_estimator

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.selection.schedule import Work
from newfound.selection.selector import RENEW
from tests import oracles

PENALTIES = [0.3, 3.0, 30.0]
RECODINGS = [0.0, 0.25, 0.5, 0.75, 1.0]
VARIANTS: list[dict[str, Any]] = [
    {},
    {"rule": "paper"},
    {"rule": "paper", "tolerance": "one-se", "validation": "progressive"},
    {"rule": None, "recodings": 0.5},
    {"validation": "progressive"},
    {"class_weight": "balanced"},
    {"class_weight": {}},
    {"fit_intercept": False, "holdout_cap": 5},
]


def stream(seed: int, n: int = 120, T: int = 4, d: int = 5) -> tuple[Any, Any]:
    """Uneven, overlapping classes: the rarest comes last."""
    rng = np.random.default_rng(seed)
    shares = np.array([0.4, 0.3, 0.2, 0.1])[:T]
    y = rng.choice(np.array(["mug", "cup", "jug", "bowl"])[:T], n, p=shares / shares.sum())
    means = {label: rng.normal(size=d) for label in np.unique(y)}
    return rng.normal(size=(n, d)) + np.array([means[label] for label in y]), y


class Naive:
    """Stores everything and applies the paper's section VI-C literally."""

    def __init__(self, every: int, least: int, tolerance: float, intercept: bool) -> None:
        self.every, self.least, self.tolerance = every, least, tolerance
        self.intercept = intercept
        self.learned: list[tuple[Any, str]] = []
        self.held: list[tuple[Any, str]] = []

    def show(self, x: Any, label: str) -> None:
        shown = sum(other == label for _, other in self.learned + self.held) + 1
        (self.learned if shown % self.every else self.held).append((x, label))

    def choose(self) -> tuple[float, float]:
        X, y = np.array([x for x, _ in self.learned]), np.array([y for _, y in self.learned])
        labels = np.unique(y)
        counts = {t: sum(other == t for _, other in self.learned + self.held) for t in labels}
        voters = [t for t in labels if counts[t] >= self.least]
        voters = [t for t in voters if any(other == t for _, other in self.held)]
        if not voters:
            return PENALTIES[0], 0.75  # the nearest to 0.7
        masses = [np.sum(y == t) for t in labels]
        accuracy = {}
        for penalty in PENALTIES:
            W, b = oracles.ridge(X, oracles.one_hot(y, labels), penalty, self.intercept)
            for recoding in RECODINGS:
                factors = oracles.recode(masses, recoding)
                right: dict[Any, list[bool]] = {t: [] for t in voters}
                for x, label in self.held:
                    if label in voters:
                        right[label].append(labels[((x @ W + b) * factors).argmax()] == label)
                accuracy[penalty, recoding] = np.mean([np.mean(hits) for hits in right.values()])
        best = {r: max(PENALTIES, key=lambda p: accuracy[p, r]) for r in RECODINGS}
        floor = accuracy[best[0.0], 0.0] - self.tolerance - 1e-9
        recoding = max(r for r in RECODINGS if accuracy[best[r], r] >= floor)
        return best[recoding], recoding


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_the_papers_rule_equals_a_naive_oracle_at_every_step(seed: int, tolerance: float) -> None:
    X, y = stream(seed)
    intercept = seed % 2 == 0
    naive = Naive(every=3, least=10, tolerance=tolerance, intercept=intercept)
    model = IncrementalRidgeClassifierCV(
        penalties=PENALTIES,
        recodings=RECODINGS,
        rule="paper",
        tolerance=tolerance,
        holdout_every=3,
        min_class_count=10,
        fit_intercept=intercept,
    )
    chosen = set()
    for x, label in zip(X, y, strict=True):
        naive.show(x, label)
        model.partial_fit(x[None], [label])
        expected = naive.choose()
        assert (model.penalty_, *set(model.recoding_)) == expected
        chosen.add(expected)
    assert len(chosen) > 3


def test_one_standard_error_is_an_allowance_between() -> None:
    X, y = stream(3, n=400)
    found = [
        IncrementalRidgeClassifierCV(rule="paper", tolerance=tolerance).fit(X, y).recoding_[0]
        for tolerance in (0.0, "one-se", 1.0)
    ]
    assert found == sorted(found)
    assert found[2] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator_passes(parameters: dict[str, Any]) -> None:
    results = check_estimator(IncrementalRidgeClassifierCV(**parameters))
    done = {result["check_name"]: result["status"] for result in results}
    left = {name for name, status in done.items() if status != "passed"}
    assert left <= {"check_array_api_input"}
    assert len(done) > 50


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_every_example_is_learned_or_held_back_and_the_answer_is_ridge(
    parameters: dict[str, Any],
) -> None:
    X, y = stream(7, n=200)
    model = IncrementalRidgeClassifierCV(**parameters)
    for part in np.array_split(np.arange(200), 30):
        model.partial_fit(X[part], y[part])
    held, _ = model.holdout_
    is_held = np.array([(row == held).all(axis=1).any() for row in X])
    assert is_held.sum() == len(held)
    assert dict(zip(model.classes_, model.class_count_, strict=True)) == {
        t: np.sum(y == t) for t in np.unique(y)
    }
    assert model.n_samples_seen_ == 200
    learned, targets = X[~is_held], oracles.one_hot(y[~is_held], model.classes_)
    weights = None
    if parameters.get("class_weight") == "balanced":
        weights = oracles.balanced_weights(y[~is_held])
    ridge = Ridge(model.penalty_, fit_intercept=parameters.get("fit_intercept", True))
    ridge.fit(learned, targets, sample_weight=weights)
    arrival = np.searchsorted(model.classes_, model.sums_.labels)
    masses = (targets if weights is None else weights[:, None] * targets).sum(axis=0)
    factors = oracles.recode_each(masses[arrival], model.recoding_[arrival])
    np.testing.assert_allclose(
        model.coef_[arrival], ridge.coef_[arrival] * factors[:, None], atol=1e-8
    )


@pytest.mark.slow
@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_the_scale_of_the_features_does_not_matter(parameters: dict[str, Any]) -> None:
    X, y = stream(5, n=500)
    for scale in (1000.0, 1e-4):
        one, other = (IncrementalRidgeClassifierCV(**parameters) for _ in range(2))
        for part in np.array_split(np.arange(500), 40):
            one.partial_fit(X[part], y[part])
            other.partial_fit(scale * X[part], y[part])
            np.testing.assert_array_equal(one.predict(X), other.predict(scale * X))
        assert other.penalty_ == pytest.approx(scale**2 * one.penalty_)


@pytest.mark.slow
@given(st.integers(0, 2**31), st.sets(st.integers(1, 149), max_size=8), st.sampled_from(VARIANTS))
@settings(max_examples=40, deadline=None)
def test_how_a_stream_is_cut_does_not_matter(
    seed: int, cuts: set[int], parameters: dict[str, Any]
) -> None:
    """What is learned and what is held out is the same, and by which."""
    X, y = stream(seed, n=150)
    whole = IncrementalRidgeClassifierCV(**parameters).fit(X, y)
    parts = IncrementalRidgeClassifierCV(**parameters)
    for rows, labels in zip(np.split(X, sorted(cuts)), np.split(y, sorted(cuts)), strict=True):
        parts.partial_fit(rows, labels)
    np.testing.assert_array_equal(whole.class_count_, parts.class_count_)
    one, other = (
        sums.cross[:, sums.order] for sums in (whole.to_state().sums, parts.to_state().sums)
    )
    np.testing.assert_allclose(one, other, atol=1e-10)
    held = [
        sorted((label, *row) for row, label in zip(*model.holdout_, strict=True))
        for model in (whole, parts)
    ]
    assert held[0] == held[1]


def contents(model: Any, folder: Path) -> bytes:
    path = folder / "model.newfound"
    model.save(path)
    return path.read_bytes()


def test_forgetting_all_that_was_learned_of_a_class_leaves_what_was_held_back() -> None:
    X = np.random.default_rng(0).normal(size=(24, 3))
    y = np.array(["a"] * 12 + ["b"] * 12)
    model = IncrementalRidgeClassifierCV().fit(X, y)
    learned = [i for i in range(12) if (i + 1) % 6]
    model.forget(X[learned], y[learned])
    assert dict(zip(model.classes_, model.class_count_, strict=True)) == {"a": 2, "b": 12}
    assert model.holdout_[1].tolist() == ["b", "b"]


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (np.full((1, 5), 1e3), ["bowl"], "cannot forget"),
        (np.zeros((1, 5)), ["spoon"], "no class 'spoon'"),
        (np.zeros((500, 5)), ["mug"] * 500, "were taught"),
        (np.zeros((1, 4)), ["mug"], "4 features"),
        (np.full((1, 5), np.nan), ["mug"], "NaN"),
    ],
)
def test_what_cannot_be_forgotten_changes_nothing(
    rows: Any, labels: list[str], message: str, tmp_path: Path
) -> None:
    X, y = stream(4, n=200)
    model = IncrementalRidgeClassifierCV().fit(X, y)
    model.predict(X)
    before, answers = contents(model, tmp_path), model.decision_function(X)
    with pytest.raises(ValueError, match=message):
        model.forget(rows, labels)
    assert contents(model, tmp_path) == before
    np.testing.assert_allclose(model.decision_function(X), answers, atol=1e-9)


def test_merging_is_the_union_for_either_kind() -> None:
    X, y = stream(6, n=400)
    half = slice(0, 200), slice(200, 400)
    kinds = (IncrementalRidgeClassifierCV, IncrementalRidgeClassifier)
    for first, second in ((kinds[0], kinds[0]), (kinds[0], kinds[1]), (kinds[1], kinds[0])):
        one, two = (kind().fit(X[h], y[h]) for kind, h in zip((first, second), half, strict=True))
        one.merge(two)
        assert dict(zip(one.classes_, one.class_count_, strict=True)) == {
            t: np.sum(y == t) for t in np.unique(y)
        }
        rows, _ = one.holdout_
        total = one.to_state().sums.cross.sum(axis=1) + rows.sum(axis=0)
        np.testing.assert_allclose(total, X.sum(axis=0), atol=1e-9)
        assert one.score(X, y) > 0.5
        fresh = first().merge(one)
        np.testing.assert_array_equal(fresh.class_count_, one.class_count_)
        assert first().merge(second()).__getstate__() == first().__getstate__()


def test_merging_more_than_may_be_held_back_learns_the_rest() -> None:
    X, y = stream(6, n=400)
    models = [
        IncrementalRidgeClassifierCV(holdout_cap=4).fit(X[h], y[h])
        for h in (slice(0, 200), slice(200, 400))
    ]
    merged = models[0].merge(models[1])
    assert np.unique(merged.holdout_[1], return_counts=True)[1].max() == 4
    assert merged.n_samples_seen_ == 400


def test_renaming_moves_what_is_held_back() -> None:
    X, y = stream(8, n=300)
    model = IncrementalRidgeClassifierCV(holdout_cap=10).fit(X, y)
    held = model.holdout_[1].tolist().count("cup")
    model.rename_class("cup", "glass")
    assert model.holdout_[1].tolist().count("glass") == held
    model.rename_class("glass", "mug")
    assert model.n_samples_seen_ == 300
    assert model.holdout_[1].tolist().count("mug") == 10
    assert sorted(model.classes_) == ["bowl", "jug", "mug"]
    model.rename_class("mug", "mug")
    model.predict(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalties": []}, "penalties must be a number or several"),
        ({"penalties": "some"}, "penalties must be a number or several"),
        ({"penalties": [0.0, 1.0]}, "penalties must be from"),
        ({"recodings": [0.5, 1.5]}, "recodings must be from 0 to 1"),
        ({"rule": "best"}, "rule must be one of"),
        ({"rule": None}, "recodings=0.7"),
        ({"holdout_every": 1}, "holdout_every must be a whole number from 2"),
        ({"holdout_cap": 1.5}, "holdout_cap must be a whole number"),
        ({"min_class_count": 0}, "min_class_count must be"),
        ({"tolerance": -0.1}, "tolerance must be"),
        ({"tolerance": "two-se"}, "tolerance must be"),
        ({"validation": "none"}, "validation must be one of"),
        ({"class_weight": "even"}, "class_weight must be"),
        ({"random_state": None}, "random_state must be"),
    ],
    ids=str,
)
def test_parameters_are_checked_before_anything_changes(
    parameters: dict[str, Any], message: str, tmp_path: Path
) -> None:
    X, y = stream(0)
    with pytest.raises(ValueError, match=message):
        IncrementalRidgeClassifierCV(**parameters).fit(X, y)
    model = IncrementalRidgeClassifierCV().fit(X, y)
    before = contents(model, tmp_path)
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters).partial_fit(X, y)
    model.set_params(**IncrementalRidgeClassifierCV().get_params())
    assert contents(model, tmp_path) == before


def test_a_failure_half_way_leaves_everything_as_it_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X, y = stream(9, n=200)
    model = IncrementalRidgeClassifierCV().fit(X, y)
    model.predict(X)
    before = contents(model, tmp_path)

    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("newfound.sums.sums.Sums.add", fail)
    with pytest.raises(MemoryError):
        model.partial_fit(X[:30] + 1, ["plate"] * 30)
    monkeypatch.undo()
    assert contents(model, tmp_path) == before


def test_progressive_validation_counts_tests_taken_before_learning() -> None:
    X, y = stream(12, n=90)
    model = IncrementalRidgeClassifierCV(
        PENALTIES, RECODINGS, rule="paper", validation="progressive", min_class_count=5
    )
    hits: dict[str, Any] = {}
    tests: dict[str, float] = {}
    fading = np.exp(-1 / 200)
    for i in range(90):
        seen = np.unique(y[:i])
        if y[i] in seen:
            table = np.zeros((len(PENALTIES), len(RECODINGS)))
            masses = [np.sum(y[:i] == t) for t in seen]
            for k, penalty in enumerate(PENALTIES):
                W, b = oracles.ridge(X[:i], oracles.one_hot(y[:i], seen), penalty)
                for a, recoding in enumerate(RECODINGS):
                    scores = (X[i] @ W + b) * oracles.recode(masses, recoding)
                    table[k, a] = seen[scores.argmax()] == y[i]
            hits[y[i]] = fading * hits.get(y[i], 0.0) + table
            tests[y[i]] = fading * tests.get(y[i], 0.0) + 1
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    kept, labels = model.to_state().kept_by("selection"), model.sums_.labels.tolist()
    for label, expected in hits.items():
        np.testing.assert_allclose(kept["hits"][labels.index(label)], expected)
        assert kept["tests"][labels.index(label)] == pytest.approx(tests[label])
    voting = [t for t in tests if np.sum(y == t) >= 5]
    expected = np.mean([hits[t] / tests[t] for t in voting], axis=0)
    np.testing.assert_allclose(model.validation_scores_["accuracy"], expected.ravel())
    assert not len(model.holdout_[0])


@pytest.mark.slow
def test_what_ifs_are_spread_over_the_stream_and_rarely_renewed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pieces: list[int] = []
    original = Work.advance

    def counting(self: Work, candidates: Any) -> None:
        pieces[-1] += 1
        original(self, candidates)

    monkeypatch.setattr(Work, "advance", counting)
    X, y = load_digits(return_X_y=True)
    model = IncrementalRidgeClassifierCV()
    for i in range(len(y)):
        pieces.append(0)
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        model.predict(X[i : i + 1])
    at_once = [count for count in pieces if count > 1]
    penalties = len(np.unique(model.validation_scores_["penalty"]))
    # A question waits for the first schedule, and while all ten digits become known at about the
    # same time; after that pieces come one by one.
    assert len(at_once) <= 3
    assert max(pieces[600:]) == 1
    assert sum(pieces) <= penalties * 3 * (1 + np.log(len(y)) / np.log(RENEW))


@pytest.mark.slow
def test_memory_is_bounded() -> None:
    rng = np.random.default_rng(0)
    model = IncrementalRidgeClassifierCV(holdout_cap=20)
    sizes = []
    for n in (4000, 40_000):
        y = rng.integers(0, 3, n)
        model.partial_fit(rng.normal(size=(n, 4)) + y[:, None], y)
        model.predict([[0.0] * 4])
        sizes.append(len(pickle.dumps(model)))
    assert sizes[1] < 1.05 * sizes[0]


@pytest.mark.slow
def test_the_what_if_rule_raises_a_class_seen_a_few_times() -> None:
    """Each digit in turn is shown four times beside nine known ones."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    X_test, y_test = X[1200:], y[1200:]
    found = []
    for digit in range(10):
        few = np.flatnonzero(y[:1200] == digit)[:4]
        rows = np.concatenate([np.flatnonzero(y[:1200] != digit), few])
        naive = IncrementalRidgeClassifierCV(rule=None, recodings=0.0).fit(X[rows], y[rows])
        model = IncrementalRidgeClassifierCV().fit(X[rows], y[rows])
        is_rare = y_test == digit
        for one in (naive, model):
            found.append((one.score(X_test[is_rare], y_test[is_rare]), one.score(X_test, y_test)))
    rare, total = np.array(found).reshape(10, 2, 2).mean(axis=0).T
    assert rare[0] < 0.05
    assert rare[1] > 0.6
    assert total[1] > total[0] + 0.04


def test_while_one_class_is_known_half_of_what_does_it_no_harm_is_chosen() -> None:
    X, y = stream(1, n=100, T=1)
    X, y = np.vstack([X, X[:2] + 5]), [*y, "cup", "cup"]
    model = IncrementalRidgeClassifierCV().fit(X, y)
    paper = IncrementalRidgeClassifierCV(rule="paper").fit(X, y)
    assert paper.recoding_[0] > 0
    np.testing.assert_allclose(model.recoding_, paper.recoding_ / 2)
    assert model.penalty_ == paper.penalty_


def test_validation_scores_are_a_table_and_the_plot_shows_the_choice() -> None:
    X, y = load_digits(return_X_y=True)
    for parameters in ({}, {"rule": "paper"}, {"rule": None, "recodings": 0.3}):
        model = IncrementalRidgeClassifierCV(**parameters).fit(X, y)
        scores = model.validation_scores_
        lengths = {len(column) for column in scores.values()}
        assert lengths == {10 if "recodings" in parameters else 110}
        assert np.nanmax(scores["accuracy"]) > 0.85
        ax = model.plot_validation()
        assert ax.get_xlabel() == "recoding"
        assert any("chosen" in text.get_text() for text in ax.get_legend().get_texts())
        ax.figure.clear()
    tiny = IncrementalRidgeClassifierCV().fit([[0.0], [1.0]], ["a", "b"])
    assert np.isnan(tiny.validation_scores_["accuracy"]).all()
    assert tiny.plot_validation().get_xlabel() == "recoding"


def test_one_class_and_one_example_are_enough() -> None:
    for parameters in VARIANTS:
        model = IncrementalRidgeClassifierCV(**parameters)
        assert model.partial_fit([[1.0, 2.0]], ["mug"]).predict([[0.0, 0.0]]).tolist() == ["mug"]
        model.partial_fit([[1.0, 2.0]] * 20, ["mug"] * 20, classes=["mug", "cup"])
        assert model.predict([[9.0, 0.0]]).tolist() == ["mug"]
        assert model.novelty([[1.0, 2.0]])[0] < model.novelty([[50.0, 2.0]])[0]


@pytest.fixture(autouse=True)
def close_figures() -> Any:
    os.environ.setdefault("MPLBACKEND", "Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
