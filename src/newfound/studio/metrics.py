"""What happened since the start, as Prometheus reads it."""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping

# Upper bounds of the histograms, in seconds.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
COUNTERS = {
    "newfound_lessons_total": "Lessons learned, without those that were known already.",
    "newfound_looks_total": "Images looked at.",
    "newfound_looks_dropped_total": "Frames that a newer one replaced before they were looked at.",
}
HISTOGRAMS = {
    "newfound_look_seconds": "From the arrival of an image to its answer.",
    "newfound_lesson_seconds": "From the arrival of a lesson until the journal holds it.",
}
GAUGES = {
    "newfound_classes": "Classes of the model.",
    "newfound_examples": "Examples of the model.",
    "newfound_connections": "WebSockets that are open.",
}


class Metrics:
    """Counters and histograms that any thread may add to.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.look(0.02)
    >>> "newfound_looks_total 1" in metrics.text({"newfound_classes": 3}).splitlines()
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = Counter[str]()
        self._buckets = {name: [0] * (len(BOUNDS) + 1) for name in HISTOGRAMS}
        self._sums = dict.fromkeys(HISTOGRAMS, 0.0)

    def look(self, seconds: float) -> None:
        """Count an image that was looked at."""
        self._count("newfound_looks_total", "newfound_look_seconds", seconds)

    def lesson(self, seconds: float) -> None:
        """Count a lesson that was learned."""
        self._count("newfound_lessons_total", "newfound_lesson_seconds", seconds)

    def dropped(self, frames: int) -> None:
        """Count frames that were never looked at."""
        with self._lock:
            self._counts["newfound_looks_dropped_total"] += frames

    def _count(self, counter: str, histogram: str, seconds: float) -> None:
        with self._lock:
            self._counts[counter] += 1
            self._buckets[histogram][bisect_left(BOUNDS, seconds)] += 1
            self._sums[histogram] += seconds

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return all of it in Prometheus' text format, with what is true at the moment."""
        with self._lock:
            lines = _described(COUNTERS, "counter", lambda name: [f"{name} {self._counts[name]}"])
            lines += _described(HISTOGRAMS, "histogram", self._histogram)
        lines += _described(GAUGES, "gauge", lambda name: [f"{name} {gauges.get(name, 0)}"])
        return "\n".join([*lines, ""])

    def _histogram(self, name: str) -> list[str]:
        lines, below = [], 0
        for bound, number in zip((*map(str, BOUNDS), "+Inf"), self._buckets[name], strict=True):
            below += number
            lines.append(f'{name}_bucket{{le="{bound}"}} {below}')
        return [*lines, f"{name}_sum {self._sums[name]:.6f}", f"{name}_count {below}"]


def _described(
    names: Mapping[str, str], kind: str, values: Callable[[str], list[str]]
) -> list[str]:
    """Return lines for all of a kind: what each is, and its values."""
    lines = []
    for name, words in names.items():
        lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}", *values(name)]
    return lines
