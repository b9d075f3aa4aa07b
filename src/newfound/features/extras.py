"""What the extra `vision` brings, imported where it is needed."""

from importlib import import_module
from typing import Any


def missing(package: str) -> ModuleNotFoundError:
    """Return an error that says how to get a package of the extra `vision`."""
    return ModuleNotFoundError(
        f"images need {package!r}: pip install 'newfound[vision]'", name=package
    )


def vision(module: str) -> Any:
    """Return a module of the extra `vision`, or say how to get it.

    >>> vision("no_such_network")
    Traceback (most recent call last):
    ModuleNotFoundError: images need 'no_such_network': pip install 'newfound[vision]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing(module.partition(".")[0]) from error
