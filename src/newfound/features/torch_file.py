"""Tensors of a torch file in its old format, read without torch and without running its code."""

import collections
import io
import pickle
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError

_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
_TYPES = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


class _Tensor(NamedTuple):
    storage: str
    dtype: np.dtype[Any]
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _tensor(
    storage: tuple[str, np.dtype[Any]], offset: int, shape: Any, strides: Any, *_: Any
) -> _Tensor:
    return _Tensor(*storage, offset, shape, strides)


class _Reader(pickle.Unpickler):
    """Knows ordered dicts, tensors and storages, and nothing else that a pickle may ask for."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if module == "torch" and name in _TYPES:
            return _TYPES[name]
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a file of weights")

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
    dtypes = {tensor.storage: tensor.dtype for tensor in tensors.values()}
    storages = {}
    for key in keys:
        size = int.from_bytes(file.read(8), "little")
        storages[key] = np.frombuffer(file.read(size * dtypes[key].itemsize), dtype=dtypes[key])
    return {name: _array(tensor, storages[tensor.storage]) for name, tensor in tensors.items()}


def _array(tensor: _Tensor, storage: NDArray[Any]) -> NDArray[Any]:
    # By index, which is checked, and not by strides, which are not.
    steps = zip(np.ix_(*map(np.arange, tensor.shape)), tensor.strides, strict=True)
    indices = sum((along * step for along, step in steps), np.intp(tensor.offset))
    return storage[indices]
