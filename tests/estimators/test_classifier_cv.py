"""Choosing in the stream: the paper's rule to the letter, and the same public face throughout."""

import pickle
from hashlib import sha256
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
from newfound.selection.pending import YOUNG, PendingSelection
from newfound.selection.selector import RENEW
from tests import oracles
from tests.covering import first_of
from tests.effort import share_of

PENALTIES = [0.3, 3.0, 30.0]
RECODINGS = [0.0, 0.25, 0.5, 0.75, 1.0]
VARIANTS: list[dict[str, Any]] = [
    {},
    {"rule": "paper"},
    {"rule": "paper", "tolerance": 0.01, "witnesses": 5},
    {"rule": None, "recodings": 0.5},
    {"min_class_count": 5},
    {"class_weight": "balanced"},
    {"class_weight": {}},
    {"fit_intercept": False, "witnesses": 5},
]


def stream(seed: int, n: int = 120, T: int = 4, d: int = 5) -> tuple[Any, Any]:
    """Uneven, overlapping classes: the rarest comes last."""
    rng = np.random.default_rng(seed)
    shares = np.array([0.4, 0.3, 0.2, 0.1])[:T]
    y = rng.choice(np.array(["mug", "cup", "jug", "bowl"])[:T], n, p=shares / shares.sum())
    means = {label: rng.normal(size=d) for label in np.unique(y)}
    return rng.normal(size=(n, d)) + np.array([means[label] for label in y]), y


@pytest.fixture
def keys_by_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who becomes a witness goes by chance, made from digits; here it is the same at any scale."""

    def hashes(rows: Any) -> Any:
        largest = np.abs(rows).max(axis=1, keepdims=True)
        directions = np.round(rows / np.where(largest > 0, largest, 1.0), 6) + 0.0
        digests = [sha256(row.tobytes()).digest()[:8] for row in directions]
        return np.frombuffer(b"".join(digests), dtype=np.uint64)

    monkeypatch.setattr("newfound.memory.witnesses.hashes_of", hashes)


def taught_in_parts(model: Any, X: Any, y: Any, cuts: Any) -> Any:
    for rows, labels in zip(np.split(X, cuts), np.split(y, cuts), strict=True):
        model.partial_fit(rows, labels)
    return model


def choice_by_refits(
    model: Any, X: Any, y: Any, least: int, tolerance: float
) -> tuple[float, float] | None:
    """The paper's section VI-C, literally; every witness is asked of a model taught all others."""
    labels, counts = np.unique(y, return_counts=True)
    often = counts >= max(2, least)
    usual = np.median(counts[often]) if often.any() else 0
    rows, of = model.witnesses_
    known = [t for t in labels[often & (counts >= usual / 4)] if np.sum(of == t) > 1]
    if not known:
        return None
    rows, of = rows[np.isin(of, known)], of[np.isin(of, known)]
    accuracy = {}
    for penalty in PENALTIES:
        right: dict[float, list[bool]] = {recoding: [] for recoding in RECODINGS}
        for row, label in zip(rows, of, strict=True):
            keep = np.arange(len(y)) != np.flatnonzero((row == X).all(axis=1) & (y == label))[0]
            targets = oracles.one_hot(y[keep], labels)
            W, b = oracles.ridge(X[keep], targets, penalty, model.fit_intercept)
            for recoding, hits in right.items():
                factors = oracles.recode(targets.sum(axis=0), recoding)
                hits.append(labels[((row @ W + b) * factors).argmax()] == label)
        for recoding, hits in right.items():
            by_class = [np.mean(np.array(hits)[of == t]) for t in known]
            accuracy[penalty, recoding] = np.mean(by_class)
    best = {r: max(PENALTIES, key=lambda p: accuracy[p, r]) for r in RECODINGS}
    floor = accuracy[best[0.0], 0.0] - tolerance - 1e-9
    recoding = max(r for r in RECODINGS if accuracy[best[r], r] >= floor)
    return best[recoding], recoding


@pytest.mark.parametrize("seed", first_of(range(6)))
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_the_papers_rule_equals_a_naive_oracle_at_every_step(seed: int, tolerance: float) -> None:
    """All that was ever taught is part of the model, also what votes on it."""
    X, y = stream(seed, n=90)
    model = IncrementalRidgeClassifierCV(
        penalties=PENALTIES,
        recodings=RECODINGS,
        rule="paper",
        tolerance=tolerance,
        witnesses=4,
        min_class_count=6,
        fit_intercept=seed % 2 == 0,
    )
    chosen = set()
    for n in range(1, len(y) + 1):
        model.partial_fit(X[n - 1 : n], y[n - 1 : n]).reconsider()
        if n % 3 == 0:
            expected = choice_by_refits(model, X[:n], y[:n], 6, tolerance)
            if expected is not None:
                assert (model.penalty_, *set(model.recoding_)) == expected
                chosen.add(expected)
    assert len(chosen) > 2


