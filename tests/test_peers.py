"""Peers that we wrote ourselves say what their papers' formulas say, computed naively."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.covariance import OAS
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge

Floats = NDArray[np.float64]
T, WIDTH = 4, 6
CLASSES = np.arange(T)


def lessons(seed: int = 0) -> list[tuple[Floats, NDArray[np.int64]]]:
    """Rows of four classes of very different size, in three lessons; the last class comes late."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([rng.permutation(np.repeat([0, 1, 2], [40, 25, 5])), [3] * 12])
    X = 2 * rng.normal(size=(T, WIDTH))[y] + rng.normal(size=(len(y), WIDTH))
    return list(zip(np.split(X, [20, 50]), np.split(y, [20, 50]), strict=True))


def taught(model: Any) -> tuple[Any, Floats, NDArray[np.int64]]:
    parts = lessons()
    for X, y in parts:
        model.partial_fit(X, y)
    X, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    return model, X, y


def ridge(X: Floats, y: Any, penalty: float, weights: Any = None) -> Floats:
    """Return scikit-learn's solution for one-hot targets, shape (features, classes)."""
    model = Ridge(alpha=penalty, fit_intercept=False, solver="cholesky")
    return np.asarray(model.fit(X, np.eye(T)[y], sample_weight=weights).coef_.T)


def within(X: Floats, y: Any) -> tuple[Floats, Floats]:
    """Return the means of classes, and how far each row is from that of its class."""
    means = np.array([X[y == t].mean(axis=0) for t in CLASSES])
    return means, X - means[y]


def test_acil_is_ridge_regression_on_all_rows() -> None:
    from benchmarks.analytic import ACIL  # here, for collection shall not load it

    model, X, y = taught(ACIL(CLASSES))
    np.testing.assert_allclose(model.weights(), ridge(X, y, 0.1), atol=1e-10)


def test_air_is_ridge_regression_in_which_classes_weigh_the_same() -> None:
    from benchmarks.analytic import AIR

    model, X, y = taught(AIR(CLASSES))
    each = 1 / np.bincount(y)
    weights = (T * each / each.sum())[y]
    np.testing.assert_allclose(model.weights(), ridge(X, y, 0.1, weights), atol=1e-10)


def test_ranpac_is_ridge_regression_with_the_penalty_of_least_error_on_its_last_lesson() -> None:
    from benchmarks.analytic import RanPAC

    model, X, y = taught(RanPAC(CLASSES))
    np.testing.assert_allclose(model.weights(), ridge(X, y, model.penalty), atol=1e-8)
    rows, labels = lessons()[0]
    errors = [
        np.mean((rows[16:] @ ridge(rows[:16], labels[:16], penalty) - np.eye(T)[labels[16:]]) ** 2)
        for penalty in model.penalties
    ]
    assert 0 < np.argmin(errors) < len(errors) - 1, "neither end would show an error"
    assert model.choose(rows, np.eye(T)[labels]) == model.penalties[np.argmin(errors)]


def stretched(X: Floats) -> Floats:
    """Return features of very different spread: a covariance that matters."""
    return X * np.arange(1, WIDTH + 1)


def test_randumb_is_the_nearest_mean_by_the_covariance_that_scikit_learn_shrinks() -> None:
    from benchmarks.analytic import Behind, RanDumb

    model, X, y = taught(Behind(stretched, RanDumb(CLASSES)))
    means, offs = within(stretched(X), y)
    shrunk = OAS(assume_centered=True).fit(offs)
    assert 0.01 < shrunk.shrinkage_ < 0.5, "neither nothing nor all"
    inverse = np.linalg.inv(shrunk.covariance_)
    np.testing.assert_allclose(model.model.weights(), inverse @ means.T, atol=1e-10)
    rows = 3 * np.random.default_rng(1).normal(size=(500, WIDTH))
    nearest = cdist(stretched(rows), means, "mahalanobis", VI=inverse).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(rows), nearest)


