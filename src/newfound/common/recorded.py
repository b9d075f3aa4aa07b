"""A function of arrays that a GPU replays as a whole.

A host takes as long to start a product of small arrays as a GPU takes to finish a large one. What
is recorded once is started as one.
"""

import sys
from collections.abc import Callable
from typing import Any

from newfound.common.device import Array, Device

# Calls after which it is worth recording.
CALLS = 4


class Recorded:
    """Calls a function of arrays; on a GPU of torch's, replays what it did the first times.

    The function has no way but one through it, whatever is in the arrays. It may change arrays
    that it holds in place, and must hold on to them.

    Parameters
    ----------
    function : callable
        Takes arrays of the same shapes each time, and returns one.
    device : Device

    Examples
    --------
    >>> import array_api_strict as xp
    >>> double = Recorded(lambda array: 2 * array, Device("array_api_strict", None))
    >>> print(double(xp.asarray([1.0])))
    Array([2.], dtype=array_api_strict.float64)
    """

    # _graph: what is replayed, with the arrays that it reads and the one that it writes.

    def __init__(self, function: Callable[..., Array], device: Device) -> None:
        self._function, self._calls = function, 0
        self._can_record = getattr(device.device, "type", None) == "cuda"
        self._graph: Any = None
        self._given: tuple[Array, ...] = ()
        self._result: Array = None

    def __call__(self, *given: Array) -> Array:
        """Return what the function makes of these arrays; the next call may overwrite it."""
        self._calls += 1
        if not self._can_record or self._calls < CALLS:
            return self._function(*given)
        if self._graph is None and not self._record(given):
            return self._function(*given)
        for held, array in zip(self._given, given, strict=True):
            held.copy_(array, non_blocking=True)
        self._graph.replay()
        return self._result

    def _record(self, given: tuple[Array, ...]) -> bool:
        """Record the function, which does nothing yet; False if that cannot be done here."""
        torch = sys.modules["torch"]
        self._given = tuple(torch.empty_like(array) for array in given)
        try:
            with torch.cuda.device(given[0].device):
                self._graph = self._captured(torch)
        except RuntimeError:  # a driver, or a GPU, that records nothing: then call by call
            self._can_record, self._given = False, ()
        return self._can_record

    def _captured(self, torch: Any) -> Any:
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            # Other threads may use the GPU meanwhile.
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                self._result = self._function(*self._given)
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(stream)
        return graph
