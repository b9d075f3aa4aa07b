"""The extras: what is installed only if asked for. Whoever lacks one is told how to get it."""

from collections.abc import Iterator
from contextlib import contextmanager

# What each extra is for.
_NEEDED_FOR = {
    "vision": "images",
    "plots": "figures",
    "dask": "clusters and addresses",
    "torch": "arrays of a device",
    "studio": "services",
    "video": "videos",
    "robot": "recordings and topics",
    "river": "models of river",
}


def missing(package: str, extra: str) -> ModuleNotFoundError:
    """Return an error that says how to get a package of an extra.

    Examples
    --------
    >>> print(missing("PIL", "vision"))
    images need 'PIL' of the extra vision: pip install 'newfound[vision]', or in a clone
    pip install '.[vision]'
    """
    return ModuleNotFoundError(
        f"{_NEEDED_FOR[extra]} need {package!r} of the extra {extra}: "
        f"pip install 'newfound[{extra}]', or in a clone pip install '.[{extra}]'",
        name=package,
    )


@contextmanager
def imported_from(extra: str) -> Iterator[None]:
    """Wrap imports from an extra: where a package is missing, say how to get it.

    Examples
    --------
    >>> with imported_from("plots"):
    ...     import no_such_painter
    Traceback (most recent call last):
    ModuleNotFoundError: figures need 'no_such_painter' of the extra plots: pip install ...
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing((error.name or "").partition(".")[0], extra) from error