def test_klda_is_the_nearest_mean_by_the_pseudoinverse_of_the_scatter() -> None:
    from benchmarks.analytic import KLDA, Behind

    model, X, y = taught(Behind(stretched, KLDA(CLASSES)))
    means, offs = within(stretched(X), y)
    inverse = np.linalg.pinv(offs.T @ offs)
    np.testing.assert_allclose(model.model.weights(), inverse @ means.T, atol=1e-10)
    rows = 3 * np.random.default_rng(1).normal(size=(500, WIDTH))
    nearest = cdist(stretched(rows), means, "mahalanobis", VI=inverse).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(rows), nearest)


def test_klda_leaves_out_what_is_rounding_where_features_are_more_than_rows() -> None:
    from benchmarks.analytic import KLDA, Behind, FourierLayer

    layer = FourierLayer(WIDTH, units=200, gamma=0.01)
    model, X, y = taught(Behind(layer, KLDA(CLASSES)))
    means, offs = within(layer(X), y)
    values, vectors = np.linalg.eigh(offs.T @ offs)
    kept = values > 200 * 2.0**-23 * values.max()
    assert 5 < kept.sum() < len(X) - T, "more is left out than what rows do not span"
    inverse = sum(np.outer(v, v) / s for s, v in zip(values[kept], vectors.T[kept], strict=True))
    np.testing.assert_allclose(model.model.weights(), inverse @ means.T, rtol=1e-6, atol=1e-8)
    assert np.mean(model.predict(X) == y) > 0.9


@pytest.mark.parametrize("name", ["RanDumb", "KLDA"])
def test_a_discriminant_is_the_same_however_rows_are_cut_into_lessons(name: str) -> None:
    from benchmarks import analytic

    model, X, y = taught(getattr(analytic, name)(CLASSES))
    one_by_one, sorted_by_class, at_once = (getattr(analytic, name)(CLASSES) for _ in range(3))
    for row, label in zip(X, y, strict=True):
        one_by_one.partial_fit(row[None], label[None])
        assert set(one_by_one.predict(X)) <= set(y)
    for t in CLASSES:
        sorted_by_class.partial_fit(X[y == t], y[y == t])
    at_once.partial_fit(X, y)
    for other in (one_by_one, sorted_by_class, at_once):
        np.testing.assert_allclose(other.weights(), model.weights(), atol=1e-10)


@pytest.mark.parametrize("name", ["RanDumb", "KLDA"])
@pytest.mark.parametrize("copies", [1, 7])
def test_a_discriminant_without_a_covariance_is_the_nearest_mean(name: str, copies: int) -> None:
    from benchmarks import analytic

    model = getattr(analytic, name)(CLASSES)
    centres = np.random.default_rng(0).normal(size=(3, WIDTH))
    for t in (2, 0):
        model.partial_fit(np.repeat(centres[t : t + 1], copies, axis=0), np.full(copies, t))
        assert set(model.predict(centres)) <= {2, t}
    rows = np.random.default_rng(1).normal(size=(200, WIDTH))
    nearest = np.array([0, 2])[cdist(rows, centres[[0, 2]]).argmin(axis=1)]
    np.testing.assert_array_equal(model.predict(rows), nearest)


@pytest.mark.parametrize("name", ["RanDumb", "KLDA"])
def test_a_discriminant_is_solved_anew_only_when_there_are_new_rows(name: str) -> None:
    from benchmarks import analytic

    model, X, y = taught(getattr(analytic, name)(CLASSES))
    before = model.weights()
    model.predict(X)
    assert model.weights() is before
    model.partial_fit(X[:1], y[:1])
    assert model.weights() is not before


