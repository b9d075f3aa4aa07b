"""Files with a valid checksum over what no model has are refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from newfound import (
    IncrementalRidge,
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    ModelFileError,
)
from tests.crafted import craft, put_together, taken_apart

X = np.random.default_rng(0).normal(size=(200, 10))
Y = np.array(list("abcd") * 50)


CRAFTED: list[Any] = [
    ({"labels": ["a", "a", "c", "d"]}, {}),
    ({"label_type": "|O"}, {}),
    ({"labels": ["aa", "ab", "c", "d"], "label_type": "<U1"}, {}),
    ({"labels": [1.5, 2, 3, 4], "label_type": "<f8"}, {}),
    ({"dtype": "<i4"}, {}),
    ({"feature_names": ["too few"]}, {}),
    ({"parameters": {}}, {}),
    (
        {"parameters": {"penalty": -1, "recoding": 0, "class_weight": None, "fit_intercept": True}},
        {},
    ),
    ({"per_class": True}, {}),
    ({"estimator": 3}, {}),
    ({"format": 0.5}, {}),
    ({"per_class": "no"}, {}),
    ({"dtype": None}, {}),
    ({"feature_names": "abcdefghij"}, {}),
    ({}, {"counts": np.zeros(4, dtype=np.int64)}),
    ({}, {"gram": np.full((1, 55), -1.0)}),
    ({}, {"counts": np.array([-1, 50, 50, 50])}),
    ({}, {"counts": np.array([50.5, 50, 50, 50])}),
    ({}, {"counts": np.array([50, 50])}),
    ({}, {"cross": np.full((4, 10), np.nan)}),
    ({}, {"cross": np.zeros((4, 10), dtype=np.int64)}),
    ({}, {"gram": np.zeros((0, 55))}),
    ({}, {"gram": np.zeros((2, 55))}),
    ({}, {"gram": np.zeros((1, 54))}),
    ({}, {"rows": np.zeros((3, 10))}),
    ({}, {"rows_of_gram": np.array([-1])}),
    ({}, {"gram_is_flushed": np.array([False])}),
]


@pytest.mark.parametrize(("header", "tensors"), CRAFTED)
def test_a_file_that_contradicts_itself_is_refused(
    header: dict[str, Any], tensors: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "crafted"
    IncrementalRidgeClassifier().fit(X, Y).save(path)
    good_header, good_tensors = taken_apart(path)
    put_together(path, good_header, good_tensors)
    assert newfound.load(path).n_samples_seen_ == 200
    put_together(path, good_header | header, good_tensors | tensors)
    with pytest.raises(ModelFileError, match="crafted: "):
        newfound.load(path)


def test_nested_nonsense_is_refused(tmp_path: Path) -> None:
    body = b"[" * 200_000
    (tmp_path / "deep").write_bytes(len(body).to_bytes(8, "little") + body)
    with pytest.raises(ModelFileError, match="not a model file"):
        newfound.load(tmp_path / "deep")


EVIL: list[dict[str, Any]] = [
    {"gram": lambda gram: np.full_like(gram, 1.7e308)},
    {"cross": lambda cross: np.full_like(cross, 1.2e308)},
    {"counts": lambda counts: np.full_like(counts, 2**62)},
    {"counts": lambda counts: np.full_like(counts, 2**53)},
    {"gram_flushes": lambda flushes: flushes - 7},
    {"gram_flushes": lambda flushes: flushes * 0 + 2**62},
    {"gram": lambda gram: gram * np.where(np.arange(10) == 1, 1e6, 1)},  # not positive definite
    {"gram": lambda gram: gram * np.where(np.arange(10) == 1, -1e4, 1)},
    {"gram": lambda gram: -gram},
    {"gram": np.zeros_like},
    {"cross": lambda cross: 0 * cross + 1e4},  # n mean mean' beyond X'X
    {"gram_residue": lambda residue: residue + 1.0},
    {"cross_residue": lambda residue: residue + 1.0},
    {"gram_peak": lambda peak: peak - 1.0},
    {"gram_peak": lambda peak: peak * np.nan},
    {"counts": lambda counts: counts * [0, 1, 1]},
]


@pytest.mark.parametrize("class_weight", [None, {}])
@pytest.mark.parametrize("tensors", EVIL)
def test_sums_that_no_teaching_leads_to_are_refused(
    tensors: dict[str, Any], class_weight: Any, tmp_path: Path
) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight)
    model.fit(np.random.default_rng(0).normal(size=(180, 4)), list("abc") * 60)
    craft(model, tmp_path / "evil", tensors=tensors)
    with pytest.raises(ModelFileError, match=r"evil: damaged: its .* do not fit together"):
        newfound.load(tmp_path / "evil")


def test_more_than_a_model_can_have_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    """Each of these takes little room in a file, and the product of them much in memory."""
    rng, path = np.random.default_rng(0), tmp_path / "evil"
    X = rng.normal(size=(10_001, 1))
    model = IncrementalRidge("auto", witnesses=10_000).fit(X, X[:, 0])
    craft(model, path, {"parameters": {"penalty": [1.0 + k for k in range(1001)]}})
    with pytest.raises(ModelFileError, match=r"evil: .*more candidates than the 1000"):
        newfound.load(path)
    again = [0, *range(10_000)]
    copied = {f"witnesses.{name}": lambda a: a[again] for name in ("rows", "class", "keys")}
    craft(model, path, tensors=copied)
    with pytest.raises(ModelFileError, match=r"evil: .*witnesses do not fit together"):
        newfound.load(path)
    choice = IncrementalRidgeClassifierCV().fit(X[:200], list("ab") * 100)
    tables = ("accuracy", "rare_accuracy")
    repeated = {f"selection.{name}": lambda a: a[[0] * 7] for name in (*tables, "recodings")}
    craft(choice, path, tensors={**repeated, "selection.counts": lambda _: np.arange(1.0, 8.0)})
    with pytest.raises(ModelFileError, match=r"evil: .*selection's numbers do not fit together"):
        newfound.load(path)
    tried = {f"selection.{name}": lambda a: a[:, [0] * 1001] for name in tables}
    tried["selection.penalties"] = lambda a: np.r_[a, a[-1] * np.linspace(2, 3, 1001 - len(a))]
    craft(choice, path, tensors=tried)
    with pytest.raises(ModelFileError, match=r"evil: .*selection's numbers do not fit together"):
        newfound.load(path)


def no_features(tensor: Any) -> Any:
    return tensor[..., :0]


@pytest.mark.parametrize(
    ("header", "tensors", "message"),
    [
        (
            {},
            dict.fromkeys(("cross", "cross_residue", "gram", "gram_residue", "rows"), no_features),
            "sums do not fit",
        ),
        (
            {
                "extractor": {
                    "name": "a",
                    "weights": "",
                    "output": "",
                    "preprocessing": {"size": int("9" * 400)},
                }
            },
            {},
            "damaged",
        ),
        ({"parameters": {"penalties": [1.0 + k for k in range(20_000)]}}, {}, "more candidates"),
        ({"parameters": {"recodings": [k / 2000 for k in range(1001)]}}, {}, "more candidates"),
        ({"parameters": {"witnesses": 10_001}}, {}, "witnesses must be a whole number from 2 to"),
        ({"estimator": ["IncrementalRidgeClassifier"]}, {}, "types do not fit"),
        ({"labels": [True, False, 2], "label_type": "<i8"}, {}, "labels do not fit"),
        ({"label_type": "|O"}, {}, "labels do not fit"),
        ({"parameters": None}, {}, "not a model's"),
    ],
)
def test_headers_that_no_model_has_are_refused(
    header: dict[str, Any], tensors: dict[str, Any], message: str, tmp_path: Path
) -> None:
    model = IncrementalRidgeClassifierCV().fit(
        np.random.default_rng(0).normal(size=(180, 4)), list("abc") * 60
    )
    craft(model, tmp_path / "evil", header=header, tensors=tensors)
    with pytest.raises(ModelFileError, match=f"evil: .*{message}"):
        newfound.load(tmp_path / "evil")


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_what_was_learned_on_top_of_nonsense_is_written_only_if_it_can_be_read_again(
    value: float, tmp_path: Path
) -> None:
    """Rows that are held times roots of weights do not show that they are not those of the sums."""
    y, weights = X @ np.arange(10.0), np.linspace(0.2, 3, 200)
    path, saved = tmp_path / "evil", tmp_path / "saved"
    craft(
        IncrementalRidge().fit(X[:2], y[:2], weights[:2]),
        path,
        tensors={"rows": lambda rows: np.full_like(rows, value)},
    )
    saved.write_bytes(b"as it was")
    try:
        newfound.load(path).partial_fit(X[:6], y[:6], weights[:6]).save(saved)
    except newfound.InputError:
        assert saved.read_bytes() == b"as it was"
    else:
        newfound.load(saved)


def test_weights_below_any_that_can_be_taught_are_refused(tmp_path: Path) -> None:
    model = IncrementalRidge().fit(X[:2], X[:2, 0], [0.5, 2.0])
    craft(model, tmp_path / "evil", tensors={"weight_sums": lambda sums: 0 * sums + 1e-320})
    with pytest.raises(ModelFileError, match=r"evil: damaged: its weights do not fit together"):
        newfound.load(tmp_path / "evil")
