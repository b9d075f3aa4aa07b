"""Undo: the state before the last command, kept beside the model."""

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound.cli import kept
from newfound.recogniser import Recogniser
from tests.command_line import Done, newfound, write_rows


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("first.npz"), ["cup", "mug", "pot"] * 10)
    write_rows(Path("more.npz"), ["cup", "jug"] * 5, seed=1)
    assert done("teach", "m", "first.npz")
    return Path("m")


def done(*words: object) -> Done:
    """Run a command that must succeed."""
    result = newfound(*words)
    assert result.code == 0, result
    return result


CHANGES: list[tuple[str, ...]] = [
    ("teach", "m", "more.npz"),
    ("forget", "m", "first.npz"),
    ("forget", "m", "first.npz", "--as", "cup"),
    ("forget-class", "m", "mug"),
    ("rename", "m", "mug", "beaker"),
    ("rename", "m", "mug", "cup", "--force"),
    ("merge", "m", "other", "-o", "m"),
    ("merge", "other", "another", "-o", "m", "--force"),
]


@pytest.mark.parametrize("change", CHANGES, ids=" ".join)
def test_every_change_is_taken_back_and_made_again(model: Path, change: tuple[str, ...]) -> None:
    done("teach", "other", "more.npz")
    done("teach", "another", "more.npz")
    before = model.read_bytes()
    assert newfound(*change).code in (0, 3)  # 3: not all of them were cups
    after = model.read_bytes() if model.exists() else None
    assert after != before
    said = done("undo", "m").err
    assert "m knows 3 classes from 30 images again; undo again to redo (" in said
    assert model.read_bytes() == before
    done("undo", "m")
    assert (model.read_bytes() if model.exists() else None) == after
    done("undo", "m")
    assert model.read_bytes() == before


def test_the_first_lesson_is_taken_back_too(model: Path) -> None:
    before = model.read_bytes()
    assert "m is gone again, as before it was taught; undo again to redo" in done("undo", "m").err
    assert not model.exists()
    done("undo", "m")
    assert model.read_bytes() == before


def test_a_lesson_saved_on_the_way_is_taken_back_whole(model: Path) -> None:
    before = model.read_bytes()
    write_rows(Path("long.npz"), ["jug", "jar"] * 100, seed=2)
    done("teach", "m", "long.npz", "--save-every", 0)
    done("undo", "m")
    assert model.read_bytes() == before


def test_a_lesson_that_teaches_nothing_is_nothing_to_undo(model: Path) -> None:
    before = model.read_bytes()
    done("teach", "m", "more.npz")
    assert "Learned 0 " in done("teach", "m", "more.npz").err
    done("rename", "m", "mug", "mug")
    assert newfound("forget", "m", "first.npz", "--as", "nobody").code == 3
    done("undo", "m")
    assert model.read_bytes() == before


def test_where_nothing_is_kept_nothing_is_done(model: Path) -> None:
    Path("m.undo").unlink()
    before = model.read_bytes()
    for name in ("m", "nowhere"):
        result = newfound("undo", name)
        assert (result.code, result.out) == (1, "")
        assert f"There is nothing to undo: no earlier state of {name} is kept" in result.err
    assert model.read_bytes() == before
    assert not Path(".nowhere.lock").exists()


def test_the_kept_state_lies_where_a_link_leads(model: Path) -> None:
    before = model.read_bytes()
    Path("elsewhere").mkdir()
    Path("m.undo").unlink()
    model.rename("elsewhere/real")
    model.symlink_to("elsewhere/real")
    done("teach", "m", "more.npz")
    assert (Path("elsewhere/real.undo").exists(), Path("m.undo").exists()) == (True, False)
    done("undo", "m")
    assert model.is_symlink()
    assert Path("elsewhere/real").read_bytes() == before


