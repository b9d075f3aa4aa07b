"""Where arrays live that are not numpy's: a namespace of the array API, and a device of it."""

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from newfound.common.extras import imported_from

# An array of numpy, or of a namespace of the array API on one of its devices.
Array = Any
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, repr=False)
class Device:
    """A device of a namespace of the array API, such as a GPU of torch's.

    Parameters
    ----------
    namespace : str
        The module that has the functions of the array API.
    device : Any
        What that namespace calls the device.

    Examples
    --------
    >>> import array_api_strict
    >>> rows = array_api_strict.asarray([[1.0, 2.0]])
    >>> device_of(rows)
    Device('array_api_strict', array_api_strict.Device('CPU_DEVICE'))
    >>> device_of(rows).host(rows)
    array([[1., 2.]])
    >>> device_of(np.ones((1, 2))) is None
    True
    """

    namespace: str
    device: Any

    @cached_property
    def xp(self) -> Any:
        """The functions of the array API."""
        with imported_from("torch"):
            return importlib.import_module(self.namespace)

    @property
    def name(self) -> str:
        """What people call the namespace."""
        return self.namespace.rpartition(".")[2]

    def __repr__(self) -> str:
        return f"Device({self.namespace!r}, {self.device!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {"namespace": self.namespace, "device": self.device}  # modules cannot be copied

    def __deepcopy__(self, memo: dict[int, Any]) -> "Device":
        return self

    def zeros(self, *shape: int) -> Array:
        """Return zeros in float64."""
        return self.xp.zeros(shape, dtype=self.xp.float64, device=self.device)

    def put(self, array: Array, double: bool = True) -> Array:
        """Return an array from anywhere, here; in float64, unless it is to keep its type."""
        if isinstance(array, np.ndarray) or not self.has(array):
            there = on_host(array)
            # A copy, for torch takes no memory that it must not write to; in the byte order of the
            # machine, for it knows no other.
            there = np.array(there, dtype=there.dtype.newbyteorder("="))
            array = self.xp.asarray(there, device=self.device)
        else:
            array = detached(array)
        return self.double(array) if double else array

    def double(self, array: Array) -> Array:
        """Return an array that lives here in float64."""
        xp = self.xp
        return array if array.dtype == xp.float64 else xp.astype(array, xp.float64)

    def has(self, array: Array) -> bool:
        """Tell whether an array lives here."""
        device = device_of(array)
        return device is self or device == self

    def host(self, array: Array) -> NDArray[Any]:
        """Return an array of this device as numpy's."""
        if hasattr(array, "detach"):  # torch, which has a way of its own
            there: NDArray[Any] = array.detach().cpu().numpy()
            return there
        here: NDArray[Any] = np.from_dlpack(array, device="cpu")
        return here


def device_of(array: Any) -> Device | None:
    """Return where an array of the array API lives; None if it is numpy's, or no such array."""
    if isinstance(array, np.ndarray):
        return None
    if "torch" in sys.modules and isinstance(array, sys.modules["torch"].Tensor):
        return _known("array_api_compat.torch", array.device)
    namespace = getattr(array, "__array_namespace__", None)
    if namespace is None or not hasattr(array, "device"):
        return None
    return _known(namespace().__name__, array.device)


@lru_cache(maxsize=64)
def _known(namespace: str, device: Any) -> Device:
    return Device(namespace, device)


def lasting(function: Function) -> Function:
    """Let a function make arrays that can be changed whenever it is called.

    What torch makes in its inference mode can be changed nowhere else. A model may be taught there,
    with rows that come from a network, and go on learning outside.
    """

    @wraps(function)
    def outside(*args: Any, **options: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is None or not torch.is_inference_mode_enabled():
            return function(*args, **options)
        with torch.inference_mode(False):
            return function(*args, **options)

    return cast(Function, outside)


def on_host(array: Array) -> NDArray[Any]:
    """Return an array as numpy's; what is numpy's already is returned as it is."""
    if isinstance(array, np.ndarray):  # nearly always, so without detours
        return array
    device = device_of(array)
    there: NDArray[Any] = np.asarray(array) if device is None else device.host(array)
    return there


def detached(array: Array) -> Array:
    """Return an array without its gradient, if it has one: sums are no place for that."""
    return array.detach() if getattr(array, "requires_grad", False) else array


def namespace_of(array: Array) -> Any:
    """Return the functions of the array API for an array: numpy, or what its device has."""
    device = device_of(array)
    return np if device is None else device.xp


def precision_of(X: Array) -> np.dtype[Any]:
    """Return the type of numbers of an array of floats, as numpy calls it."""
    dtype = X.dtype
    if isinstance(dtype, np.dtype):
        return dtype
    return np.dtype(np.float32 if str(dtype).endswith("float32") else np.float64)
