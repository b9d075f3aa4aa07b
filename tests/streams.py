"""Random labelled streams: any split, any order, labels of any type, duplicates, tiny classes."""

import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import newfound
from newfound.common.device import on_host
from newfound.storage.format import read

LABEL_POOLS: dict[str, NDArray[Any]] = {
    "strings": np.array(["mug", "cup", "a very long label", "Krug", "杯", "ü"]),
    "integers": np.array([7, -3, 0, 10**12, 2, 5]),
    "small integers": np.array([7, 3, 0, 100, 2, 5], dtype=np.uint8),
    "whole floats": np.array([1.0, 2.0, -4.0, 0.0, 1e6, 3.0]),
    "booleans": np.array([True, False]),
}


@dataclass
class Stream:
    """Rows and labels, and the places where the stream is cut into calls."""

    X: NDArray[Any]
    y: NDArray[Any]
    cuts: list[int]

    def __len__(self) -> int:
        return len(self.X)

    def parts(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """The calls: consecutive pieces of the stream, none empty."""
        edges = [0, *self.cuts, len(self)]
        return [(self.X[a:b], self.y[a:b]) for a, b in pairwise(edges)]


@st.composite
def streams(
    draw: st.DrawFn, dtype: Any = None, min_rows: int = 1, pool: str | None = None
) -> Stream:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    n = draw(st.integers(min_rows, 40), label="rows")
    d = draw(st.integers(1, 6), label="features")
    labels = LABEL_POOLS[pool or draw(st.sampled_from(sorted(LABEL_POOLS)), label="labels")]
    X = rng.normal(size=(n, d)) * 10 ** draw(st.integers(-1, 1)) + draw(st.integers(-3, 3))
    if draw(st.booleans(), label="duplicates"):
        X = X[rng.integers(0, max(1, n // 3), n)]
    # Uneven classes, so that some have a single example.
    shares = rng.dirichlet(np.full(len(labels), 0.5))
    y = labels[rng.choice(len(labels), n, p=shares)]
    kind = dtype or draw(st.sampled_from([np.float64, np.float32]), label="dtype")
    cuts = (
        draw(st.sets(st.integers(1, max(1, n - 1)), max_size=6), label="cuts") if n > 1 else set()
    )
    return Stream(X.astype(kind), y, sorted(cuts))


def weights_of(model: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Recoded weights (d, T) and intercepts (T,) of each class, also where there are only two."""
    with model.lock:
        _ = model.coef_  # with parameters as they now are
        engine = model.learner_.engine
        order, factors = engine.memory.sums.order, on_host(engine.factors)
        weights, intercept = on_host(engine.solver.weights), on_host(engine.solver.intercept)
        return (weights * factors)[:, order], (intercept * factors)[order]


def by_label(model: Any, X: NDArray[Any]) -> dict[Any, NDArray[Any]]:
    """Recoded scores of each class, keyed by label, free of column order."""
    weights, intercept = weights_of(model)
    scores = X.astype(np.float64) @ weights + intercept
    return {label: scores[:, place] for place, label in enumerate(model.classes_.tolist())}


def assert_same_scores(one: Any, other: Any, X: NDArray[Any], tolerance: float = 1e-8) -> None:
    """Two models score all rows alike, class by class."""
    first, second = by_label(one, X), by_label(other, X)
    assert first.keys() == second.keys()
    for label, scores in first.items():
        np.testing.assert_allclose(scores, second[label], rtol=tolerance, atol=tolerance)


def saved(model: Any) -> bytes:
    """The bytes of a model's file: all that it is."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.newfound")
        return (Path(folder) / "model.newfound").read_bytes()


def reloaded(model: Any) -> Any:
    """The model, saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.newfound"
        model.save(path)
        ours = type(model).__module__.startswith("newfound.")
        return newfound.load(path) if ours else type(model).from_state(read(path))


def derived_anew(model: Any) -> Any:
    """A model of the same sums that holds nothing else: it derives all from these."""
    return type(model).from_state(model.learner_.to_state())


def blobs(n: int = 600, seed: int = 0) -> tuple[Any, Any]:
    """Rows (n, 4) of three classes that hardly overlap, and their labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, 4)) + 2 * np.eye(3, 4)[y], y