def test_a_choice_in_the_stream_is_the_one_of_when_examples_had_doubled() -> None:
    """Two classes are known at 15 examples; then at 30, 60 and 120. Votes count soon after."""
    X, y = stream(2, n=160)
    model = IncrementalRidgeClassifierCV(
        PENALTIES, RECODINGS, rule="paper", witnesses=6, min_class_count=6
    )
    expected = {}
    for n in range(1, len(y) + 1):
        model.partial_fit(X[n - 1 : n], y[n - 1 : n])
        if n in (60, 120):
            expected[n] = choice_by_refits(model, X[:n], y[:n], 6, 0.0)
        if n in (80, 119, 140, 160):
            assert (model.penalty_, *set(model.recoding_)) == expected[60 if n < 120 else 120]
    assert len(expected) == 2


def test_the_more_may_be_lost_the_more_is_recoded() -> None:
    X, y = stream(3, n=400)
    found = [
        IncrementalRidgeClassifierCV(rule="paper", tolerance=tolerance).fit(X, y).recoding_[0]
        for tolerance in (0.0, 0.03, 1.0)
    ]
    assert found == sorted(found)
    assert found[2] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("parameters", first_of(VARIANTS), ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator_passes(parameters: dict[str, Any]) -> None:
    results = check_estimator(IncrementalRidgeClassifierCV(**parameters))
    done = {result["check_name"]: result["status"] for result in results}
    left = {name for name, status in done.items() if status != "passed"}
    assert all(name.startswith("check_array_api") for name in left)
    assert len(done) > 50


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_every_example_is_learned_and_the_answer_is_ridge(parameters: dict[str, Any]) -> None:
    X, y = stream(7, n=200)
    model = taught_in_parts(IncrementalRidgeClassifierCV(**parameters), X, y, np.arange(7, 200, 7))
    assert dict(zip(model.classes_, model.class_count_, strict=True)) == {
        t: np.sum(y == t) for t in np.unique(y)
    }
    assert model.n_samples_seen_ == 200
    targets, weights = oracles.one_hot(y, model.classes_), None
    if parameters.get("class_weight") == "balanced":
        weights = oracles.balanced_weights(y)
    ridge = Ridge(model.penalty_, fit_intercept=parameters.get("fit_intercept", True))
    ridge.fit(X, targets, sample_weight=weights)
    arrival = np.searchsorted(model.classes_, model.learner_.engine.memory.sums.labels)
    weight_sums = (targets if weights is None else weights[:, None] * targets).sum(axis=0)
    factors = oracles.recode_each(weight_sums[arrival], model.recoding_[arrival])
    np.testing.assert_allclose(
        model.coef_[arrival], ridge.coef_[arrival] * factors[:, None], atol=1e-8
    )
    np.testing.assert_allclose(
        model.intercept_[arrival], (ridge.intercept_ * np.ones(4))[arrival] * factors, atol=1e-8
    )


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_witnesses_are_copies_of_rows_that_were_learned(parameters: dict[str, Any]) -> None:
    X, y = stream(7, n=200)
    model = IncrementalRidgeClassifierCV(**parameters).fit(X, y)
    rows, labels = model.witnesses_
    counts = dict(zip(*np.unique(labels, return_counts=True), strict=True))
    cap = parameters.get("witnesses", 40)
    assert counts == {t: min(cap, np.sum(y == t)) for t in np.unique(y)}
    for row, label in zip(rows, labels, strict=True):
        assert ((row == X).all(axis=1) & (y == label)).sum() == 1
    assert len(np.unique(rows, axis=0)) == len(rows)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", first_of(VARIANTS), ids=str)
@pytest.mark.usefixtures("keys_by_direction")
def test_the_scale_of_the_features_does_not_matter(parameters: dict[str, Any]) -> None:
    """Penalties are powers of the root of ten, so by powers of ten it does not matter at all."""
    X, y = stream(5, n=500)
    for scale in (1000.0, 1e-4):
        one, other = (IncrementalRidgeClassifierCV(**parameters) for _ in range(2))
        for part in np.array_split(np.arange(500), 40):
            one.partial_fit(X[part], y[part])
            other.partial_fit(scale * X[part], y[part])
            np.testing.assert_array_equal(one.predict(X), other.predict(scale * X))
            assert other.penalty_ == pytest.approx(scale**2 * one.penalty_)
            np.testing.assert_allclose(one.recoding_, other.recoding_)


@pytest.mark.slow
@given(st.integers(0, 2**31), st.sets(st.integers(1, 149), max_size=8), st.sampled_from(VARIANTS))
@settings(max_examples=share_of(40), deadline=None)
def test_how_a_stream_is_cut_does_not_matter(
    seed: int, cuts: set[int], parameters: dict[str, Any]
) -> None:
    """What is learned, who votes, and what is chosen are the same."""
    X, y = stream(seed, n=150)
    models = [
        taught_in_parts(IncrementalRidgeClassifierCV(**parameters), X, y, edges)
        for edges in ([], sorted(cuts), np.arange(1, 150))
    ]
    for other in models[1:]:
        assert_same_model(models[0], other)
    fitted = IncrementalRidgeClassifierCV(**parameters).fit(X, y)
    for model in models:
        assert_same_model(model.reconsider(), fitted)


def assert_same_model(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(one.class_count_, other.class_count_)
    both = (oracles.seen_from_zero(model.learner_.to_state().sums) for model in (one, other))
    ours, theirs = (sums.cross[:, sums.order] for sums in both)
    np.testing.assert_allclose(ours, theirs, atol=1e-10)
    assert witnesses_of(one) == witnesses_of(other)
    assert one.penalty_ == pytest.approx(other.penalty_)
    np.testing.assert_allclose(one.recoding_, other.recoding_, atol=1e-9)
    for name, column in one.validation_scores_.items():
        np.testing.assert_allclose(column, other.validation_scores_[name], atol=1e-9)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-8)


def witnesses_of(model: Any) -> list[Any]:
    return sorted((label, *row) for row, label in zip(*model.witnesses_, strict=True))


def test_what_is_chosen_is_learned() -> None:
    assert not hasattr(IncrementalRidgeClassifierCV(), "penalty_")
    assert not hasattr(IncrementalRidgeClassifierCV(), "recoding_")


def contents(model: Any, folder: Path) -> bytes:
    path = folder / "model.newfound"
    model.save(path)
    return path.read_bytes()


def test_forgetting_all_rows_of_a_class_leaves_none_of_its_witnesses() -> None:
    X, y = stream(4, n=200)
    model = IncrementalRidgeClassifierCV().fit(X, y)
    gone = y == "cup"
    model.forget(X[gone], y[gone])
    assert "cup" not in model.classes_
    assert "cup" not in model.witnesses_[1]
    assert len(model.recoding_) == 3
    assert_same_model(model.reconsider(), IncrementalRidgeClassifierCV().fit(X[~gone], y[~gone]))


@pytest.mark.slow
@given(st.integers(0, 2**31), st.sets(st.integers(0, 119), min_size=1, max_size=100))
@settings(max_examples=share_of(30), deadline=None)
def test_what_is_forgotten_is_no_witness_and_what_is_left_votes(
    seed: int, places: set[int]
) -> None:
    """With room for all, it is as if what was forgotten had never been."""
    X, y = stream(seed, n=120)
    gone = np.isin(np.arange(120), list(places))
    model = IncrementalRidgeClassifierCV(witnesses=120, min_class_count=6).fit(X, y)
    model.forget(X[gone], y[gone])
    rows, _ = model.witnesses_
    assert sorted(map(tuple, rows)) == sorted(map(tuple, X[~gone]))
    fresh = IncrementalRidgeClassifierCV(witnesses=120, min_class_count=6).fit(X[~gone], y[~gone])
    assert model.class_count_.tolist() == fresh.class_count_.tolist()
    # Keys differ, for a row's turn is part of them, and so do the few rows that are pretended.
    model.set_params(rule="paper").reconsider()
    fresh.set_params(rule="paper").reconsider()
    assert model.penalty_ == pytest.approx(fresh.penalty_)
    np.testing.assert_allclose(model.recoding_, fresh.recoding_)
    np.testing.assert_allclose(
        model.validation_scores_["accuracy"], fresh.validation_scores_["accuracy"], atol=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e-3, 1.0, 10.0, 1e2, 1e4, 1e6, 1e8])
