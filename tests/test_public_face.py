"""What the package shows: names, examples, promises about imports."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import newfound
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, Recogniser

ROOT = Path(__file__).parent.parent
ESTIMATORS = (IncrementalRidgeClassifier, IncrementalRidgeClassifierCV)
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
        "IncrementalRidgeClassifier",
        "IncrementalRidgeClassifierCV",
        "InvalidInputError",
        "MissingDataError",
        "ModelFileError",
        "NewfoundError",
        "NotTaughtError",
        "Recogniser",
        "UnreadableImageError",
        "WrongExtractorError",
        "__version__",
        "datasets",
        "features",
        "load",
    }
    assert dir(newfound) == sorted(newfound.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        newfound.nonsense  # noqa: B018


def test_what_pages_speak_of_is_among_the_names() -> None:
    assert {"load", "features", "IncrementalRidgeClassifierCV"} <= documented()
    assert documented() <= set(newfound.__all__)


@pytest.mark.parametrize("name", newfound.__all__)
def test_each_name_is_there_once_the_package_is_imported(name: str) -> None:
    program = f"import newfound; newfound.{name}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_signature_is_the_one_promised() -> None:
    parameters = inspect.signature(IncrementalRidgeClassifier).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        "penalty": 1.0,
        "recoding": 0.7,
        "class_weight": None,
        "fit_intercept": True,
    }


@pytest.mark.parametrize("kind", [*ESTIMATORS, Recogniser])
def test_every_public_method_has_an_example(kind: Any) -> None:
    methods = {
        name: method
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        # scikit-learn adds methods of its own, such as set_partial_fit_request.
        if method.__module__.startswith("newfound.") and name[0] != "_"
    }
    assert {"forget", "merge", "save"} <= methods.keys()
    for name, method in methods.items():
        assert ">>>" in (method.__doc__ or ""), f"{name} has no example"


def test_importing_the_package_imports_nothing_slow() -> None:
    script = "import sys, newfound; print({'numpy', 'scipy', 'sklearn'} & set(sys.modules) or '')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
