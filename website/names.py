"""The public names of the package, which the reference must show: all of them, and no others."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

PACKAGE = "newfound"
# Modules that need an extra, and so are not among the names that the package brings by itself.
OF_EXTRAS = ("river",)


def shown(package: ModuleType) -> dict[str, Any]:
    """Return all that a package shows, by name: its `__all__`, and its modules that need an extra.

    Parameters
    ----------
    package : module

    Returns
    -------
    things : dict of str to object

    Examples
    --------
    >>> import newfound
    >>> {"load", "sums", "river"} <= set(shown(newfound))
    True
    """
    things = {name: getattr(package, name) for name in package.__all__}
    modules = {name: import_module(f"{package.__name__}.{name}") for name in OF_EXTRAS}
    return things | modules


def module_names(module: ModuleType) -> list[str]:
    """Return the names that a module shows: its `__all__`, or what it defines itself.

    Parameters
    ----------
    module : module

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> from newfound import checks, sums
    >>> module_names(sums)
    ['Sums']
    >>> "check_model" in module_names(checks), "Any" in module_names(checks)
    (True, False)
    """
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    return [
        name
        for name, value in vars(module).items()
        if name[0] != "_" and getattr(value, "__module__", None) == module.__name__
    ]


def class_members(kind: type, is_wanted: Any) -> list[str]:
    """Return the names of a class's public members of one sort that are the package's own.

    Parameters
    ----------
    kind : type
    is_wanted : callable
        From a member, as it stands in the class, to whether it is of the sort.

    Returns
    -------
    names : list of str
        Those of scikit-learn's base classes are left out: its own pages describe them.

    Examples
    --------
    >>> from newfound.sums import Sums
    >>> "merge" in class_members(Sums, inspect.isfunction)
    True
    """
    found = []
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        owner = (
            next(each for each in kind.__mro__ if name in vars(each)) if name[0] != "_" else None
        )
        if owner is not None and owner.__module__.startswith(PACKAGE) and is_wanted(member):
            found.append(name)
    return found


def is_method(member: Any) -> bool:
    """Return whether a member of a class is called: a function, or one of the class."""
    return inspect.isfunction(member) or isinstance(member, classmethod | staticmethod)


def is_property(member: Any) -> bool:
    """Return whether a member of a class is read."""
    return isinstance(member, property)


def is_exception(thing: Any) -> bool:
    """Return whether a thing can be raised."""
    return inspect.isclass(thing) and issubclass(thing, Exception)


def public_names(package: ModuleType) -> Iterator[str]:
    """Yield every public name, in full: of the package, its modules, and their classes' methods.

    Parameters
    ----------
    package : module

    Yields
    ------
    name : str

    Examples
    --------
    >>> import newfound
    >>> names = list(public_names(newfound))
    >>> {"newfound.load", "newfound.sums.Sums.merge", "newfound.Recogniser.teach"} <= set(names)
    True
    """
    for name, thing in shown(package).items():
        yield f"{package.__name__}.{name}"
        inner = module_names(thing) if inspect.ismodule(thing) else []
        yield from (f"{package.__name__}.{name}.{each}" for each in inner)
        for kind, of in [(thing, name), *((getattr(thing, n), f"{name}.{n}") for n in inner)]:
            if inspect.isclass(kind) and not is_exception(kind):
                members = class_members(kind, is_method)
                yield from (f"{package.__name__}.{of}.{each}" for each in members)