def test_without_links_the_state_is_copied(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    before = model.read_bytes()
    model.chmod(0o600)
    done("teach", "m", "more.npz")
    assert Path("m.undo").stat().st_mode & 0o777 == 0o600
    done("undo", "m")
    assert model.read_bytes() == before


def test_a_damaged_state_is_not_brought_back_but_a_damaged_model_is_mended(model: Path) -> None:
    before = model.read_bytes()
    done("teach", "m", "more.npz")
    after = model.read_bytes()
    Path("m.undo").write_bytes(b"junk")
    result = newfound("undo", "m")
    assert (result.code, "m.undo: not a model file" in result.err) == (1, True)
    assert model.read_bytes() == after
    Path("m.undo").write_bytes(before)
    model.write_bytes(b"junk")
    done("undo", "m")
    assert model.read_bytes() == before


def test_inspect_tells_how_large_the_kept_state_is(model: Path) -> None:
    done("teach", "m", "more.npz")
    size = Path("m.undo").stat().st_size
    assert f"undo\t{size / 1e6:.1f} MB" in done("inspect", "m").out
    Path("m.undo").unlink()
    assert "undo" not in done("inspect", "m").out


class Killed(BaseException):
    """Stands for a kill: nothing after it is done."""


@pytest.mark.parametrize("forgets_all", [False, True])
def test_killed_at_any_step_no_state_is_lost(
    model: Path, monkeypatch: pytest.MonkeyPatch, forgets_all: bool
) -> None:
    """Whatever step of undo is the last one, both states are there, and undo goes on."""
    before = model.read_bytes()
    done("forget", "m", "first.npz") if forgets_all else done("teach", "m", "more.npz")
    after = model.read_bytes() if model.exists() else b""
    for last in itertools.count():
        with monkeypatch.context() as patch:
            left = iter(range(last))

            def until_killed(step: Any, left: Any = left) -> Any:
                def act(*given: Any, **options: Any) -> Any:
                    if next(left, None) is None:
                        raise Killed
                    return step(*given, **options)

                return act

            patch.setattr(os, "link", until_killed(os.link))
            for name in ("replace", "unlink", "touch"):
                patch.setattr(Path, name, until_killed(getattr(Path, name)))
            try:
                kept.swap(Path("m").resolve())
                ended = True
            except Killed:
                ended = False
        kept.finish_swap(Path("m").resolve())
        states = {model.read_bytes() if model.exists() else b"", Path("m.undo").read_bytes()}
        assert states == {before, after}, last
        if model.exists():
            Recogniser.load(model)
        if ended:
            break
        if (model.read_bytes() if model.exists() else b"") != after:  # it came to the swap
            kept.swap(Path("m").resolve())
    assert last >= 3


def test_a_kill_between_keeping_and_saving_leaves_nothing_to_undo(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = model.read_bytes()

    def kill(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Recogniser, "save", kill)
        with pytest.raises(Killed):
            newfound("rename", "m", "mug", "beaker")
    assert model.read_bytes() == before
    assert newfound("undo", "m").code == 1
    done("rename", "m", "mug", "beaker")
    done("undo", "m")
    assert model.read_bytes() == before
    assert not list(Path().glob(".m.*.tmp"))


def test_the_last_image_and_the_last_class_go_the_same_way(model: Path) -> None:
    before = model.read_bytes()
    gone = "That was all it knew: the model is gone. newfound undo m brings it back."
    by_image = done("forget", "m", "first.npz").err
    assert not model.exists()
    assert "newfound undo m brings back the last" in newfound("inspect", "m").err
    done("undo", "m")
    assert model.read_bytes() == before
    for label in ("cup", "mug"):
        done("forget-class", "m", label)
    last = model.read_bytes()
    by_class = done("forget-class", "m", "pot").err
    assert not model.exists()
    assert (gone in by_image, gone in by_class) == (True, True)
    done("undo", "m")
    assert model.read_bytes() == last
    np.testing.assert_array_equal(Recogniser.load("m").model.classes_, ["pot"])
