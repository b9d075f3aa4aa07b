"""Thousands of model files with something wrong: refused in words, or good enough to go on with."""

import copy
import random
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, ModelFileError
from newfound.features.identity import Identity
from newfound.recognition.recogniser import Recogniser
from tests.crafted import put_together, taken_apart
from tests.effort import seed, share_of

WIDTH, CASES = 3, share_of(450)
# What stands in a header instead of what should.
JUNK: list[Any] = [
    None, True, False, 0, -1, 1, 7, 2**31, 2**53, 2**63, 10**400, -(10**20), 0.5, 1e-320, 1e308,
    float("nan"), float("inf"), "", "x", "auto", "balanced", "<U1", "<U999999999", "<i8", "|O",
    "\ud800", "\0", "a" * 2000, [], {}, [[]], [None], [1, 2], ["a", "b", "c"], {"a": 1},
    [["a", 1e100], ["b", 1e-100]], [float("inf")] * 3, list(range(2000)),
]  # fmt: skip
NUMBERS = [
    np.nan, np.inf, -np.inf, 0.0, -1.0, 1.0, 2.0, 1e-320, 1e-160, 1e8, 1e16, 1e80, 1e149, 1e200,
    1e299, 1.7e308, 2.0**31, 2.0**53, 2.0**62,
]  # fmt: skip
TYPES = [np.float32, np.float64, np.float16, np.int64, np.int32, np.uint8, np.bool_]


def rows(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, WIDTH)) + 1.0


def plain() -> IncrementalRidgeClassifier:
    model = IncrementalRidgeClassifier().fit(rows(60), list("abc") * 20)
    return model.forget(rows(60)[:3], list("abc"))


def unfolded() -> IncrementalRidgeClassifier:
    return IncrementalRidgeClassifier().fit(rows(7), [3, 1, 2, 3, 1, 2, 3])


def per_class() -> IncrementalRidgeClassifier:
    model = IncrementalRidgeClassifier(class_weight={"a": 2.0})
    return model.fit(rows(60), list("aaab") * 15).partial_fit(rows(1), ["c"])


def choosing(**parameters: Any) -> IncrementalRidgeClassifierCV:
    parameters = {"penalties": [1.0, 10.0], "recodings": [0.0, 0.5, 1.0], **parameters}
    model = IncrementalRidgeClassifierCV(min_class_count=10, **parameters)
    for start in range(0, 90, 30):
        model.partial_fit(rows(30, start), list("abbacbabca") * 3)
    model.predict(rows(2))
    return model


def selecting() -> IncrementalRidgeClassifierCV:
    """Votes have been called for, and do not count yet."""
    model = IncrementalRidgeClassifierCV(min_class_count=6, witnesses=6)
    for row, label in zip(rows(200), "abc" * 66, strict=False):
        model.partial_fit(row[None], [label])
        if model.n_samples_seen_ > 40 and "pending.since" in model.learner_.to_state().arrays:
            return model
    raise AssertionError("there was no selection")


def recogniser() -> Recogniser:
    model = IncrementalRidgeClassifierCV([1.0, 10.0], [0.0, 1.0], class_weight={})
    made = Recogniser(model=model)
    digests = [bytes([number]) * 16 for number in range(60)]
    made.teach_vectors(rows(60), list("abc") * 20, digests, Identity("pixels"))
    made.refresh()
    return made


MODELS: dict[str, Callable[[], Any]] = {
    "plain": plain,
    "unfolded": unfolded,
    "per class": per_class,
    "choosing": choosing,
    "choosing by the paper": lambda: choosing(rule="paper", witnesses=5),
    "while a selection is pending": selecting,
    "recogniser": recogniser,
}


def save(model: Any, path: Path) -> None:
    if isinstance(model, Path):  # a file of long ago
        path.write_bytes(model.read_bytes())
    else:
        model.save(path)


def junk(dice: random.Random) -> Any:
    return copy.deepcopy(dice.choice(JUNK))


def change_header(header: dict[str, Any], dice: random.Random) -> None:
    """Replace, drop or add something anywhere in the header."""
    at: Any = header
    while True:
        places = [*at] if isinstance(at, dict) else [*range(len(at))]
        place = dice.choice(places) if places else None
        if place is None or dice.random() < 0.1:
            if isinstance(at, dict):
                at[dice.choice(["x", "penalty", "format"])] = junk(dice)
            else:
                at.append(junk(dice))
            return
        if isinstance(at[place], dict | list) and dice.random() < 0.7:
            at = at[place]
            continue
        if dice.random() < 0.15:
            del at[place]
        else:
            at[place] = junk(dice)
        return


