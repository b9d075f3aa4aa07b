"""A function of arrays that a GPU replays as a whole.

A host takes as long to start a product of small arrays as a GPU takes to finish a large one. What
is recorded once is started as one.
"""

import gc
import sys
import warnings
from collections.abc import Callable
from typing import Any

from newfound.common.device import Array, Device

# Calls after which it is worth recording.
CALLS = 4


class Recorded:
    """Calls a function of arrays; on a GPU of torch's, replays what it did the first times.

    It does not hold the function: that is part of what holds this, and whatever is on a GPU must go
    as soon as nobody needs it.

    Parameters
    ----------
    device : Device

    Examples
    --------
    >>> import array_api_strict as xp
    >>> recorded = Recorded(Device("array_api_strict", None))
    >>> print(recorded(lambda array: 2 * array, xp.asarray([1.0])))
    Array([2.], dtype=array_api_strict.float64)
    """

    # _graph: what is replayed, with the arrays that it reads and the one that it writes.

    def __init__(self, device: Device) -> None:
        self._calls = 0
        self._can_record = getattr(device.device, "type", None) == "cuda"
        self._graph: Any = None
        self._inputs: tuple[Array, ...] = ()
        self._result: Array = None

    def __call__(self, function: Callable[..., Array], *arrays: Array) -> Array:
        """Return what a function makes of arrays; the next call may overwrite it.

        It is the same function each time, of arrays of the same shapes, and has no way but one
        through it, whatever is in them. It may change arrays of its own in place, and must hold on
        to them.
        """
        self._calls += 1
        if not self._can_record or self._calls < CALLS:
            return function(*arrays)
        if self._graph is None and not self._record(function, arrays):
            return function(*arrays)
        for copy, array in zip(self._inputs, arrays, strict=True):
            copy.copy_(array, non_blocking=True)
        self._graph.replay()
        return self._result

    def _record(self, function: Callable[..., Array], arrays: tuple[Array, ...]) -> bool:
        """Record a function, which does nothing yet; False if that cannot be done here."""
        torch = sys.modules["torch"]
        self._inputs = tuple(torch.empty_like(array) for array in arrays)
        # No other graph may be thrown away while one is recorded.
        collects = gc.isenabled()
        gc.disable()
        try:
            with torch.cuda.device(arrays[0].device):
                self._graph = self._captured(torch, function)
        except RuntimeError as error:  # a driver that records nothing: then call by call
            warnings.warn(f"steps are not recorded on this GPU, and slower: {error}", stacklevel=2)
            self._can_record, self._inputs = False, ()
        finally:
            if collects:
                gc.enable()
        return self._can_record

    def _captured(self, torch: Any, function: Callable[..., Array]) -> Any:
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            # Other threads may use the GPU meanwhile.
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                self._result = function(*self._inputs)
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(stream)
        return graph
