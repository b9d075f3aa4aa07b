"""The accuracies of a validation set, beside models taught for each of its rows."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from newfound.common.pieces import at_once
from newfound.engine.engine import Engine
from newfound.heads.recoding import recoding_factors
from newfound.selection import validation as validations
from newfound.selection.validation import ValidationSet, accuracies, are_frequent
from newfound.solvers.settings import SelectionSettings
from tests import oracles
from tests.choices import basis_of, fit, forget, result_of, snapshot_of, to_choose, witnesses_of

WIDTH, PENALTY, RECODINGS = 5, 4.0, (0.0, 0.5, 1.0)
COUNTS = [40, 50, 45, 60, 3]  # the last is rare


def settings(**changes: Any) -> SelectionSettings:
    usual = {"penalties": [0.4, PENALTY, 40.0], "rule": "paper", "witnesses": 12}
    return to_choose(**({"recodings": RECODINGS, "min_class_count": 10} | usual | changes))


def rows(seed: int, counts: Any = COUNTS) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    means = 0.6 * np.random.default_rng(99).normal(size=(len(counts), WIDTH))
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    return means[y] + rng.normal(size=(len(y), WIDTH)), y


def taught(X: Any, y: Any, chosen: SelectionSettings) -> Engine:
    engine = Engine.blank(X.shape[1], chosen)
    fit(engine, X, y)
    return engine


def validation_of(engine: Engine, what_if: bool) -> ValidationSet:
    assert isinstance(engine.settings, SelectionSettings)
    return ValidationSet(snapshot_of(engine), engine.settings.min_class_count, what_if)


def places_of(scored: Any, X: Any) -> Any:
    """Where rows that were taught are among all."""
    return np.array([np.flatnonzero((row == X).all(axis=1))[0] for row in scored])


def refitted_accuracies(
    engine: Engine, X: Any, y: Any, penalty: float, weights: Any
) -> NDArray[np.float64]:
    """Accuracy of known classes by recoding; every witness by a model taught all other rows."""
    chosen = engine.settings
    assert isinstance(chosen, SelectionSettings)
    scored, of = witnesses_of(engine)
    labels = np.unique(y)
    known = [t for t in labels if np.sum(y == t) >= chosen.min_class_count]
    right: dict[Any, list[Any]] = {t: [] for t in known}
    for place, label in zip(places_of(scored, X), of, strict=True):
        keep = np.arange(len(y)) != place
        if label in right:
            targets = oracles.one_hot(y[keep], labels)
            W, b = oracles.ridge(X[keep], targets, penalty, chosen.fit_intercept, weights[keep])
            scores, weight_sums = X[place] @ W + b, targets.T @ weights[keep]
            right[label].append(
                [
                    labels[(scores * oracles.recode(weight_sums, a)).argmax()] == label
                    for a in RECODINGS
                ]
            )
    by_class: NDArray[np.float64] = np.array([np.mean(each, axis=0) for each in right.values()])
    found: NDArray[np.float64] = by_class.mean(axis=0)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("class_weight", [None, {0: 3.0, 4: 0.2}, "balanced"], ids=str)
@pytest.mark.parametrize("history", ["fit", "forgotten", "merged"])
def test_votes_are_those_of_models_taught_all_but_the_witness(
    intercept: bool, class_weight: Any, history: str
) -> None:
    """Every row is part of the sums; yet each witness is asked of one that never saw it."""
    chosen = settings(class_weight=class_weight, fit_intercept=intercept)
    X, y = rows(1)
    engine = taught(X, y, chosen)
    if history == "forgotten":
        forget(engine, X[:60], y[:60])
        X, y = X[60:], y[60:]
        engine.reconsider()
    elif history == "merged":
        more, labels = rows(2)
        engine = engine.merged(taught(more, labels, chosen))
        X, y = np.concatenate([X, more]), np.concatenate([y, labels])
    weights = np.ones(len(y))
    if class_weight == "balanced":
        weights = oracles.balanced_weights(y)
    elif class_weight is not None:
        weights = np.array([class_weight.get(label, 1.0) for label in y.tolist()])
    found = result_of(engine)
    assert found.rows == len(witnesses_of(engine)[1]) > 30
    assert found.penalties.tolist() == [0.4, PENALTY, 40.0]
    for table, penalty in zip(found.accuracy[0], found.penalties, strict=True):
        expected = refitted_accuracies(engine, X, y, penalty, weights)
        np.testing.assert_allclose(table, expected, atol=1e-12)


def test_a_class_announced_but_not_taught_is_not_scored() -> None:
    X, y = rows(1)
    engine, announced = taught(X, y, settings()), Engine.blank(WIDTH, settings())
    announced.learn(announced.memory.batch(X, y, announced=np.array([9])))
    announced.reconsider()
    assert announced.memory.sums.n_classes == 6
    np.testing.assert_allclose(result_of(announced).accuracy, result_of(engine).accuracy)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("class_weight", [None, {0: 3.0, 4: 0.2}], ids=str)
def test_what_if_votes_equal_those_worked_out_the_long_way(
    intercept: bool, class_weight: Any
) -> None:
    X, y = rows(3)
    chosen = settings(class_weight=class_weight, fit_intercept=intercept)
    engine = taught(X, y, chosen)
    validation = validation_of(engine, what_if=True)
    labels = engine.memory.sums.labels
    classes = labels[validation.classes]
    assert classes.tolist() == [0, 1, 2, 3, 4]
    assert validation.frequent.tolist() == [True, True, True, True, False]
    weights = np.array([(class_weight or {}).get(t, 1.0) for t in range(5)])
    full = np.bincount(y) * weights
    basis = basis_of(validation, PENALTY)
    samples = engine.memory.witnesses.of_class

    def right_ones(weight_sums: Any, few: Any, label: int, scored: Any) -> Any:
        """Whether each of the scored, left out, is told from the other known classes."""
        scores = [
            oracles.pretended_without(
                X, y, weights, PENALTY, intercept, classes, weight_sums, few, int(place)
            )
            for place in places_of(scored, X)
        ]
        left = weight_sums.copy()
        if weight_sums[label] == full[label]:
            left[label] -= weights[label]
        factors = np.array([recoding_factors(left, a) for a in RECODINGS])
        return [((each * factors)[:, :4].argmax(axis=1) == label) for each in scores]

    for count in validation.counts:
        found, rare_found = at_once(validation.accuracy_if_rare(basis, count, np.array(RECODINGS)))
        expected, expected_rare = [], []
        for rare_ones in validation.scenarios:
            assert set(rare_ones.tolist()) <= {0, 1, 2, 3}
            rare = [c for c in rare_ones.tolist() if np.sum(y == c) > count]
            weight_sums, few = full.copy(), {}
            for c in rare:
                weight_sums[c] = count * weights[c]
                if count <= 6:  # of twelve witnesses, six play the few that were taught
                    few[c] = np.array(samples[c].rows[: int(count)])
            hits = [
                right_ones(weight_sums, few, c, samples[c].rows[int(count) if c in few else 0 :])
                for c in range(4)
            ]
            by_class = np.array([np.mean(each, axis=0) for each in hits])
            expected.append(by_class.mean(axis=0))
            expected_rare.append(by_class[rare or slice(None)].mean(axis=0))
        np.testing.assert_allclose(found, np.mean(expected, axis=0), atol=1e-12)
        np.testing.assert_allclose(rare_found, np.mean(expected_rare, axis=0), atol=1e-12)


def test_classes_of_one_row_neither_vote_nor_compete_and_others_do_both() -> None:
    X, y = rows(5, [40, 30, 3, 1])
    engine = taught(X, y, settings(rule="what-if"))
    validation = validation_of(engine, what_if=False)
    assert validation.scored.tolist() == [True, True, True, False]
    found = validation.accuracy_as_is(basis_of(validation, PENALTY), np.array(RECODINGS))
    scored, of = witnesses_of(engine)
    right: dict[int, list[Any]] = {0: [], 1: [], 2: []}
    for place, label in zip(places_of(scored, X), of, strict=True):
        keep = np.arange(len(y)) != place
        if label in right:
            targets = oracles.one_hot(y[keep], np.arange(4))
            W, b = oracles.ridge(X[keep], targets, PENALTY)
            factors = [oracles.recode(targets.sum(axis=0), a) for a in RECODINGS]
            answers = ((X[place] @ W + b) * factors)[:, :3].argmax(axis=1)
            right[label].append(answers == label)
    expected = np.mean([np.mean(each, axis=0) for each in right.values()], axis=0)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("class_weight", [None, {0: 3.0, 2: 0.2}], ids=str)
def test_few_rows_vote_in_the_space_they_span_as_they_would_among_all_features(
    intercept: bool, class_weight: Any
) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), [8, 6, 4])
    X = rng.normal(size=(18, 50)) + rng.normal(size=(3, 50))[y] + 7.0
    chosen = settings(class_weight=class_weight, fit_intercept=intercept, min_class_count=4)
    engine = taught(X, y, chosen)
    small = snapshot_of(engine)
    assert len(small.matrix) == 18 - intercept  # around their mean, rows add up to nothing
    sums = engine.memory.sums
    weights = np.array([(class_weight or {}).get(t, 1.0) for t in range(3)])[y]
    mean = weights @ X / weights.sum() * intercept
    whole = small._replace(
        matrix=np.asfortranarray((X - mean).T * weights @ (X - mean)),
        means=np.array([X[y == t].mean(axis=0) for t in sums.labels]) - mean,
        space=None,
    )
    recodings = np.array(RECODINGS)
    few, all_of_them = (ValidationSet(each, 4, what_if=True) for each in (small, whole))
    for penalty in (0.5, 50.0):
        one, other = (basis_of(each, penalty) for each in (few, all_of_them))
        for ours, theirs in zip(one, other, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-9)
        for count in few.counts:
            np.testing.assert_allclose(
                at_once(few.accuracy_if_rare(one, count, recodings)),
                at_once(all_of_them.accuracy_if_rare(other, count, recodings)),
            )


@pytest.mark.slow
@pytest.mark.parametrize("n_known", [2, 5, 10, 30])
@pytest.mark.parametrize("n_rare", [0, 3, 30])
def test_each_known_class_is_rare_about_as_often(n_known: int, n_rare: int) -> None:
    X, y = rows(0, [20] * n_known + [1] * n_rare)
    times = np.zeros(n_known)
    for seed in range(10):
        validation = validation_of(taught(X, y, settings(random_state=seed)), what_if=True)
        assert all(0 < len(rare_ones) <= max(1, n_known // 2) for rare_ones in validation.scenarios)
        now = np.bincount(np.concatenate(validation.scenarios), minlength=n_known)[:n_known]
        # Two, where a class is drawn twice for the same rare_ones.
        assert now.max() - now.min() <= 2
        times += now
    assert times.max() <= 1.6 * times.mean()
    assert times.min() >= 0.4 * times.mean()


@pytest.mark.slow
def test_many_classes_are_sampled_and_each_is_as_likely_to_be() -> None:
    """No number of classes makes a piece of work longer."""
    counts = [6] * (3 * validations.MOST_CLASSES)
    X, y = rows(0, counts)
    times = np.zeros(len(counts))
    for seed in range(30):
        engine = taught(X, y, settings(random_state=seed, min_class_count=200))
        engine.configure(settings(random_state=seed, min_class_count=5))
        validation = validation_of(engine, what_if=True)
        assert len(validation.classes) == validations.MOST_CLASSES
        assert len(validation.rows) <= max(
            validations.MOST_ROWS, validations.FEWEST_OF_A_CLASS * validations.MOST_CLASSES
        )
        assert len(np.unique(validation.of_class)) == validations.MOST_CLASSES
        times[validation.classes] += 1
    # Binomial, 30 draws with probability 1/3: a standard deviation is 2.6.
    assert abs(times - 10).max() < 6 * 2.6
    assert times.min() > 0


def test_rows_that_play_the_few_taught_do_not_vote_and_others_do() -> None:
    """Otherwise a model would be asked of a row that it was taught."""
    X, y = rows(0)
    engine = taught(X, y, settings(rule="what-if"))
    validation = validation_of(engine, what_if=True)
    for (count, place), _ in validation.few.items():
        own = validation.of_class == place
        assert (own & (validation.ranks >= count)).sum() == 12 - count
        assert count <= 6


def test_accuracies_are_counted_class_by_class() -> None:
    rng = np.random.default_rng(0)
    scores, truth = rng.normal(size=(4, 50)), rng.integers(3, size=50)
    factors = rng.uniform(0.5, 2, size=(6, 4))
    own = rng.uniform(0.9, 1.1, size=(6, 50))
    weights = rng.uniform(0.1, 5.0, size=50)
    found = accuracies(scores, truth, factors, own, weights)
    for a, factor in enumerate(factors):
        scaled = scores * factor[:, None]
        scaled[truth, np.arange(50)] *= own[a]
        said = scaled.argmax(axis=0)
        for t in range(3):
            right = np.average(said[truth == t] == t, weights=weights[truth == t])
            assert found[a, t] == pytest.approx(right)
    assert (found[:, 3] == 0).all()


def test_classes_known_are_those_with_many_examples_and_two_witnesses() -> None:
    assert are_frequent(np.array([9, 10, 40, 3]), 10).tolist() == [False, True, True, False]
    assert are_frequent(np.array([30, 500, 600, 700]), 30).tolist() == [False, True, True, True]
    assert not are_frequent(np.array([9, 1]), 10).any()
    assert are_frequent(np.array([2, 1]), 1).tolist() == [True, False]
    X, y = rows(0)
    engine = taught(X, y, settings())
    witnesses = engine.memory.witnesses
    for left, known in ((witnesses, [0, 1, 2, 3]), (witnesses.only([0, 1]), [0, 1])):
        validation = ValidationSet(snapshot_of(engine, left), 10, what_if=True)
        assert validation.classes[validation.frequent].tolist() == known
    nobody = ValidationSet(snapshot_of(engine, witnesses.first(1)), 10, what_if=True)
    assert not nobody.scored.any()
    assert not nobody.scenarios
    assert not nobody.few


@pytest.mark.parametrize("intercept", [True, False])
def test_the_space_of_rows_that_depend_on_each_other_is_as_small_as_it_is(intercept: bool) -> None:
    """Features that are always zero are not part of it, nor is a direction there twice."""
    rng = np.random.default_rng(3)
    y, X = rng.integers(0, 3, 90), np.zeros((90, 200))
    X[:, 5:17] = rng.normal(size=(90, 12)) + rng.normal(size=(3, 12))[y]
    X[40:50], X[60] = X[:10] + X[10:20], 0.0
    engine = taught(X, y, settings(fit_intercept=intercept, witnesses=60))
    snapshot = snapshot_of(engine)
    assert len(snapshot.matrix) == 12
    assert snapshot.space is not None
    rows, _ = engine.memory.witnesses.stack(engine.memory.sums.labels, 200)
    centred, inside = rows - intercept * X.mean(axis=0), snapshot.space.rows
    np.testing.assert_allclose(inside @ inside.T, centred @ centred.T, atol=1e-11)
    expected = np.sort(np.linalg.eigvalsh(centred.T @ centred))[-12:]
    found = np.linalg.eigvalsh(snapshot.matrix, UPLO="L")
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_rows_that_are_all_alike_can_be_voted_on() -> None:
    engine = taught(np.ones((6, 40)), np.arange(6) % 2, settings(min_class_count=2))
    assert np.isfinite(basis_of(validation_of(engine, what_if=True), 1.0).rows).all()
