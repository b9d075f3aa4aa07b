"""Who has no Dask, or does not use it, notices nothing of it."""

import subprocess
import sys

import pytest

# Lets nobody import Dask, and then does what it is told.
BLOCKED = """
import sys
sys.modules.update(dict.fromkeys(("dask", "distributed"), None))
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
X, y = [[0.0, 1.0], [1.0, 0.0], [0.9, 0.1]], ["cup", "mug", "mug"]
"""
USED = """
import sys
from newfound import IncrementalRidgeClassifier
model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
model.predict([[0.4]]), model.score([[0.4]], ["cup"])
print(sorted({"dask", "distributed", "pandas"} & sys.modules.keys()))
"""


def said(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow
def test_without_dask_everything_else_works() -> None:
    code = """
for kind in (IncrementalRidgeClassifier, IncrementalRidgeClassifierCV):
    model = kind().fit(X, y).partial_fit(X, y).store(X, y)
    print(model.predict(X).tolist(), model.score(X, y), model.n_samples_seen_)
"""
    assert said(BLOCKED + code).splitlines() == ["['cup', 'mug', 'mug'] 1.0 9"] * 2


@pytest.mark.slow
def test_what_needs_dask_says_how_to_get_it() -> None:
    code = """
from newfound.distributed.collections import cut_rows
try:
    cut_rows(X)
except ModuleNotFoundError as error:
    print(error)
"""
    assert "pip install 'newfound[dask]'" in said(BLOCKED + code)


@pytest.mark.slow
def test_learning_rows_in_memory_imports_no_dask() -> None:
    found = said(USED)
    assert "dask" not in found
    assert "distributed" not in found.replace("newfound.distributed", "")
