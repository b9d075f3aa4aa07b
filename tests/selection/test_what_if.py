"""Pretending, less the row that is asked about: scores of a model nobody taught."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from newfound.selection.what_if import (
    Basis,
    Group,
    Scenario,
    left_out_cosines,
    left_out_scores,
)
from tests import oracles

Floats = NDArray[np.float64]
WIDTH, T = 6, 4


class Taught(NamedTuple):
    """Rows, labels 0 to T - 1, the weight of each class, and how they are learned."""

    X: Floats
    y: NDArray[np.intp]
    weights: Floats
    penalty: float
    intercept: bool

    @property
    def counts(self) -> NDArray[np.intp]:
        return np.bincount(self.y)

    @property
    def means(self) -> Floats:
        return np.array([self.X[self.y == t].mean(axis=0) for t in range(len(self.counts))])

    def ridge(self, less: int | None = None) -> tuple[Floats, Floats]:
        """Weights (d, T) and intercepts (T,), without one of the rows."""
        keep = np.arange(len(self.y)) != (-1 if less is None else less)
        targets = oracles.one_hot(self.y[keep], np.arange(len(self.counts)))
        sample_weight = self.weights[self.y[keep]]
        return oracles.ridge(self.X[keep], targets, self.penalty, self.intercept, sample_weight)

    def group(self, classes: NDArray[np.intp]) -> Group:
        weight_sums = self.counts * self.weights
        rest = float(np.delete(weight_sums, classes).sum())
        return Group(weight_sums[classes], self.counts[classes], rest, self.intercept)

    def basis(self, classes: NDArray[np.intp], voters: Floats, few: list[Floats]) -> Basis:
        """Products with the inverse of A, which is inverted for it."""
        sample_weight = self.weights[self.y]
        mean = np.average(self.X, axis=0, weights=sample_weight) * self.intercept
        centred = self.X - mean
        A = (centred.T * sample_weight) @ centred + self.penalty * np.eye(self.X.shape[1])
        weight_sums, means = self.counts * self.weights, self.means
        others = np.delete(np.arange(len(means)), classes)
        rest = np.zeros(self.X.shape[1])
        if len(others):
            rest = np.average(means[others], axis=0, weights=weight_sums[others])
        U = np.column_stack([means[classes].T, rest, *(rows.mean(axis=0) for rows in few)])
        P = np.linalg.inv(A)
        return Basis(U.T @ P @ U, voters @ P @ U, np.einsum("ij,jk,ik->i", voters, P, voters))


def scattered(rng: np.random.Generator, counts: Any, d: int = WIDTH) -> tuple[Floats, Any]:
    """Classes that all have their own scatter."""
    X = [2 * rng.normal(size=d) + rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) for n in counts]
    return np.concatenate(X), np.repeat(np.arange(len(counts)), counts)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.integers(0, 3))
def test_left_out_scores_are_those_of_sums_without_the_row(
    seed: int, intercept: bool, is_weighted: bool, others: int
) -> None:
    rng = np.random.default_rng(seed)
    looked_at = int(rng.integers(2, 6))
    counts = rng.integers(8, 30, looked_at + others)
    X, y = scattered(rng, counts)
    weights = rng.uniform(0.3, 3.0, len(counts)) if is_weighted else np.ones(len(counts))
    taught = Taught(X, y, weights, 10 ** rng.uniform(-1, 2), intercept)
    classes = np.sort(rng.permutation(len(counts))[:looked_at])
    group = taught.group(classes)
    weight_sums, columns, few = group.weight_sums.copy(), np.arange(looked_at), {}
    for c in rng.permutation(looked_at)[: rng.integers(looked_at)]:
        weight_sums[c] = rng.uniform(1, 4) * weights[classes[c]]
        if rng.random() < 0.5:
            few[int(c)] = X[y == classes[c]][:3]
            columns[c] = looked_at + len(few)
    places = np.concatenate([np.flatnonzero(y == t)[4:7] for t in classes])
    basis = taught.basis(classes, X[places], list(few.values()))
    of_class = np.repeat(np.arange(looked_at), 3)
    found = left_out_scores(basis, group, Scenario(weight_sums, columns), of_class)
    expected = [
        oracles.pretended_without(*taught, classes, weight_sums, few, place) for place in places
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", [np.ones(T), np.array([2.0, 0.5, 1.0, 3.0])], ids=str)
@pytest.mark.parametrize("looked_at", [2, 3, T])
def test_with_nothing_pretended_it_is_a_refit_without_the_row(
    intercept: bool, weights: Floats, looked_at: int
) -> None:
    """Exactly leave-one-out, also for the classes that are not looked at, which only stand by."""
    rng = np.random.default_rng(looked_at)
    X, y = scattered(rng, [9, 2, 20, 15])
    taught = Taught(X, y, weights, 2.0, intercept)
    classes = np.arange(looked_at)
    places = np.flatnonzero(y < looked_at)
    group = taught.group(classes)
    found = left_out_scores(
        taught.basis(classes, X[places], []), group, Scenario(group.weight_sums, classes), y[places]
    )
    for row, place in zip(found, places, strict=True):
        W, b = taught.ridge(less=int(place))
        np.testing.assert_allclose(row, (X[place] @ W + b)[:looked_at], atol=1e-10)
        everybody, offset = taught.ridge()
        assert abs(row - (X[place] @ everybody + offset)[:looked_at]).max() > 1e-6


def angles(matrix: Floats, u: Floats, classes: Floats) -> tuple[Floats, float]:
    """Cosines between u and several vectors, in the metric of an inverse; and the square of u."""
    P = np.linalg.inv(matrix)
    squares, own = np.einsum("ij,jk,ik->i", classes, P, classes), float(u @ P @ u)
    with np.errstate(invalid="ignore"):
        return classes @ P @ u / np.sqrt(squares * own), own


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.integers(0, 2))
def test_left_out_cosines_are_those_of_a_refit_without_the_row(
    seed: int, intercept: bool, is_weighted: bool, others: int
) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(2, 9, 3 + others)
    X, y = scattered(rng, counts)
    weights = rng.uniform(0.3, 3.0, len(counts)) if is_weighted else np.ones(len(counts))
    taught = Taught(X, y, weights, 10 ** rng.uniform(-1, 2), intercept)
    places = np.flatnonzero(y < 3)
    found = left_out_cosines(
        taught.basis(np.arange(3), X[places], []), taught.group(np.arange(3)), y[places]
    )
    for cosines, leverage, place in zip(*found, places, strict=True):
        keep = np.arange(len(y)) != place
        w = weights[y[keep]]
        mean = w @ X[keep] / w.sum() * intercept
        Z = X[keep] - mean
        sums = np.array([w[y[keep] == t] @ Z[y[keep] == t] for t in range(3)])
        matrix = (Z.T * w) @ Z + taught.penalty * np.eye(WIDTH)
        expected, square = angles(matrix, X[place] - mean, sums)
        np.testing.assert_allclose(cosines, expected, atol=1e-7)
        np.testing.assert_allclose(leverage, square + intercept / w.sum(), rtol=1e-7)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_without_its_class_a_row_is_asked_of_sums_in_which_that_has_no_mass(
    seed: int, intercept: bool, is_weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(2, 9, T)
    X, y = scattered(rng, counts)
    weights = rng.uniform(0.3, 3.0, T) if is_weighted else np.ones(T)
    taught = Taught(X, y, weights, 10 ** rng.uniform(-1, 2), intercept)
    group, means = taught.group(np.arange(T)), taught.means
    found = left_out_cosines(taught.basis(np.arange(T), X, []), group, y, with_class=True)
    deviations = X - means[y]
    for cosines, leverage, place in zip(*found, range(len(y)), strict=True):
        k, n = y[place], counts[y[place]]
        weight_sums = np.where(np.arange(T) == k, 0.0, group.weight_sums)
        mean = weight_sums @ means / weight_sums.sum() * intercept
        around = means - mean
        # A class of n rows scatters by n / (n - 1) times a row's own part less without it.
        w = weights[y] * np.where(np.arange(len(y)) == place, 1 - n / (n - 1), 1.0)
        matrix = (deviations.T * w) @ deviations + (around.T * weight_sums) @ around
        matrix += taught.penalty * np.eye(WIDTH)
        others = np.arange(T) != k
        classes = (weight_sums[:, None] * around)[others]
        expected, square = angles(matrix, X[place] - mean, classes)
        np.testing.assert_allclose(cosines[others], expected, atol=1e-6)
        np.testing.assert_allclose(leverage, square + intercept / weight_sums.sum(), rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_on_digits_a_class_without_mass_is_as_unknown_as_one_never_taught(seed: int) -> None:
    """The scatter that stays makes little difference: rows are as like the other classes."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))[:400]
    X, y = X[order], y[order]
    taught = Taught(X, y, np.ones(10), 500.0, True)
    found = left_out_cosines(
        taught.basis(np.arange(10), X, []), taught.group(np.arange(10)), y, with_class=True
    )
    both = []
    for k in range(10):
        own, others = y == k, np.arange(10) != k
        mean = X[~own].mean(axis=0)
        Z = X[~own] - mean
        classes = np.array([Z[y[~own] == t].sum(axis=0) for t in np.flatnonzero(others)])
        matrix = Z.T @ Z + taught.penalty * np.eye(64)
        really = [angles(matrix, row - mean, classes)[0].max() for row in X[own]]
        both.append(np.array([found.cosines[own][:, others].max(axis=1), really]))
    ours, theirs = np.concatenate(both, axis=1)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.9
    assert abs(ours.mean() - theirs.mean()) < 0.02