@pytest.mark.parametrize("voted", first_of([True, False]))
@pytest.mark.filterwarnings("ignore:what was forgotten was so large")
def test_a_row_taught_and_forgotten_leaves_no_trace_in_the_choice(size: float, voted: bool) -> None:
    """Of whatever size: penalty and recoding are those of a model that never saw it."""
    X, y = stream(3, n=400)
    model, never = (IncrementalRidgeClassifierCV(witnesses=400).fit(X, y) for _ in range(2))
    bad = size * np.array([[1.0, -1.0, 2.0, 0.5, 1.0]])
    model.partial_fit(bad, ["mug"]).predict(X)
    if voted:
        model.reconsider()
        assert (model.recoding_ != never.recoding_).any()
    model.forget(bad, ["mug"])
    assert model.penalty_ == pytest.approx(never.penalty_)
    np.testing.assert_allclose(model.recoding_, never.recoding_, atol=1e-6)
    assert witnesses_of(model) == witnesses_of(never)


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


@pytest.mark.slow
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
        total = oracles.seen_from_zero(one.learner_.to_state().sums).cross.sum(axis=1)
        np.testing.assert_allclose(total, X.sum(axis=0), atol=1e-9)
        assert one.score(X, y) > 0.5
        fresh = first().merge(one)
        np.testing.assert_array_equal(fresh.class_count_, one.class_count_)
        assert not first().merge(second()).__sklearn_is_fitted__()


