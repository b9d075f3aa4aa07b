"""Naive twins of everything fast: short, slow and obviously right."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.sums import Sums

Extended = np.longdouble


def one_hot(y: Any, labels: Any) -> NDArray[np.float64]:
    """Targets, shape (n, T)."""
    targets: NDArray[np.bool_] = np.asarray(y)[:, None] == np.asarray(labels)[None, :]
    return targets.astype(np.float64)


def balanced_weights(y: Any) -> NDArray[np.float64]:
    """w_i = n / (T n_t) for an example of class t."""
    labels, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
    weights: NDArray[np.float64] = len(inverse) / (len(labels) * counts[inverse])
    return weights


def ridge(
    X: NDArray[Any],
    Y: NDArray[Any],
    penalty: float,
    fit_intercept: bool = True,
    sample_weight: NDArray[Any] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights (d, T) and intercepts (T,) as a least-squares problem with the penalty as rows."""
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    n, d = X.shape
    root = np.ones(n) if sample_weight is None else np.sqrt(sample_weight)
    mean, target = np.zeros(d), np.zeros(Y.shape[1])
    if fit_intercept:
        mean = np.average(X, axis=0, weights=root**2)
        target = np.average(Y, axis=0, weights=root**2)
    rows = np.vstack([root[:, None] * (X - mean), np.sqrt(penalty) * np.eye(d)])
    goals = np.vstack([root[:, None] * (Y - target), np.zeros((d, Y.shape[1]))])
    weights = np.linalg.lstsq(rows, goals, rcond=None)[0]
    return weights, target - mean @ weights


def recode(weight_sums: Any, recoding: float) -> NDArray[np.float64]:
    """Gamma^recoding, written as in the paper but for the common factor 1 / T."""
    weight_sums = np.asarray(weight_sums, dtype=np.float64)
    return np.array(
        [
            (weight_sums.sum() / (len(weight_sums) * weight_sum)) ** recoding
            for weight_sum in weight_sums
        ]
    )


def recode_each(weight_sums: Any, recodings: Any) -> NDArray[np.float64]:
    """One exponent a class: each is raised beside the largest, the first of these if several."""
    weight_sums, largest = np.asarray(weight_sums, dtype=np.float64), int(np.argmax(weight_sums))
    common = recode(weight_sums, recodings[largest])[largest]
    pairs = zip(weight_sums, recodings, strict=True)
    return np.array(
        [common * (weight_sums[largest] / weight_sum) ** power for weight_sum, power in pairs]
    )


def cosines(
    X: NDArray[Any],
    targets: NDArray[Any],
    penalty: float,
    fit_intercept: bool,
    rows: NDArray[Any],
    sample_weight: NDArray[Any] | None = None,
) -> tuple[Any, Any]:
    """Angles between rows and sums of classes, whitened by a root of A^-1; and the leverage."""
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    mean = np.average(X, axis=0, weights=weights) * fit_intercept
    Z = np.asarray(X - mean, dtype=np.float64)
    values, vectors = np.linalg.eigh((Z.T * weights) @ Z + penalty * np.eye(X.shape[1]))
    whiten = vectors / np.sqrt(values)
    white, classes = (rows - mean) @ whiten, (targets.T * weights) @ Z @ whiten
    lengths = np.linalg.norm(white, axis=1)
    sizes = np.linalg.norm(classes, axis=1)
    sizes = np.where(sizes < 1e-6 * len(X), np.inf, sizes)  # a class where all rows are on average
    angles = white @ classes.T / (lengths[:, None] * sizes)
    return angles, lengths**2 + fit_intercept / weights.sum()


def leverage(X: NDArray[Any], penalty: float, fit_intercept: bool, rows: NDArray[Any]) -> Any:
    """x'A^-1 x by inverting the whole system, the unpenalised intercept included."""
    ones = np.ones if fit_intercept else np.zeros
    wide = np.column_stack([X, ones(len(X))])
    matrix = wide.T @ wide + np.diag([penalty] * X.shape[1] + [0.0 if fit_intercept else 1.0])
    rows = np.column_stack([rows, ones(len(rows))])
    return np.einsum("ij,jk,ik->i", rows, np.linalg.inv(matrix), rows)


def extended_sum(X: NDArray[Any], Z: NDArray[Any]) -> NDArray[Any]:
    """X'Z in extended precision, in chunks to bound memory."""
    total = np.zeros((X.shape[1], Z.shape[1]), dtype=Extended)
    for start in range(0, len(X), 5000):
        chunk = slice(start, start + 5000)
        total += X[chunk].astype(Extended).T @ Z[chunk].astype(Extended)
    return total


