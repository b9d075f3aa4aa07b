"""Pages of the reference, one for each public name, made from what the package shows.

A name that is added to `newfound.__all__` has its page at the next build.
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from website.names import class_members, is_exception, is_method, is_property, module_names, shown

INDEX = """\
Reference
=========

Everything that ``import newfound`` brings, from the docstrings. The examples in them are run by the
tests. What the commands take is on :doc:`commands`; a model on the disk is described in
:doc:`/model-file`.

.. py:data:: newfound.__version__
   :type: str

   The version of the package.

"""


def reference_pages(package: ModuleType) -> dict[str, str]:
    """Return the pages of the reference, in reStructuredText, by name.

    Parameters
    ----------
    package : module

    Returns
    -------
    pages : dict of str to str

    Examples
    --------
    >>> import newfound
    >>> pages = reference_pages(newfound)
    >>> print(pages["load"][:37])
    load
    ====
    <BLANKLINE>
    .. autofunction:: newfound
    """
    things = {name: thing for name, thing in shown(package).items() if name[0] != "_"}
    errors = [name for name, thing in things.items() if is_exception(thing)]
    pages = {
        name: _page(f"{package.__name__}.{name}", thing)
        for name, thing in things.items()
        if name not in errors
    }
    pages["errors"] = _titled("Errors") + "".join(
        f".. autoexception:: {package.__name__}.{name}\n   :show-inheritance:\n\n"
        for name in errors
    )
    kinds: dict[str, Callable[[Any], bool]] = {
        "Classes": inspect.isclass,
        "Functions": inspect.isfunction,
        "Modules": inspect.ismodule,
    }
    index = INDEX
    for caption, is_kind in kinds.items():
        listed = [name for name in pages if name in things and is_kind(things[name])]
        index += _contents(caption, listed)
    pages["index"] = index + _contents("More", ["errors", "commands"])
    return pages


def write_pages(folder: Path, pages: dict[str, str]) -> None:
    """Write pages into a folder. Those that are there already as they are stay untouched.

    Parameters
    ----------
    folder : Path
        Made if it is not there; pages of names that are gone are removed from it.
    pages : dict of str to str
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.rst"):
        if path.stem not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text() != text:  # Sphinx goes by the time of a file
            path.write_text(text)


def _titled(title: str, line: str = "=") -> str:
    return f"{title}\n{line * len(title)}\n\n"


def _contents(caption: str, names: list[str]) -> str:
    lines = "".join(f"   {name}\n" for name in names)
    return f".. toctree::\n   :caption: {caption}\n   :maxdepth: 1\n\n{lines}\n"


def _page(name: str, thing: Any) -> str:
    title = _titled(name.partition(".")[2])
    if not inspect.ismodule(thing):
        return title + _entry(name, thing)
    listed = {f"{name}.{each}": getattr(thing, each) for each in module_names(thing)}
    entries = "".join(_entry(each, value) for each, value in listed.items())
    return f"{title}.. automodule:: {name}\n\n{_summary(list(listed), name)}{entries}"


def _entry(name: str, thing: Any) -> str:
    if not inspect.isclass(thing):
        return f".. autofunction:: {name}\n\n{_examples(name)}"
    methods = [f"{name}.{each}" for each in class_members(thing, is_method)]
    properties = [
        f"{name}.{each}"
        for each in class_members(thing, is_property)
        if inspect.getattr_static(thing, each).__doc__
    ]
    members = "".join(
        [f".. autoproperty:: {each}\n\n" for each in properties]
        + [f".. automethod:: {each}\n\n" for each in methods]
    )
    summary = _summary(methods, name.rpartition(".")[0])
    return f".. autoclass:: {name}\n\n{summary}{members}{_examples(name)}"


def _summary(names: list[str], module: str) -> str:
    """Return a table of names of a module, with the first sentence of each."""
    if len(names) < 2:
        return ""
    lines = "".join(f"   ~{name.removeprefix(f'{module}.')}\n" for name in names)
    return f".. currentmodule:: {module}\n\n.. autosummary::\n   :nosignatures:\n\n{lines}\n"


def _examples(name: str) -> str:
    """Return pictures of the gallery's examples that use a name, if there are any."""
    return f".. minigallery:: {name}\n   :add-heading: In the gallery\n\n"
