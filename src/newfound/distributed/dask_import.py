"""Dask, imported where it is used: whoever uses none of it need not have it."""

from typing import Any

from newfound.common.extras import imported_from


def import_dask() -> Any:
    """Return the module dask, with what of it is used here; whoever lacks it is told how to get it.

    Examples
    --------
    >>> import_dask().array.ones(2).compute()
    array([1., 1.])
    """
    with imported_from("dask"):
        import dask.array
        import dask.highlevelgraph
        import dask.utils
    return dask


def itself(thing: Any) -> Any:
    """Return what is given, as a task does."""
    return thing