def test_a_fourier_layer_has_the_products_of_its_kernel() -> None:
    from benchmarks.analytic import FourierLayer

    X = lessons()[0][0]
    layer = FourierLayer(WIDTH, units=50_000, seed=1, gamma=0.05)
    H = layer(X)
    np.testing.assert_allclose(layer(X[4:5])[0], H[4], atol=1e-12)
    np.testing.assert_allclose(H @ H.T, np.exp(-0.05 * cdist(X, X) ** 2), atol=0.03)


def test_a_fourier_layer_is_scikit_learns_fitted_to_the_first_lesson() -> None:
    from benchmarks.analytic import ACIL, Behind, FourierLayer

    layer = FourierLayer(WIDTH, units=9)
    taught(Behind(layer, ACIL(CLASSES)))
    (first, _), _, (rows, _) = lessons()
    gamma = 1 / (WIDTH * first.var())
    sampler = RBFSampler(gamma="scale", n_components=9, random_state=0).fit(first)
    layer.directions = sampler.random_weights_ / np.sqrt(2 * gamma)
    layer.phases = sampler.random_offset_
    np.testing.assert_allclose(layer(rows), sampler.transform(rows), atol=1e-12)
    nothing_varies = FourierLayer(WIDTH, units=9)
    nothing_varies(np.full((7, WIDTH), 0.1))
    assert nothing_varies.gamma == 1


@pytest.mark.parametrize("name", ["ACIL", "AIR", "RanPAC", "RanDumb", "KLDA"])
def test_a_class_that_was_never_seen_is_never_the_answer(name: str) -> None:
    from benchmarks import analytic

    model = getattr(analytic, name)(CLASSES)
    X, y = lessons()[0]
    model.partial_fit(X, y)
    assert set(model.predict(np.random.default_rng(0).normal(size=(200, WIDTH)))) <= set(y)


def test_a_random_layer_is_the_same_for_every_row_and_all_that_stands_before_a_classifier() -> None:
    from benchmarks.analytic import ACIL, Behind, RandomLayer

    layer = RandomLayer(WIDTH, units=9, seed=3, spread=0.5)
    X = lessons()[0][0]
    assert layer(X).shape == (len(X), 9)
    np.testing.assert_allclose(layer(X[4:5])[0], [max(0, x) for x in X[4] @ layer.weights])
    model, X, y = taught(Behind(layer, ACIL(CLASSES)))
    scores = layer(X) @ ridge(layer(X), y, 0.1)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))


def test_streaming_lda_is_its_papers_recursion() -> None:
    from benchmarks.peers import StreamingLDA

    model, X, y = taught(StreamingLDA(CLASSES))
    means, counts, covariance = np.zeros((T, WIDTH)), np.zeros(T), np.zeros((WIDTH, WIDTH))
    for t, (row, label) in enumerate(zip(X, y, strict=True)):
        off = row - means[label]
        covariance = (t * covariance + t / (t + 1) * np.outer(off, off)) / (t + 1)
        means[label] = (counts[label] * means[label] + row) / (counts[label] + 1)
        counts[label] += 1
    inverse = np.linalg.inv((1 - 1e-4) * covariance + 1e-4 * np.eye(WIDTH))
    scores = X @ inverse @ means.T - 0.5 * np.diag(means @ inverse @ means.T)
    np.testing.assert_allclose(model.scatter / model.total, covariance, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))


def test_the_nearest_class_mean_is_that_of_all_rows() -> None:
    from benchmarks.peers import Means

    model, X, y = taught(Means(CLASSES))
    means = np.array([X[y == t].mean(axis=0) for t in CLASSES])
    nearest = np.linalg.norm(X[:, None] - means, axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), nearest)


def test_a_scaled_peer_sees_rows_by_the_mean_and_deviation_of_all_so_far() -> None:
    from benchmarks.online import Scaled

    class Recorder:
        def partial_fit(self, X: Floats, y: Any, classes: Any) -> None:
            self.seen = X

        def predict(self, X: Floats) -> Floats:
            return X

    model, X, _ = taught(Scaled(Recorder(), CLASSES))
    expected = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-12)
    np.testing.assert_allclose(model.model.seen, expected[50:], atol=1e-12)


