"""What commands write, and where: the model and what belongs to it, and our own cache."""

import os
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from newfound import MissingDataError
from newfound.datasets import mnist
from newfound.recognition.editor import Editor
from tests.command_line import Done, newfound, picture, write_rows

ROOT = Path(__file__).parents[2]

THEIRS = ("NEWFOUND_CACHE", "ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")


def at_home(home: Path, folder: Path, *words: str, **settings: str) -> Done:
    """Run a command as someone whose home this is, and who has set nothing else."""
    own = {name: value for name, value in os.environ.items() if name not in THEIRS}
    done = subprocess.run(
        [sys.executable, "-m", "newfound", *words],
        cwd=folder,
        env={**own, "HOME": str(home), **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for thing, name in enumerate(("cup", "mug")):
        place = tmp_path / "world" / "photos" / name
        place.mkdir(parents=True)
        for seed in range(3):
            picture(seed, thing).resize((32, 32)).save(place / f"{seed}.png")
    return tmp_path / "world"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a home is elsewhere there")
def test_photos_write_nothing_but_the_model_and_our_own_cache(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    given = set(folder.rglob("*"))
    for words in (
        ("teach", "kitchen.newfound", "photos"),
        ("predict", "kitchen.newfound", "photos/cup/0.png"),
    ):
        done = at_home(home, folder, *words)
        assert done.code == 0, done.err
    written = [path.relative_to(home) for path in home.rglob("*") if not path.is_dir()]
    assert written
    cache = Path("Library/Caches" if sys.platform == "darwin" else ".cache") / "newfound"
    assert {path.parent for path in written} == {cache}
    for path in set(folder.rglob("*")) - given:  # the model, its lock, and the like
        assert path.parent == folder
        assert "kitchen.newfound" in path.name


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a home is elsewhere there")
def test_a_home_that_cannot_be_written_is_not_worth_a_word(folder: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "a file"
    nowhere.touch()
    done = at_home(nowhere, folder, "teach", "-q", "kitchen.newfound", "photos")
    assert done == (0, "", "")


def test_what_is_written_beside_models_is_ignored_by_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("first.npz"), ["cup", "mug"] * 10)
    write_rows(Path("more.npz"), ["cup", "mug"] * 10, seed=1)
    for rows in ("first.npz", "more.npz"):
        assert newfound("teach", "kitchen.newfound", rows).code == 0
    kitchen = Editor("desk.newfound", None)
    kitchen.recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
    written = {path.name for path in Path().iterdir()} - {"first.npz", "more.npz"}
    kitchen.close()
    assert {"kitchen.newfound.undo", ".kitchen.newfound.lock", "desk.newfound.journal"} < written
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    for name in written:
        assert any(fnmatchcase(name, pattern) for pattern in ignored), name


def test_who_wants_telemetry_of_onnxruntime_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from newfound.features.onnx import runtime

    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")
    assert runtime().__name__ == "onnxruntime"
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "0"
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY")
    runtime()
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


def test_looking_for_mnist_makes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise OSError("no network in tests")

    for name in ("NEWFOUND_DATA", "SCIKIT_LEARN_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", unreachable)
    with pytest.raises(MissingDataError):
        mnist()
    assert not list(tmp_path.iterdir())