@pytest.mark.slow
@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_models_merge_to_the_same_choice_in_either_order(parameters: dict[str, Any]) -> None:
    X, y = stream(6, n=400)
    halves = [
        IncrementalRidgeClassifierCV(**parameters).fit(X[h], y[h])
        for h in (slice(0, 200), slice(200, 400))
    ]
    one, other = (
        IncrementalRidgeClassifierCV(**parameters).merge(halves[i]).merge(halves[1 - i])
        for i in range(2)
    )
    assert_same_model(one, other)
    assert_same_model(one, halves[0].merge(halves[1]))
    assert one.n_samples_seen_ == 400


def test_with_room_for_all_two_models_merged_are_one_model() -> None:
    X, y = stream(6, n=250)
    parameters: dict[str, Any] = {"witnesses": 400, "rule": "paper"}
    one, two, whole = (
        IncrementalRidgeClassifierCV(**parameters).fit(X[h], y[h])
        for h in (slice(0, 100), slice(100, 250), slice(0, 250))
    )
    assert_same_model(one.merge(two), whole)


def test_merging_keeps_no_more_witnesses_than_there_may_be() -> None:
    X, y = stream(6, n=400)
    models = [
        IncrementalRidgeClassifierCV(witnesses=4).fit(X[h], y[h])
        for h in (slice(0, 200), slice(200, 400))
    ]
    both = set(witnesses_of(models[0])) | set(witnesses_of(models[1]))
    merged = models[0].merge(models[1])
    assert np.unique(merged.witnesses_[1], return_counts=True)[1].tolist() == [4] * 4
    assert set(witnesses_of(merged)) <= both
    assert merged.n_samples_seen_ == 400


def test_renaming_moves_witnesses() -> None:
    X, y = stream(8, n=300)
    model = IncrementalRidgeClassifierCV(witnesses=10).fit(X, y)
    before, scores = witnesses_of(model), model.validation_scores_
    model.rename_class("cup", "glass")
    assert witnesses_of(model) == sorted(
        ("glass" if label == "cup" else label, *row) for label, *row in before
    )
    for name, column in model.validation_scores_.items():
        np.testing.assert_array_equal(column, scores[name])
    model.rename_class("glass", "mug")
    assert model.n_samples_seen_ == 300
    assert model.witnesses_[1].tolist().count("mug") == 10
    assert sorted(model.classes_) == ["bowl", "jug", "mug"]
    whole = IncrementalRidgeClassifierCV(witnesses=10).fit(X, np.where(y == "cup", "mug", y))
    assert model.penalty_ in whole.validation_scores_["penalty"]
    assert model.class_count_.tolist() == whole.class_count_.tolist()
    model.rename_class("mug", "mug")
    model.predict(X)


def test_a_class_forgotten_takes_its_witnesses_with_it() -> None:
    X, y = stream(8, n=300)
    model = IncrementalRidgeClassifierCV(class_weight={}).fit(X, y).forget_class("cup")
    kept = y != "cup"
    assert_same_model(model, IncrementalRidgeClassifierCV(class_weight={}).fit(X[kept], y[kept]))
    model.partial_fit(X[:1], ["cup"])  # one of that name that comes later is another
    rows, labels = model.witnesses_
    np.testing.assert_array_equal(rows[labels == "cup"], X[:1])


