"""What the package shows: names, examples, promises about imports."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import newfound
from newfound import IncrementalRidgeClassifier

ROOT = Path(__file__).parent.parent
# Rooms that need an extra: `from newfound import *` must work without.
OF_AN_EXTRA = {"river", "robot"}
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]


def documented() -> set[str]:
    """Return the names of the package that pages speak of."""
    text = "".join(page.read_text() for page in PAGES)
    imported = re.findall(r"from newfound import ([A-Za-z, ]+)", text)
    # A name with a dot before and a name behind it; `kitchen.newfound` is a file.
    named = re.findall(r"(?<![\w./-])newfound\.([a-z_]+)", text)
    return {name for line in imported for name in re.split(r",\s*", line)} | set(named)


def test_the_names_are_those_promised_and_no_others() -> None:
    assert set(newfound.__all__) == {
        "IncrementalClassifier",
        "IncrementalRidge",
        "IncrementalRidgeClassifier",
        "IncrementalRidgeClassifierCV",
        "InputError",
        "Layer",
        "MissingDataError",
        "ModelFileError",
        "NewfoundError",
        "NotTaughtError",
        "Projection",
        "Recogniser",
        "UnreadableImageError",
        "WrongExtractorError",
        "__version__",
        "checks",
        "datasets",
        "features",
        "load",
        "partial_fit",
        "sums",
    }
    assert dir(newfound) == sorted(newfound.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        newfound.nonsense  # noqa: B018


def test_what_pages_speak_of_is_among_the_names() -> None:
    assert {"load", "features", "IncrementalRidgeClassifierCV"} <= documented()
    assert documented() <= set(newfound.__all__) | OF_AN_EXTRA


# What others take long to import is there already; of newfound's own modules, none is.
EACH_ALONE = """
import os, sys
import PIL.Image, scipy.linalg, sklearn.pipeline
import newfound
assert not [name for name in sys.modules if name.startswith("newfound.") and "common" not in name]
for name in newfound.__all__:
    if not (child := os.fork()):
        getattr(newfound, name)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_each_name_is_there_once_the_package_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", EACH_ALONE], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_the_signature_is_the_one_promised() -> None:
    parameters = inspect.signature(IncrementalRidgeClassifier).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        "penalty": 1.0,
        "recoding": 0.7,
        "class_weight": None,
        "fit_intercept": True,
        "layer": None,
    }


def public() -> dict[str, Any]:
    """Return the classes and functions that the package shows, and the methods of the classes."""
    found: dict[str, Any] = {}
    for name in newfound.__all__:
        thing = getattr(newfound, name)
        if inspect.isfunction(thing):
            found[name] = thing
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            found[name] = thing
            for method, function in inspect.getmembers(thing, inspect.isroutine):
                # scikit-learn adds methods of its own, such as set_partial_fit_request.
                home = getattr(function, "__module__", None) or ""
                if home.startswith("newfound.") and method[0] != "_":
                    found[f"{name}.{method}"] = function
    return found


def test_all_that_is_public_is_looked_at() -> None:
    expected = {"load", "IncrementalRidgeClassifier", "IncrementalRidgeClassifierCV.reconsider"}
    for kind in ("IncrementalRidgeClassifier", "IncrementalRidgeClassifierCV"):
        names = ("fit", "partial_fit", "forget", "merge", "predict", "novelty", "save")
        expected |= {f"{kind}.{name}" for name in names}
    assert expected <= public().keys()


def test_everything_public_has_an_example() -> None:
    assert [name for name, thing in public().items() if ">>>" not in (thing.__doc__ or "")] == []


def test_everything_public_says_what_it_takes_returns_and_refuses() -> None:
    for name, thing in public().items():
        assert_says_all(name, thing)


def assert_says_all(name: str, thing: Any) -> None:
    text = inspect.cleandoc(thing.__doc__ or "")
    signature = inspect.signature(thing)
    taken = [each.lstrip("*") for each in signature.parameters if each not in ("self", "cls")]
    lacking = {
        section
        for section, due in {
            "Parameters": bool(taken),
            "Returns": not inspect.isclass(thing) and signature.return_annotation is not None,
            "Raises": not inspect.isclass(thing) and bool(taken),
        }.items()
        if due and f"{section}\n{'-' * len(section)}\n" not in text
    }
    assert not lacking, f"{name} has no {', '.join(sorted(lacking))}"
    unsaid = [each for each in taken if not re.search(rf"^\W*(\w+, )*{each}\b.* : ", text, re.M)]
    assert not unsaid, f"{name} says nothing about {', '.join(unsaid)}"


def test_importing_the_package_imports_nothing_slow() -> None:
    script = "import sys, newfound; print({'numpy', 'scipy', 'sklearn'} & set(sys.modules) or '')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
