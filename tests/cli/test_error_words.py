"""What goes wrong: whose mistake it is, of which file, and what is left behind."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound.recognition.knowledge import Knowledge
from tests.command_line import newfound, write_rows


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("v.npz"), ["cup", "mug"] * 5)
    assert newfound("teach", "m", "v.npz").code == 0
    return Path("m")


def mistakes() -> dict[str, Any]:
    """Things that only a mistake in the program does, by the words that Python has for them."""
    return {
        "TypeError": lambda *_: len(3),  # type: ignore[arg-type]
        "IndexError": lambda *_: [][1],
        "KeyError": lambda *_: dict[str, int]()["a"],
        "ValueError: operands could not be broadcast": lambda *_: np.zeros(2) + np.zeros(3),
        "ValueError: invalid literal for int()": lambda *_: int("x"),
        "ValueError: not ours": _raise_here,
    }


def _raise_here(*_: Any) -> None:
    raise ValueError("not ours")  # as a library would that newfound calls


@pytest.mark.parametrize("words", mistakes())
def test_a_mistake_of_ours_is_called_that(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newfound.storage.format.read", mistakes()[words])
    done = newfound("inspect", "m")
    assert (done.code, done.out) == (70, "")
    assert f"newfound: internal error: {words}" in done.err
    assert "run again with newfound --debug and report it" in done.err
    assert "Traceback" not in done.err


def test_a_bug_planted_in_newfound_itself_is_called_internal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The call that numpy refuses stands in a line of newfound's, as any deliberate error does.
    monkeypatch.setattr("newfound.recognition.recogniser.np.argsort", lambda *_, **__: np.zeros(7))
    done = newfound("predict", "m", "v.npz")
    assert (done.code, "internal error" in done.err) == (70, True)


@pytest.mark.parametrize("way", ["option", "environment"])
def test_debug_shows_where_an_error_came_from(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    before = ["--debug"] if way == "option" else []
    if way == "environment":
        monkeypatch.setenv("NEWFOUND_DEBUG", "1")
    Path("junk").write_text("junk")
    done = newfound(*before, "inspect", "junk")
    assert done.code == 1
    assert "Traceback (most recent call last):" in done.err
    assert done.err.splitlines()[-1] == "newfound: junk: not a model file, or cut short"
    monkeypatch.setattr("newfound.storage.format.read", _raise_here)
    done = newfound(*before, "inspect", "m")
    assert (done.code, "in _raise_here" in done.err) == (70, True)


@pytest.mark.parametrize(
    ("command", "rest"),
    [
        ("inspect", []),
        ("predict", ["v.npz"]),
        ("evaluate", ["v.npz"]),
        ("teach", ["v.npz"]),
        ("forget", ["v.npz"]),
        ("forget-class", ["cup"]),
        ("rename", ["cup", "pot"]),
    ],
)
@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "junk"])
def test_what_is_no_model_is_named_and_no_lock_is_left_beside_it(
    command: str, rest: list[str], kind: str
) -> None:
    Path("place").mkdir()
    target = Path("place") / kind
    if kind == "folder":
        target.mkdir()
    elif kind == "pipe":
        os.mkfifo(target)
    elif kind == "device":
        target = Path(os.devnull)
    else:
        target.write_text("junk")
    beside = sorted(target.parent.iterdir())
    done = newfound(command, target, *rest)
    assert (done.code, done.out) == (1, "")
    assert f"newfound: {target}: " in done.err
    assert "None" not in done.err
    assert [path for path in sorted(target.parent.iterdir()) if path not in beside] == []


def test_a_merge_that_is_refused_leaves_no_lock() -> None:
    Path("place").mkdir()
    Path("place/junk").write_text("junk")
    for options in ([], ["--force"]):
        assert newfound("merge", "m", "m", "-o", "place/junk", *options).code in (1, 2)
    assert [path.name for path in Path("place").iterdir()] == ["junk"]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("teach", "m", "v.npz", "--again"), "m"),
        (("teach", "new", "v.npz"), "new"),
        (("rename", "m", "cup", "pot"), "m"),
        (("forget-class", "m", "cup"), "m"),
        (("merge", "m", "m", "-o", "out"), "out"),
        (("features", "v.npz", "-o", "w.npz"), "w.npz"),
        (("predict", "m", "v.npz", "-o", "answers.csv"), "answers.csv"),
        (("evaluate", "m", "v.npz", "--output", "p.png"), "p.png"),
    ],
)
def test_a_full_disk_is_told_with_the_name_of_the_file(
    words: tuple[str, ...], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    before = Path("m").read_bytes()
    for place in (
        "newfound.common.files.os.fsync",
        "matplotlib.figure.Figure.savefig",
    ):
        monkeypatch.setattr(place, full)
    done = newfound(*words)
    assert done.code == 1
    assert f"newfound: {name}: No space left on device" in done.err
    assert Path("m").read_bytes() == before


def test_want_of_memory_gets_advice_about_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(*_: Any, **__: Any) -> None:
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr(Knowledge, "teach", too_much)
    done = newfound("teach", "m", "v.npz", "--again")
    assert done.code == 1
    assert "not enough memory: Unable to allocate 9 TiB; fewer features" in done.err
    assert "--no-class-sums" in done.err
    monkeypatch.setattr("newfound.cli.confusion_plot.draw", too_much)
    done = newfound("evaluate", "m", "v.npz", "--output", "p.png")
    assert done.code == 1
    assert done.err.splitlines()[-1] == "newfound: not enough memory: Unable to allocate 9 TiB"


def test_a_model_that_cannot_be_merged_is_named() -> None:
    write_rows(Path("wide.npz"), ["cup", "mug"] * 5, width=7)
    newfound("teach", "wide", "wide.npz")
    done = newfound("merge", "m", "m", "wide", "-o", "out")
    assert done.code == 1
    assert "wide cannot be merged with m and m: 7 features there, 6 features here" in done.err


@pytest.mark.parametrize("option", ["junk.onnx:size=8", "caffenet:path=junk.onnx"])
def test_a_network_that_is_none_is_named(option: str) -> None:
    Path("junk.onnx").write_text("junk")
    Path("photos/cup").mkdir(parents=True)
    Path("photos/cup/a.png").touch()
    done = newfound("teach", "new", "photos", "--extractor", option)
    assert (done.code, "junk.onnx: not a network that onnxruntime" in done.err) == (1, True), done


def test_a_setting_that_is_wrong_is_named_and_no_file_is_blamed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NEWFOUND_MAX_VECTORS_BYTES", "4G")
    done = newfound("predict", "m", "v.npz")
    assert done.code == 1
    assert "newfound: the environment variable NEWFOUND_MAX_VECTORS_BYTES is '4G'" in done.err
    assert "v.npz" not in done.err


@pytest.mark.parametrize("label", ["a" * 1001, "\U0001d160" * 400])
def test_a_label_that_is_too_long_is_refused_before_any_work(label: str) -> None:
    done = newfound("teach", "new", "v.npz", "--as", label)
    assert (done.code, "; a label may have 1000" in done.err) == (2, True), done
    done = newfound("rename", "m", "cup", label)
    assert (done.code, "; a label may have 1000" in done.err) == (2, True), done
    np.savez("long.npz", vectors=np.ones((2, 6)), labels=np.array([label, "b"]))
    done = newfound("teach", "new", "long.npz")
    assert (done.code, "long.npz: not a file of vectors (its labels" in done.err) == (3, True), done


def test_a_message_of_several_lines_is_shown_as_such() -> None:
    done = newfound("reproduce", "icubworld28", "--quick")
    assert done.code == 1
    first, *more = done.err.splitlines()
    assert first.startswith("newfound: iCubWorld28 is not at hand")
    assert len(more) >= 3
    assert all(line.startswith("  ") for line in more)
    assert "\\n" not in done.err


def test_a_name_with_a_line_break_does_not_pass_for_a_message() -> None:
    Path("x\nnewfound: all is well").write_text("junk")
    done = newfound("inspect", "x\nnewfound: all is well")
    assert done.code == 1
    assert [line for line in done.err.splitlines() if line.startswith("newfound: all")] == []