def equal_scatter(rng: np.random.Generator, copies: int) -> tuple[Floats, Any]:
    """Classes whose rows scatter all alike: the same deviations around every mean, repeated."""
    deviations = rng.normal(size=(8, WIDTH))
    deviations -= deviations.mean(axis=0)
    means = 2 * rng.normal(size=(T, WIDTH))
    X = np.concatenate([mean + np.tile(deviations, (copies, 1)) for mean in means])
    return X, np.repeat(np.arange(T), 8 * copies)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("rare", [[2], [0, 3]])
@pytest.mark.parametrize("weights", [np.ones(T), np.array([2.0, 1.0, 0.5, 1.0])], ids=str)
def test_pretending_is_teaching_where_classes_scatter_alike(
    intercept: bool, rare: list[int], weights: Floats
) -> None:
    """A row that is asked about is of no weight in as many others, which have to be many."""
    errors = []
    for copies in (50, 500):
        X, y = equal_scatter(np.random.default_rng(1), copies)
        taught = Taught(X, y, weights, 3.0, intercept)
        # The few rows really taught scatter as all do, around a mean that is not quite the class's.
        few = [X[y == t][:8] + 0.3 * np.eye(WIDTH)[t] for t in rare]
        group = taught.group(np.arange(T))
        weight_sums, columns = group.weight_sums.copy(), np.arange(T)
        weight_sums[rare], columns[rare] = 8 * weights[rare], T + 1 + np.arange(len(rare))
        places = np.flatnonzero(y == 1)[:8]
        found = left_out_scores(
            taught.basis(np.arange(T), X[places], few),
            group,
            Scenario(weight_sums, columns),
            np.ones(8, dtype=np.intp),
        )
        kept = ~np.isin(y, rare)
        really = taught._replace(
            X=np.concatenate([X[kept], *few]),
            y=np.concatenate([y[kept], np.repeat(rare, 8)]),
            penalty=3.0 * weight_sums.sum() / group.weight_sums.sum(),
        )
        W, b = really.ridge()
        errors.append(abs(found - (X[places] @ W + b)).max())
        everybody, offset = taught.ridge()
        assert abs(found - (X[places] @ everybody + offset)).max() > 0.05
    assert errors[0] < 0.02
    assert errors[1] < 0.15 * errors[0]


