"""What the package shows: names, examples, promises about imports."""

import inspect
import subprocess
import sys

import pytest

import newfound
from newfound import IncrementalRidgeClassifier


def test_all_names_are_there_and_no_others() -> None:
    assert set(newfound.__all__) <= set(dir(newfound))
    for name in newfound.__all__:
        assert getattr(newfound, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        newfound.nonsense  # noqa: B018


def test_the_signature_is_the_one_promised() -> None:
    parameters = inspect.signature(IncrementalRidgeClassifier).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        "penalty": 1.0,
        "recoding": 0.7,
        "class_weight": None,
        "fit_intercept": True,
    }


def test_every_public_method_has_an_example() -> None:
    for name, method in inspect.getmembers(IncrementalRidgeClassifier, inspect.isfunction):
        # scikit-learn adds methods of its own, such as set_partial_fit_request.
        if method.__module__ == IncrementalRidgeClassifier.__module__ and name[0] != "_":
            assert ">>>" in (method.__doc__ or ""), f"{name} has no example"


def test_importing_the_package_imports_nothing_slow() -> None:
    script = "import sys, newfound; print({'numpy', 'scipy', 'sklearn'} & set(sys.modules) or '')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