def test_rows_reach_river_one_by_one_and_in_order() -> None:
    from benchmarks.online import River

    class Recorder:
        def __init__(self) -> None:
            self.seen: list[tuple[dict[int, float], int]] = []

        def learn_one(self, x: dict[int, float], y: int) -> None:
            self.seen.append((x, y))

        def predict_one(self, x: dict[int, float]) -> float:
            return x[2]

    model, X, y = taught(River(Recorder()))
    assert [label for _, label in model.model.seen] == y.tolist()
    np.testing.assert_array_equal([list(row.values()) for row, _ in model.model.seen], X)
    np.testing.assert_array_equal(model.predict(X), X[:, 2])


def train_by_hand(rows: Floats, targets: Floats, weights: list[Floats], epochs: int) -> None:
    """Adam on the mean cross-entropy of a softmax, with gradients by the chain rule. In place."""
    first, second = ([np.zeros_like(w) for w in weights] for _ in range(2))
    turn = 0
    for _ in range(epochs):
        for start in range(0, len(rows), 16):
            x, y = rows[start : start + 16], targets[start : start + 16]
            inner, bias, outer = weights
            hidden = np.maximum(0, x @ inner.T + bias)
            odds = np.exp(hidden @ outer.T)
            off = (odds / odds.sum(axis=1, keepdims=True) - y) / len(x)
            back = (off @ outer) * (hidden > 0)
            turn += 1
            for i, slope in enumerate((back.T @ x, back.sum(axis=0), off.T @ hidden)):
                first[i] = 0.9 * first[i] + 0.1 * slope
                second[i] = 0.999 * second[i] + 0.001 * slope**2
                mean, square = first[i] / (1 - 0.9**turn), second[i] / (1 - 0.999**turn)
                weights[i] -= 0.001 * mean / (np.sqrt(square) + 1e-7)


@pytest.mark.needs("torch")
@pytest.mark.slow
def test_the_teachable_head_is_two_layers_trained_by_adam(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import teachable

    monkeypatch.setattr(teachable, "EPOCHS", 3)
    model, X, y = taught(teachable.TeachableHead(CLASSES, seed=5))
    answers = model.predict(X)
    rng = np.random.default_rng(5)
    kept = rng.permutation(teachable.training_rows(rng, y))
    head = teachable.untrained(rng, WIDTH, T)
    weights = [each.detach().numpy().astype(np.float64) for each in head.parameters()]
    before = weights[0].copy()
    train_by_hand(X[kept], np.eye(T)[y[kept]], weights, epochs=3)
    trained = [each.detach().numpy() for each in model.head.parameters()]
    assert np.abs(weights[0] - before).max() > 0.005, "it was trained"
    for ours, theirs in zip(trained, weights, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
    scores = np.maximum(0, X @ weights[0].T + weights[1]) @ weights[2].T
    np.testing.assert_array_equal(answers, scores.argmax(axis=1))


@pytest.mark.needs("torch")
def test_the_teachable_head_holds_back_a_part_of_each_class_and_all_of_a_single_example() -> None:
    from benchmarks.teachable import training_rows

    y = np.repeat([0, 1, 2, 3], [100, 20, 7, 1])
    kept = training_rows(np.random.default_rng(0), y)
    assert np.bincount(y[kept], minlength=4).tolist() == [85, 17, 5, 0]


@pytest.mark.needs("torch")
@pytest.mark.slow
def test_the_teachable_head_is_trained_anew_only_when_there_are_new_examples() -> None:
    from benchmarks.teachable import TeachableHead

    model, X, y = taught(TeachableHead(CLASSES))
    model.predict(X)
    head = model.head
    assert np.mean(model.predict(X) == y) > 0.9
    assert model.head is head
    model.partial_fit(X[:1], y[:1])
    model.predict(X)
    assert model.head is not head
