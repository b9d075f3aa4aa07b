"""Tensors of a torch file in its old format, read without torch and without running its code."""

import collections
import io
import pickle
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError

_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001


class _Tensor(NamedTuple):
    """What torch makes a tensor of."""

    storage: tuple[str, np.dtype[Any]]  # its key, and the type of its numbers
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    requires_grad: bool
    hooks: Any


# What a pickle may ask for.
_KNOWN: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _Tensor,
    ("torch", "FloatStorage"): np.dtype("<f4"),
    ("torch", "LongStorage"): np.dtype("<i8"),
}


class _Reader(pickle.Unpickler):
    """Knows ordered dicts, tensors and storages, and nothing else that a pickle may ask for."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"{module}.{name} has no place in a file of weights")
        return _KNOWN[module, name]

    def persistent_load(self, reference: Any) -> tuple[str, np.dtype[Any]]:
        kind, dtype, key, *_ = reference
        if kind != "storage":
            raise pickle.UnpicklingError(f"{kind} has no place in a file of weights")
        return key, dtype


def read_tensors(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the tensors of a state dict by name.

    Parameters
    ----------
    data : bytes
        A whole file as `torch.save` wrote it before version 1.6.

    Returns
    -------
    dict of str to ndarray

    Examples
    --------
    >>> read_tensors(b"something else")
    Traceback (most recent call last):
    newfound.InputError: not a torch file in the old format
    """
    file = io.BytesIO(data)
    try:
        if (_Reader(file).load(), _Reader(file).load()) != (_MAGIC, _PROTOCOL):
            raise InputError("another magic number")
        _Reader(file).load()  # sizes of types on the machine that wrote it
        tensors, keys = _Reader(file).load(), _Reader(file).load()
    except Exception as error:
        raise InputError("not a torch file in the old format") from error
    dtypes = dict(tensor.storage for tensor in tensors.values())
    storages = {}
    for key in keys:
        size = int.from_bytes(file.read(8), "little")
        storages[key] = np.frombuffer(file.read(size * dtypes[key].itemsize), dtype=dtypes[key])
    return {name: _array(tensor, storages[tensor.storage[0]]) for name, tensor in tensors.items()}


def _array(tensor: _Tensor, storage: NDArray[Any]) -> NDArray[Any]:
    # By index, which is checked, and not by strides, which are not.
    steps = zip(np.ix_(*map(np.arange, tensor.shape)), tensor.strides, strict=True)
    indices = sum((along * step for along, step in steps), np.intp(tensor.offset))
    return storage[indices]
