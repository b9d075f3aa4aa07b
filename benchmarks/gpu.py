"""What a GPU does beside the processor of the same machine; needs torch and CUDA."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # before scipy is imported

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
import sklearn

from benchmarks.common import Measurement, rows, show_parts, warm
from newfound import IncrementalRidgeClassifier
from newfound.common.extras import imported_from

TITLE = "A GPU: one NVIDIA H200, float64"
# Features, classes, and the milliseconds that a step may take.
STEPS = ((4096, 28, 0.25), (10_000, 200, 0.9), (20_000, 1000, 3.5))
# Features at which processor and GPU are compared.
WIDTHS = (128, 256, 512, 1024, 2048, 4096, 8192)


def measure_steps() -> Iterator[Measurement]:
    for d, T, bar in STEPS:
        model, there, y = _warm(d, T)
        took = _steps(model, there, y, 300)
        bare = _bare(d, T, 300)
        name = f"step, d = {d:,}, T = {T:,}"
        note = f"99th percentile {np.percentile(took, 99):.3g} ms"
        yield Measurement(name, float(took.mean()), "ms", bar, note=note)
        ratio = float(took.mean() / bare.mean())
        what = f"{name}, to the bare products and changes"
        yield Measurement(what, ratio, note=f"{bare.mean():.3g} ms")
        del model, there
        _empty()


def measure_batch(n: int = 200_000, d: int = 4096, T: int = 28) -> Iterator[Measurement]:
    import torch

    X = torch.randn(n, d, dtype=torch.float64, device="cuda")
    y = np.arange(n) % T
    gram = torch.empty(d, d, dtype=torch.float64, device="cuda")

    def bare() -> None:
        torch.matmul(X.T, X, out=gram)
        torch.linalg.cholesky(gram)

    def fit() -> None:
        IncrementalRidgeClassifier().fit(X, y).predict(X[:1])

    least, name = _time(bare, 3), f"{n:,} x {d} rows in one batch, to one X'X and one Cholesky"
    for dtype, bar in ((torch.float64, 1.5), (torch.float32, None)):
        X = X.to(dtype)
        took, kind = _time(fit, 3), str(dtype).removeprefix("torch.")
        note = f"{took:.0f} ms and {least:.0f} ms"
        yield Measurement(f"{name}, {kind}", took / least, bar=bar, note=note)


def measure_exactness(d: int = 1024, T: int = 10, condition: float = 1e6) -> Iterator[Measurement]:
    import torch

    rng = np.random.default_rng(0)
    n = 4 * d
    basis = np.linalg.qr(rng.normal(size=(d, d)))[0]
    scales = np.sqrt(np.geomspace(1.0, condition, d))
    X = np.linalg.qr(rng.normal(size=(n, d)))[0] * scales @ basis.T
    y = rng.integers(0, T, n)
    penalty, half = 1e-6, n // 2

    def weights(there: Callable[[Any], Any]) -> Any:
        model = IncrementalRidgeClassifier(penalty=penalty).fit(there(X[:half]), y[:half])
        model.partial_fit(there(X[half:-500]), y[half:-500])
        for i in range(n - 500, n):
            model.partial_fit(there(X[i : i + 1]), y[i : i + 1])
        return model.coef_

    ours = weights(lambda part: torch.asarray(part, device="cuda")).cpu().numpy()
    host = weights(np.asarray)
    error = float(np.abs(ours - host).max() / np.abs(host).max())
    name = f"weights, to the processor's, condition {condition:.0e}, d = {d}"
    yield Measurement(name, error, bar=1e-10, note="after two batches and 500 single rows")


def measure_memory(d: int = 10_000, T: int = 200) -> Iterator[Measurement]:
    import torch

    _empty()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    X = torch.randn(2 * d, d, dtype=torch.float64, device="cuda")
    held = torch.cuda.memory_allocated() - before
    y = np.arange(2 * d) % T
    model = IncrementalRidgeClassifier().fit(X, y)
    model.predict(X[:1])
    _steps(model, X, y, 600)  # past all that is flushed, measured and rebuilt now and then
    model.set_params(penalty=2.0).predict(X[:1])
    model.forget(X[-10:], y[-10:]).predict(X[:1])
    most = torch.cuda.max_memory_allocated() - before - held
    yield Measurement(f"most memory beside rows, d = {d:,}, in d²", most / (8 * d * d), bar=2.3)


def measure_widths() -> Iterator[Measurement]:
    for d in WIDTHS:
        model, there, y = _warm(d, 28)
        on_gpu = _steps(model, there, y, 300)
        host = warm(d, 28, 2 * d)
        X, y = rows(300, d, 28)
        on_host = _steps(host, X, y, 300)
        for name, took in (("GPU", on_gpu), ("processor", on_host)):
            yield Measurement(f"{name}: step, d = {d}", float(took.mean()), "ms")
        del model, there
        _empty()


def _warm(d: int, T: int) -> tuple[Any, Any, Any]:
    """Return a model that knows T classes, 2 d rows on the GPU, and their labels."""
    import torch

    generator = torch.Generator("cuda").manual_seed(0)
    X = torch.randn(2 * d, d, dtype=torch.float64, device="cuda", generator=generator)
    y = np.arange(len(X)) % T
    X[:, 0] += torch.asarray(y / T, device="cuda")
    model = IncrementalRidgeClassifier().fit(X, y)
    model.predict(X[:1])
    return model, X, y


def _steps(model: Any, X: Any, y: Any, count: int) -> Any:
    """Return the milliseconds that each of `count` steps took, until its answer was there."""
    took = []
    for i in range(count + 20):
        row, label = X[i % len(X)][None], y[i % len(X)][None]
        _wait()
        start = perf_counter()
        model.partial_fit(row, label)
        model.predict(row)
        _wait()
        took.append(1e3 * (perf_counter() - start))
    return np.array(took[20:])


def _bare(d: int, T: int, count: int) -> Any:
    """Return the milliseconds of what no step can do without, in bare torch."""
    import torch

    inverse = torch.eye(d, dtype=torch.float64, device="cuda")
    weights = torch.zeros(T, d, dtype=torch.float64, device="cuda")
    X = torch.randn(32, d, dtype=torch.float64, device="cuda")
    took = []
    for i in range(count + 20):
        x = X[i % 32]
        _wait()
        start = perf_counter()
        gain = inverse @ x
        scale = 1 / (1 + x @ gain)
        inverse.addr_(gain, gain * -scale)
        weights.addr_(weights @ x, gain * scale)
        (weights @ x).argmax()
        _wait()
        took.append(1e3 * (perf_counter() - start))
    return np.array(took[20:])


def _time(work: Callable[[], Any], times: int) -> float:
    """Return the milliseconds of the fastest of several runs."""
    took = []
    for _ in range(times + 1):
        _wait()
        start = perf_counter()
        work()
        _wait()
        took.append(1e3 * (perf_counter() - start))
    return min(took[1:])


def _wait() -> None:
    import torch

    torch.cuda.synchronize()


def _empty() -> None:
    import torch

    torch.cuda.empty_cache()


PARTS = {
    "steps": measure_steps,
    "batch": measure_batch,
    "exactness": measure_exactness,
    "memory": measure_memory,
    "widths": measure_widths,
}


if __name__ == "__main__":
    with imported_from("torch"):
        import torch
    if not torch.cuda.is_available():
        raise SystemExit("this needs a GPU that torch can use (CUDA)")
    sklearn.set_config(array_api_dispatch=True)
    show_parts(TITLE, PARTS)
