"""What cannot be read again is not written; whatever is written can be read."""

from pathlib import Path

import numpy as np
import pytest

import newfound
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from tests.old_labels import with_label

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 10))
Y = np.array(list("abcd") * 50)


@pytest.mark.parametrize("label", ["0" * 64, 'a"b\\', '\\"sha256\\": \\"' + "0" * 64, "\n"])
def test_any_label_survives_the_file(label: str, tmp_path: Path) -> None:
    """The place of the checksum is found by its text, which a label could hold as well."""
    with_label(label, tmp_path / "file")
    assert label in newfound.load(tmp_path / "file").classes_.tolist()


def test_what_cannot_be_loaded_is_not_saved(tmp_path: Path) -> None:
    model = IncrementalRidgeClassifier().fit(X, Y).set_params(class_weight="balanced")
    with pytest.raises(ValueError, match="taught with class_weight=None"):
        model.save(tmp_path / "file")
    with pytest.raises(ValueError, match="class_weight"):
        IncrementalRidgeClassifier(class_weight={("a", 1): 2.0}).fit(X, Y)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("part", ["gram", "cross", "counts"])
def test_what_could_not_be_loaded_is_not_written_and_the_old_file_stays(
    part: str, tmp_path: Path
) -> None:
    """Merging adds what was within bounds until it no longer is."""
    path = tmp_path / "kitchen.newfound"
    model = IncrementalRidgeClassifierCV().fit(RNG.normal(size=(180, 4)), list("abc") * 60)
    model.save(path)
    before = path.read_bytes()
    sums = model.learner_.engine.memory.sums
    if part == "gram":
        (gram,) = sums.grams
        assert gram.flushed is not None
        gram.flushed.store *= 1e305
    elif part == "cross":
        np.multiply(sums.cross_parts[0], 1e200, out=sums.cross_parts[0])
    else:
        sums.counts = sums.counts + 2**52
    with pytest.raises(ValueError, match=r"could not be read again|do not fit together"):
        model.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["kitchen.newfound"]


def test_a_choice_that_could_not_be_loaded_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kitchen.newfound"
    model = IncrementalRidgeClassifierCV().fit(X, Y)
    model.save(path)
    before = path.read_bytes()
    twice = np.array([1.0, 1.0])  # penalties that do not rise
    monkeypatch.setattr("newfound.selection.result.candidates", lambda *_: twice)
    with pytest.raises(ValueError, match="do not fit together"):
        IncrementalRidgeClassifierCV(rule="paper", min_class_count=5).fit(X, Y).save(path)
    assert path.read_bytes() == before
