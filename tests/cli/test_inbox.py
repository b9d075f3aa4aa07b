"""`newfound inbox`: what was asked about is listed, shown, named and dismissed."""

import json
from pathlib import Path

import pytest
from PIL import Image

from newfound.recognition.editor import Editor
from newfound.recognition.locking import locked
from newfound.recognition.opening import open_to_look
from newfound.recognition.sources import NewExample
from newfound.recognition.thumbnails import thumbnail_of
from tests.command_line import newfound, write_rows
from tests.recognition.edits import digest, row


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model that was asked about two things: one with two frames, a guess and pictures."""
    monkeypatch.chdir(tmp_path)
    write_rows(Path("first.npz"), ["cup", "pot"] * 5)
    kitchen = Editor("m", None)
    kitchen.recogniser.teach("first.npz")
    picture = thumbnail_of(Image.new("RGB", (640, 480), "teal"))
    new = [NewExample(row(n, "mug"), digest(n), None, "", picture) for n in (100, 101, 102)]
    kitchen.ask(new[:2], "/camera\x1b[2J", "cup")
    kitchen.ask(new[2:])
    kitchen.close()
    return Path("m")


def questions() -> list[int]:
    kitchen = Editor("m", None, read_only=True)
    found = [each.id for each in kitchen.journal.inbox.open()]
    kitchen.journal.close()
    return found


def test_questions_are_listed_oldest_first_also_while_another_process_has_the_model(
    model: Path,
) -> None:
    with locked(model):
        done = newfound("inbox", "m")
    first, second = (line.split("\t") for line in done.out.splitlines())
    assert first[0] == "1"
    assert first[2:] == ["cup", "/camera\\x1b[2J", "2"]
    assert [second[0], *second[2:]] == ["2", "", "", "1"]
    found = [json.loads(line) for line in newfound("inbox", "m", "--json").out.splitlines()]
    assert [(each["question"], each["guess"], each["frames"]) for each in found] == [
        (1, "cup", 2),
        (2, None, 1),
    ]
    assert newfound("inbox", "m", 2).out.startswith("2\t")


def test_pictures_are_written_to_a_folder(model: Path) -> None:
    done = newfound("inbox", "m", "--output", "to/look at")
    assert "Wrote 3 pictures to to/look at." in done.err
    names = sorted(path.name for path in Path("to/look at").iterdir())
    assert names == ["1-1.jpg", "1-2.jpg", "2-1.jpg"]
    with Image.open("to/look at/1-1.jpg") as picture:
        assert picture.size == (256, 192)


def test_a_named_question_is_learned_and_undo_puts_it_back(model: Path) -> None:
    done = newfound("inbox", "m", 1, 2, "--as", "mug")
    assert done.err.startswith("Learned 3 images of mug. m knows 3 classes from 13 images.")
    assert open_to_look("m").counts["mug"] == 3
    assert questions() == []
    assert "Nothing was asked" in newfound("inbox", "m").err
    assert newfound("undo", "m").err.startswith("Undid: taught mug (3).")
    assert questions() == [2, 1]


def test_a_dismissed_question_is_gone(model: Path) -> None:
    assert newfound("inbox", "m", 1, "--dismiss").err == "Dismissed 1 question.\n"
    assert questions() == [2]
    again = newfound("inbox", "m", 2, 1, "--dismiss")
    assert (again.code, again.err) == (1, "newfound: there is no open question 1\n")
    assert questions() == [2]


def test_who_names_while_another_process_has_the_model_is_told_how(model: Path) -> None:
    with locked(model):
        done = newfound("inbox", "m", 1, "--as", "mug")
    assert done.code == 1
    assert "nothing was done. Name it on the page of the studio that runs, or send" in done.err
    assert questions() == [2, 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--as", "mug"], "say which questions are meant"),
        ([1, "--as", "mug", "--dismiss"], "either named or dismissed"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(model: Path, words: list[str], said: str) -> None:
    done = newfound("inbox", "m", *words)
    assert done.code == 2
    assert said in done.err


def test_a_model_without_a_journal_was_asked_nothing(tmp_path: Path) -> None:
    rows, model = tmp_path / "first.npz", tmp_path / "plain"
    write_rows(rows, ["cup", "pot"] * 5)
    assert newfound("teach", model, rows).code == 0
    assert newfound("inbox", model).err == "Nothing was asked that is not answered.\n"
    for words in ([1], [1, "--dismiss"]):
        assert newfound("inbox", model, *words).err == "newfound: there is no open question 1\n"
    assert newfound("inbox", tmp_path / "none").code == 1
