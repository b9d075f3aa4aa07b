"""Labels that cannot be taught: refused wherever images are, and helped out of where they are."""

import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from newfound import InputError, Recogniser, load
from newfound.recognition.editor import Editor
from newfound.recognition.sources import NewExample
from tests.command_line import newfound, picture, write_rows
from tests.old_labels import STORED, with_label
from tests.recognition.edits import digest, open_at, row

BAD, NIGHT = "mug\u200b", np.zeros((8, 8), dtype=np.uint8)


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def example(number: int) -> NewExample:
    return NewExample(row(number, "mug"), digest(number))


def test_a_recogniser_refuses_labels_before_it_looks_at_anything() -> None:
    recogniser = Recogniser(extractor="pixels:size=8")
    recogniser.teach(NIGHT, "night")
    doors: list[Callable[[], object]] = [
        lambda: recogniser.teach(NIGHT + 9, BAD),
        lambda: recogniser.teach_vectors([[0.0] * 64], [BAD]),
        lambda: recogniser.rename("night", BAD),
    ]
    for teach in doors:
        with pytest.raises(InputError, match="ZERO WIDTH SPACE"):
            teach()
    assert recogniser.counts == {"night": 1}


def test_an_editor_writes_no_such_label_down(tmp_path: Path) -> None:
    editor = open_at(tmp_path / "m")
    editor.teach([example(1)], ["mug"])
    question = editor.ask([example(2)], "camera", None)
    doors: list[Callable[[], object]] = [
        lambda: editor.teach([example(3)], [BAD]),
        lambda: editor.teach_new(example(3), BAD),
        lambda: editor.move([1], BAD),
        lambda: editor.name(question, BAD),
        lambda: editor.rename("mug", BAD),
    ]
    for edit in doors:
        with pytest.raises(InputError, match="ZERO WIDTH SPACE"):
            edit()
    assert editor.recogniser.counts == {"mug": 1}
    assert editor.history.position == 1
    editor.close()


@contextmanager
def open_with(label: str, folder: Path) -> Iterator[Editor]:
    """Open a journal in which a class has such a label, from a time when it could have it."""
    editor = open_at(folder / "m")
    editor.teach([example(1), example(2), example(3)], ["cup", "old", "old"])
    rows, history = [[number, "old", label] for number in (2, 3)], editor.history
    detail = {"old": "old", "new": label, "joined": False, "whole": True, "rows": rows}
    history.write(lambda: history.append("rename", detail, None))
    yield editor
    editor.close()


@pytest.mark.parametrize("label", STORED, ids=ascii)
def test_undo_brings_back_a_class_that_could_not_be_taught(label: str, tmp_path: Path) -> None:
    with open_with(label, tmp_path) as editor:
        before = editor.recogniser.counts
        assert before[label] == 2
        editor.forget_class(label)
        editor.history.undo()
        assert editor.recogniser.counts == before
        editor.rename(label, "good")
        editor.history.undo()
        assert editor.recogniser.counts == before
        editor.move([2], "cup")
        editor.history.undo()
        assert editor.recogniser.counts == before
    again = open_at(tmp_path / "m")  # what the journal says of it is done again
    assert again.recogniser.counts == before
    again.close()


@pytest.mark.parametrize("label", [each for each in STORED if "\0" not in each], ids=ascii)
def test_the_command_line_renames_and_forgets_what_a_file_has(label: str) -> None:
    with_label(label, Path("m"))
    done = newfound("rename", "m", label, "good")
    assert done.code == 0, done.err
    assert load("m").classes_.tolist() == ["a", "good"]
    refused = newfound("rename", "m", "good", label)
    if unicodedata.is_normalized("NFC", label):
        assert refused.code == 2
    else:
        assert load("m").classes_.tolist() == ["a", unicodedata.normalize("NFC", label)]
    with_label(label, Path("n"))
    assert newfound("forget-class", "n", label).code == 0
    assert load("n").classes_.tolist() == ["a"]


def test_the_command_line_teaches_no_such_label(tmp_path: Path) -> None:
    folder = tmp_path / "photos" / "mug "
    folder.mkdir(parents=True)
    picture(0, 0).save(folder / "1.png")
    write_rows(tmp_path / "rows.npz", ["cup"] * 20 + [BAD], width=4)
    for words, code in (
        (["photos"], 1),
        (["rows.npz"], 1),
        (["photos", "--as", BAD], 2),
        (["rows.npz", "--as", ""], 2),
    ):
        done = newfound("teach", "m", *words, "--extractor", "pixels:size=8")
        assert done.code == code
        assert any(said in done.err for said in ("white space", "ZERO WIDTH", "needs a name"))
    assert not Path("m").exists()  # not even the twenty cups


def test_a_folder_of_a_mac_is_called_as_one_types_it(tmp_path: Path) -> None:
    folder = tmp_path / "photos" / unicodedata.normalize("NFD", "caf\u00e9")
    folder.mkdir(parents=True)
    picture(0, 0).save(folder / "1.png")
    assert newfound("teach", "m", "photos", "--extractor", "pixels:size=8").code == 0
    assert load("m").classes_.tolist() == ["caf\u00e9"]