@pytest.mark.slow
@pytest.mark.parametrize("few", [2, 8, 32])
def test_on_digits_pretending_agrees_closely_with_teaching(few: int) -> None:
    """Classes of digits do not scatter alike, yet the two models answer alike."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(few).permutation(len(y))[:1200]
    X, y = X[order], y[order]
    taught = Taught(X, y, np.ones(10), 50.0, True)
    group, places = taught.group(np.arange(10)), np.arange(300, 500)
    agree, correlate = [], []
    for rare in range(10):
        rows = X[y == rare][-few:]
        assert len(rows) == few
        weight_sums, columns = group.weight_sums.copy(), np.arange(10)
        weight_sums[rare], columns[rare] = few, 11
        found = left_out_scores(
            taught.basis(np.arange(10), X[places], [rows]),
            group,
            Scenario(weight_sums, columns),
            y[places],
        )
        kept = y != rare
        kept[places] = False
        W, b = oracles.ridge(
            np.concatenate([X[kept], rows]),
            oracles.one_hot(np.concatenate([y[kept], np.full(few, rare)]), np.arange(10)),
            50.0,
        )
        theirs, factors = X[places] @ W + b, oracles.recode(weight_sums, 0.7)
        agree.append(np.mean((found * factors).argmax(1) == (theirs * factors).argmax(1)))
        correlate.append(np.corrcoef(found[:, rare], theirs[:, rare])[0, 1])
    assert np.mean(agree) > 0.93
    assert np.mean(correlate) > 0.95