def test_kept_rows_are_witnesses_where_none_else_are_kept() -> None:
    X, y = stream(8, n=300)
    model = IncrementalRidgeClassifierCV(witnesses=7).fit(X, y)
    rows, labels = model.witnesses_
    np.testing.assert_array_equal(
        model.learner_.engine.memory.rows_of("cup"), rows[labels == "cup"]
    )
    assert model.learner_.engine.memory.rows_of("cup").shape == (7, 5)
    with pytest.raises(ValueError, match="no class 'spoon'"):
        model.learner_.engine.memory.rows_of("spoon")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalties": []}, "penalties must be a number or several"),
        ({"penalties": "some"}, "penalties must be a number or several"),
        ({"penalties": [0.0, 1.0]}, "penalties must be from"),
        ({"recodings": [0.5, 1.5]}, "recodings must be from 0 to 1"),
        ({"rule": "best"}, "rule must be one of"),
        ({"rule": None}, "recodings=0.7"),
        ({"witnesses": 1}, "witnesses must be a whole number from 2"),
        ({"witnesses": 2.5}, "witnesses must be a whole number"),
        ({"min_class_count": 0}, "min_class_count must be"),
        ({"tolerance": -0.1}, "tolerance must be"),
        ({"tolerance": "one-se"}, "tolerance must be"),
        ({"class_weight": "even"}, "class_weight must be"),
        ({"random_state": -1}, "random_state must be a whole number from 0"),
        ({"random_state": "none"}, "random_state must be a whole number from 0, None or a gener"),
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "what",
    [
        "newfound.sums.sums.Sums.add",
        "newfound.selection.selector.Selector.plan",
        "newfound.memory.witnesses.Witnesses.add",
        "newfound.solvers.recursive.RecursiveSolver.learn",
    ],
)
@pytest.mark.parametrize("size", [1, 30])
def test_a_failure_half_way_leaves_everything_as_it_was(
    what: str, size: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X, y = stream(9, n=200)
    model = IncrementalRidgeClassifierCV().fit(X, y)
    model.predict(X)
    before = contents(model, tmp_path)

    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(what, fail)
    with pytest.raises(MemoryError):
        model.partial_fit(X[:size] + 1, ["plate"] * size)
    monkeypatch.undo()
    assert contents(model, tmp_path) == before
    assert "plate" not in model.witnesses_[1]


def test_votes_that_fail_leave_a_model_that_has_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = stream(9, n=260)
    model = IncrementalRidgeClassifierCV().fit(X[:128], y[:128])  # the next votes are at 256
    chosen = model.penalty_

    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("newfound.selection.validation.ValidationSet.basis_in_stages", fail)
    for row in range(128, 260):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    with pytest.raises(MemoryError):
        model.reconsider()
    monkeypatch.undo()
    assert model.n_samples_seen_ == 260
    assert model.penalty_ == chosen
    assert_same_model(model.reconsider(), IncrementalRidgeClassifierCV().fit(X, y))


@pytest.mark.slow
def test_votes_are_spread_over_the_stream_and_called_for_at_every_doubling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A piece a row from the 256th on, before at most as many more; questions do none."""
    pieces: list[int] = []
    original = PendingSelection.step

    def counting(self: PendingSelection) -> None:
        pieces[-1] += 1
        original(self)

    monkeypatch.setattr(PendingSelection, "step", counting)
    X, y = load_digits(return_X_y=True)
    model = IncrementalRidgeClassifierCV()
    found = []
    for i in range(len(y)):
        pieces.append(0)
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        pieces.append(0)
        model.predict(X[i : i + 1])
        found.append(model.penalty_)
    rows = np.arange(1, len(y) + 1)
    # What was called for at n rows is done before there are 2 n.
    assert (np.array(pieces[::2]) <= np.maximum(1, 2 * YOUNG // rows)).all()
    assert max(pieces[2 * YOUNG :: 2]) == 1
    assert sum(pieces[1::2]) == 0
    changes = np.flatnonzero(np.diff(found))
    assert 0 < len(changes) <= 2 * (2 + np.log(len(y)) / np.log(RENEW))
    assert sum(pieces) > 20


@pytest.mark.slow
def test_memory_is_bounded() -> None:
    rng = np.random.default_rng(0)
    model = IncrementalRidgeClassifierCV(witnesses=20)
    sizes = []
    for n in (4000, 40_000):
        y = rng.integers(0, 3, n)
        model.partial_fit(rng.normal(size=(n, 4)) + y[:, None], y)
        model.predict([[0.0] * 4])
        sizes.append(len(pickle.dumps(model)))
    assert sizes[1] < 1.2 * sizes[0]


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


def test_while_nobody_can_vote_what_is_expected_is_chosen() -> None:
    """The mean squared length of a row around the mean, and a recoding of about 0.6."""
    X, y = stream(1, n=100, T=1)
    X, y = np.vstack([X, X[:1] + 5]), np.array([*y, "cup"])
    for model in (IncrementalRidgeClassifierCV(), IncrementalRidgeClassifierCV(min_class_count=1)):
        model.fit(X, y)
        length = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
        assert model.penalty_ == pytest.approx(length)
        assert 0.5 < model.recoding_[0] < model.recoding_[1] < 0.7  # a cup, seen once, and a mug
        assert np.isnan(model.validation_scores_["accuracy"]).all()
    model.partial_fit(X[:1] + 5.5, ["cup"]).reconsider()
    assert np.isfinite(model.validation_scores_["accuracy"]).all()


def test_rows_that_are_all_alike_make_weights_of_no_size() -> None:
    """What rounding makes of their spread is no scale for penalties: weights would be noise."""
    X, y = np.tile(np.random.default_rng(0).normal(size=5), (24, 1)), list("aab") * 8
    for cuts in (np.arange(0), np.arange(1, 24)):
        model = taught_in_parts(IncrementalRidgeClassifierCV(), X, np.array(y), cuts)
        assert np.abs(model.coef_).max() < 1e-9
        assert model.penalty_ > 0.1


@pytest.mark.usefixtures("keys_by_direction")
def test_an_all_zero_beginning_tells_nothing_about_the_scale() -> None:
    X, y = stream(0, n=400)
    models = [IncrementalRidgeClassifierCV() for _ in range(2)]
    for model, scale in zip(models, (1.0, 1000.0), strict=True):
        model.partial_fit(np.zeros((1, 5)), y[:1])
        assert np.isfinite(model.penalty_)
        model.partial_fit(scale * X, y)
    assert models[1].penalty_ == pytest.approx(1e6 * models[0].penalty_)


@pytest.mark.slow
def test_validation_scores_are_a_table_and_the_plot_shows_the_choice() -> None:
    pytest.importorskip("matplotlib", reason="figures take the extra plots")
    X, y = load_digits(return_X_y=True)
    for parameters in ({}, {"rule": "paper"}, {"rule": None, "recodings": 0.3}):
        model = IncrementalRidgeClassifierCV(**parameters).fit(X, y)
        scores = model.validation_scores_
        (length,) = {len(column) for column in scores.values()}
        recodings = 1 if "recodings" in parameters else 11
        assert length == recodings * len(np.unique(scores["penalty"]))
        assert length > recodings
        assert model.penalty_ in scores["penalty"]
        assert 0.8 < scores["accuracy"].max() <= 1
        assert (scores["rare"] <= 1).all()
        assert scores["prior"].min() >= 0
        axes = model.plot_validation()
        assert [ax.get_xlabel() for ax in axes] == ["penalty", "recoding"]
        for ax in axes:
            said = [text.get_text() for text in ax.get_legend().get_texts()]
            assert any(text.startswith("chosen") for text in said)
        scored = [line for line in axes[0].lines if "left out" in str(line.get_label())]
        assert len(scored[0].get_xdata()) == length // recodings
        axes[0].figure.clear()
    tiny = IncrementalRidgeClassifierCV().fit([[0.0], [1.0]], ["a", "b"])
    assert np.isnan(tiny.validation_scores_["accuracy"]).all()
    assert [ax.get_xlabel() for ax in tiny.plot_validation()] == ["penalty", "recoding"]


def test_one_class_and_one_example_are_enough() -> None:
    for parameters in VARIANTS:
        model = IncrementalRidgeClassifierCV(**parameters)
        assert model.partial_fit([[1.0, 2.0]], ["mug"]).predict([[0.0, 0.0]]).tolist() == ["mug"]
        model.partial_fit([[1.0, 2.0]] * 20, ["mug"] * 20, classes=["mug", "cup"])
        assert model.predict([[9.0, 0.0]]).tolist() == ["mug"]
        assert model.novelty([[1.0, 2.0]])[0] < model.novelty([[50.0, 2.0]])[0]
