"""BLAS and LAPACK on parts of matrices: in place, and without the interpreter's lock.

scipy's own wrappers copy what is not contiguous, so they cannot change a block of a matrix, and
hold the interpreter's lock, so two threads cannot use two cores. These here call the same routines,
by the addresses that `scipy.linalg.cython_blas` and `cython_lapack` publish for compiled code.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas, cython_lapack

from newfound.common.threads import one_thread

one_thread.find_libraries()  # which scipy.linalg has loaded by now

# A part of a matrix: float64 or float32; neighbours in a column (or, where it is only read, in a
# row) are neighbours in memory.
Part = NDArray[np.floating]

_KINDS = {np.dtype(np.float64): ("d", ctypes.c_double), np.dtype(np.float32): ("s", ctypes.c_float)}


class _Routine:
    """A routine of BLAS or LAPACK in both precisions; all it takes are addresses."""

    def __init__(self, module: Any, name: str) -> None:
        self._kinds = {
            dtype: (_function(module, letter + name), number)
            for dtype, (letter, number) in _KINDS.items()
        }

    def __call__(self, dtype: np.dtype[Any], *arguments: Any) -> None:
        """Call it with letters, whole numbers, numbers and arrays."""
        function, number = self._kinds[dtype]
        passed = []
        for argument in arguments:
            kind = type(argument)
            if kind is int:
                passed.append(ctypes.byref(ctypes.c_int(argument)))
            elif kind is float:
                passed.append(ctypes.byref(number(argument)))
            elif isinstance(argument, np.ndarray):
                if argument.dtype != dtype:
                    types = f"{dtype} and {argument.dtype}"
                    raise TypeError(f"BLAS takes arrays of one type, got {types}")
                passed.append(argument.__array_interface__["data"][0])
            else:
                passed.append(argument)
        function(*passed)


def _function(module: Any, name: str) -> Callable[..., None]:
    api = ctypes.pythonapi
    name_of, pointer_of = api.PyCapsule_GetName, api.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
    capsule = module.__pyx_capi__[name]
    signature = name_of(capsule)
    addresses = [ctypes.c_void_p] * (signature.count(b",") + 1)
    return ctypes.CFUNCTYPE(None, *addresses)(pointer_of(capsule, signature))


_gemm, _syrk, _trsm = (_Routine(cython_blas, name) for name in ("gemm", "syrk", "trsm"))
_potrf = _Routine(cython_lapack, "potrf")


def _column_step(part: Part) -> int:
    """Return how far apart in memory the columns of a part are that is written to."""
    (height, width), (down, across), size = part.shape, part.strides, part.itemsize
    # A mistake here would be written somewhere into memory.
    if (
        not part.flags.writeable
        or (height > 1 and down != size)
        or (width > 1 and across < height * size)
    ):
        raise ValueError("this part of a matrix cannot be written to by BLAS")
    return int(max(across // size if width > 1 else 1, height, 1))


def _as_read(part: Part) -> tuple[bytes, int]:
    """Return whether a part is to be read as a transpose, and how far apart its columns are."""
    for kind, ((height, width), (down, across)) in (
        (b"N", (part.shape, part.strides)),
        (b"T", (part.shape[::-1], part.strides[::-1])),
    ):
        is_dense = height < 2 or down == part.itemsize
        if is_dense and (width < 2 or across >= height * part.itemsize):
            return kind, int(max(across // part.itemsize if width > 1 else 1, height, 1))
    raise ValueError("this part of a matrix cannot be read by BLAS")


def add_product(target: Part, left: Part, right: Part, scale: float) -> None:
    """Overwrite `target` (m, n) with `target + scale left @ right`.

    Parameters
    ----------
    target : ndarray of shape (m, n)
        Of Fortran order, or part of one that is.
    left, right : ndarrays of shape (m, k) and (k, n)
    scale : float

    Examples
    --------
    >>> matrix = np.zeros((3, 3), order="F")
    >>> add_product(matrix[1:, :1], np.array([[1.0], [2.0]]), np.array([[3.0]]), -1.0)
    >>> matrix.tolist()
    [[0.0, 0.0, 0.0], [-3.0, 0.0, 0.0], [-6.0, 0.0, 0.0]]
    """
    (m, n), k = target.shape, left.shape[1]
    if left.shape != (m, k) or right.shape != (k, n):
        raise ValueError(f"{left.shape} times {right.shape} is not {target.shape}")
    if not (m and n and k):
        return
    (trans_left, step_left), (trans_right, step_right) = _as_read(left), _as_read(right)
    sizes = (m, n, k, float(scale), left, step_left, right, step_right)
    of_target = (1.0, target, _column_step(target))
    _gemm(target.dtype, trans_left, trans_right, *sizes, *of_target)


def add_square(target: Part, rows: Part, scale: float, *, lower: bool) -> None:
    """Overwrite one triangle of `target` (n, n) with `target + scale rows' rows`.

    Examples
    --------
    >>> matrix = np.zeros((2, 2), order="F")
    >>> add_square(matrix, np.array([[1.0, 2.0]]), 1.0, lower=True)
    >>> matrix.tolist()
    [[1.0, 0.0], [2.0, 4.0]]
    """
    k, n = rows.shape
    if target.shape != (n, n):
        raise ValueError(f"the squares of {rows.shape} are not {target.shape}")
    if not (k and n):
        return
    trans, step = _as_read(rows)
    kind = (b"L" if lower else b"U", b"T" if trans == b"N" else b"N")
    sizes = (n, k, float(scale), rows, step, 1.0, target, _column_step(target))
    _syrk(target.dtype, *kind, *sizes)


def solve_lower(
    factor: Part, columns: Part, *, transposed: bool = False, from_right: bool = False
) -> None:
    """Overwrite `columns` with L^-1 columns, where L is the lower triangle of `factor`.

    Or with L^-T columns if `transposed`, or with columns L^-1 (or L^-T) if `from_right`.

    Examples
    --------
    >>> columns = np.array([[2.0], [6.0]], order="F")
    >>> solve_lower(np.array([[2.0, 0.0], [1.0, 5.0]], order="F"), columns)
    >>> columns.tolist()
    [[1.0], [1.0]]
    """
    m, n = columns.shape
    if not (m and n):
        return
    kind = (b"R" if from_right else b"L", b"L", b"T" if transposed else b"N", b"N")
    of_factor = (1.0, factor, _column_step(factor))
    _trsm(columns.dtype, *kind, m, n, *of_factor, columns, _column_step(columns))


def factorise_block(block: Part) -> bool:
    """Overwrite the lower triangle of `block` with its Cholesky factor; False if it has none.

    Examples
    --------
    >>> block = np.array([[4.0, 0.0], [2.0, 2.0]], order="F")
    >>> factorise_block(block), block.tolist()
    (True, [[2.0, 0.0], [1.0, 1.0]])
    """
    failed = ctypes.c_int(0)
    _potrf(block.dtype, b"L", len(block), block, _column_step(block), ctypes.byref(failed))
    return failed.value == 0