def extended_solve(matrix: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Cholesky solution in extended precision."""
    d = len(matrix)
    factor = np.zeros((d, d), dtype=Extended)
    for j in range(d):
        factor[j, j] = np.sqrt(matrix[j, j] - factor[j, :j] @ factor[j, :j])
        below = matrix[j + 1 :, j] - factor[j + 1 :, :j] @ factor[j, :j]
        factor[j + 1 :, j] = below / factor[j, j]
    half = np.zeros(right.shape, dtype=Extended)
    for i in range(d):
        half[i] = (right[i] - factor[i, :i] @ half[:i]) / factor[i, i]
    whole = np.zeros(right.shape, dtype=Extended)
    for i in reversed(range(d)):
        whole[i] = (half[i] - factor[i + 1 :, i] @ whole[i + 1 :]) / factor[i, i]
    return whole


def extended_ridge(
    X: NDArray[Any], Y: NDArray[Any], penalty: float, asked: NDArray[Any]
) -> NDArray[np.float64]:
    """What ridge regression with an intercept says of rows, in extended precision throughout."""
    X, Y, asked = (part.astype(Extended) for part in (X, Y, asked))
    around, targets = X - X.mean(axis=0), Y - Y.mean(axis=0)
    matrix = around.T @ around + Extended(penalty) * np.eye(X.shape[1])
    weights = extended_solve(matrix, around.T @ targets)
    answers = (asked - X.mean(axis=0)) @ weights + Y.mean(axis=0)
    return np.asarray(answers, dtype=np.float64)


def pretended_without(
    X: NDArray[Any],
    y: NDArray[Any],
    weights: NDArray[Any],
    penalty: float,
    intercept: bool,
    classes: NDArray[Any],
    weight_sums: NDArray[Any],
    few: dict[int, NDArray[Any]],
    place: int,
) -> NDArray[np.float64]:
    """Scores of a row that was taught by the model simulated without it, from rows to sums.

    Labels are whole numbers from 0 on, and classes weigh `weights`. `classes` are looked at, and
    simulated to have `weight_sums`; those in `few`, by place, have the mean of these rows, others
    their own without the row.
    """
    counts = np.bincount(y)
    x, k = X[place], int(np.flatnonzero(classes == y[place])[0])
    learned, labels = np.delete(X, place, axis=0), np.delete(y, place)
    # Scatter of the classes looked at, each with the weight of its full count; moments of others.
    shrunk = weight_sums.sum() / (counts * weights)[classes].sum()
    gram, first, rest = np.zeros((X.shape[1],) * 2), np.zeros(X.shape[1]), 0.0
    means = np.zeros((len(classes), X.shape[1]))
    for t in range(len(counts)):
        rows = learned[labels == t]
        if t in classes:
            c = int(np.flatnonzero(classes == t)[0])
            means[c] = few[c].mean(axis=0) if c in few else rows.mean(axis=0)
            around = rows - rows.mean(axis=0)
            gram += shrunk * weights[t] * around.T @ around
        else:
            gram += shrunk * weights[t] * rows.T @ rows
            first += shrunk * weights[t] * rows.sum(axis=0)
            rest += shrunk * weights[t] * len(rows)
    weight_sums = weight_sums.copy()
    if weight_sums[k] == counts[y[place]] * weights[y[place]]:  # not pretended to be any less
        weight_sums[k] -= weights[y[place]]
    gram += (means.T * weight_sums) @ means
    cross, total = means.T * weight_sums, weight_sums.sum() + rest
    mean = (cross.sum(axis=1) + first) / total * intercept
    A = gram - total * np.outer(mean, mean) + shrunk * penalty * np.eye(X.shape[1])
    W = np.linalg.solve(A, cross - np.outer(mean, weight_sums))
    scores: NDArray[np.float64] = (x - mean) @ W + intercept * weight_sums / total
    return scores


def bottom_k(pairs: list[tuple[int, NDArray[Any]]], k: int) -> list[NDArray[Any]]:
    """Of pairs of a key and a row, the rows with the k smallest keys; of equal keys, by bytes."""
    return [row for _, row in sorted(pairs, key=lambda pair: (pair[0], pair[1].tobytes()))[:k]]


def seen_from_zero(sums: Sums) -> Sums:
    """The same sums, whatever origin their rows were seen from."""
    moved = copy.deepcopy(sums)
    moved.move_origin(None)
    return moved