def change_tensors(tensors: dict[str, Any], dice: random.Random) -> None:
    """Replace numbers, type or shape of a tensor, or drop, swap or add one."""
    name = dice.choice(sorted(tensors))
    tensor, kind = tensors[name], dice.randrange(10)
    if kind == 0:
        del tensors[name]
    elif kind == 1:
        other = dice.choice(sorted(tensors))
        tensors[name], tensors[other] = tensors[other], tensors[name]
    elif kind == 2:
        tensors[dice.choice(["x", "gram_peak", "selection.coming_rows", "memory.class"])] = tensor
    elif kind == 3:
        tensors[name] = tensor.astype(dice.choice(TYPES))
    elif kind == 4:
        shapes = [
            tensor.ravel(),
            tensor[None],
            tensor[:-1],
            tensor[..., :-1],
            np.concatenate([tensor, tensor]),
            tensor[:0],
            np.zeros(()),
        ]
        tensors[name] = np.ascontiguousarray(dice.choice(shapes))
    elif tensor.size:
        value = dice.choice(NUMBERS) * dice.choice([1, -1])
        if kind < 8:
            tensor.flat[dice.randrange(tensor.size)] = np.float64(value).astype(tensor.dtype)
        elif kind == 8:
            tensor[...] = np.float64(value).astype(tensor.dtype)
        else:
            tensors[name] = (tensor * value).astype(tensor.dtype)


def use(path: Path, again: Path, load: Callable[[Path], Any]) -> bool:
    """Load a file and go on with it; return whether it was taken, or fail."""
    try:
        loaded = load(path)
    except ModelFileError as error:
        said = str(error)
        assert said.startswith(f"{path}: ")
        assert len(said) < 600
        assert "\n" not in said
        return False
    model = getattr(loaded, "model", loaded)
    try:
        # Sums may have become so large that the penalty is lost beside them.
        warnings.filterwarnings("ignore", "a penalty of .* is less than the rounding")
        width = model.n_features_in_
        query = np.ones((1, width))
        assert len(model.predict(query)) == 1
        assert np.isfinite(model.predict_proba(query)).all()
        model.partial_fit(query, model.classes_[:1])
        loaded.save(again)
        assert load(again) is not None
    except ModelFileError:
        raise
    except ValueError:  # in words: what is taken may still be too large to go on with
        pass
    return True


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    "name",
    [name if name == "plain" else pytest.param(name, marks=pytest.mark.slow) for name in MODELS],
)
def test_a_file_with_anything_changed_is_refused_or_is_a_model(name: str, tmp_path: Path) -> None:
    whole, path, again = tmp_path / "whole", tmp_path / "changed", tmp_path / "again"
    save(MODELS[name](), whole)
    load = Recogniser if name == "recogniser" else newfound.load
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert use(whole, again, load)
    taken = 0
    for case in range(CASES):
        dice = random.Random(f"{name} {seed(case)}")
        header, tensors = taken_apart(whole)
        for _ in range(dice.choice([1, 1, 1, 2, 3])):
            if dice.random() < 0.5:
                change_header(header, dice)
            else:
                with np.errstate(all="ignore"):
                    change_tensors(tensors, dice)
        put_together(path, header, tensors)
        try:
            taken += use(path, again, load)
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed(case)}: {error!r}") from error
    assert 0 < taken < CASES / 2  # most of what is changed is seen
    unit = 2**20 if sys.platform == "darwin" else 2**10
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / unit < 300


@pytest.mark.parametrize("name", ["plain", "recogniser"])
def test_raw_bytes_changed_are_refused(name: str, tmp_path: Path) -> None:
    """Without a checksum that fits, nothing is taken."""
    path = tmp_path / "changed"
    MODELS[name]().save(path)
    whole, dice = path.read_bytes(), random.Random(0)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(dice.choice([1, 2, 8])):
            start = dice.randrange(len(data))
            stop = min(len(data), start + dice.choice([0, 1, 4, 100]))
            data[start:stop] = dice.randbytes(dice.choice([0, stop - start, 3]))
        if bytes(data) == whole:
            continue
        path.write_bytes(data)
        with pytest.raises(ModelFileError):
            newfound.load(path)
