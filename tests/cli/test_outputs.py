"""Where a command writes to: what it reads, models and files of others are not destroyed by it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from newfound.recognition.editor import Editor
from newfound.recognition.sources import NewExample
from tests.command_line import newfound, on_terminal, write_pictures, write_rows
from tests.recognition.edits import row

PIXELS = ("--extractor", "pixels:size=8")
PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for thing, name in enumerate(("cup", "mug")):
        write_pictures(Path("p") / name, thing, range(4))
    assert newfound("teach", "m", "p", *PIXELS).code == 0
    return tmp_path


def refusal(*words: object, stdin: bytes = b"") -> str:
    """Run a command that must refuse where it is to write to, and return why."""
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    done = newfound(*words, stdin=stdin)
    assert done.code == 2, done
    assert done.out == ""
    after = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert {path: after[path] for path in before} == before
    return " ".join(done.err.split())


def same(path: Path) -> Path:
    return path


def linked(path: Path) -> Path:
    link = path.parent.parent.parent / f"link{path.suffix}"
    link.symlink_to(path.absolute())
    return link


def linked_hard(path: Path) -> Path:
    link = path.parent.parent.parent / f"link{path.suffix}"
    os.link(path, link)
    return link


def spelled(path: Path) -> Path:
    return Path("p/../p") / path.relative_to("p")


@pytest.mark.parametrize("named", [same, linked, linked_hard, spelled])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_figure_never_replaces_an_image_that_is_evaluated(
    world: Path, named: Callable[[Path], Path], force: list[str]
) -> None:
    output = named(Path("p/mug/000.png"))
    assert "is read by this command" in refusal("evaluate", "m", "p", "--output", output, *force)


@pytest.mark.parametrize("chain", ["simplecache::file://{0}/p", "dir://mug::file://{0}/p"])
def test_nor_does_it_where_a_chain_of_addresses_leads_there(world: Path, chain: str) -> None:
    words = ("evaluate", "m", chain.format(world), *(["--as", "mug"] * chain.startswith("dir")))
    output = ("--output", "p/mug/000.png", "--force")
    assert "is read by this command" in refusal(*words, *output)


def test_nor_do_the_other_figures_nor_one_of_unknown_things(world: Path) -> None:
    write_pictures(Path("garage"), 7, range(3))
    words = ("evaluate", "m", "p", "--unknown", "garage", "--roc")
    for photo in ("p/cup/001.png", "garage/002.png"):
        said = refusal(*words, photo, "--force")
        assert f"--roc: {photo} is read by this command" in said


def test_answers_never_replace_the_list_that_is_read(world: Path) -> None:
    Path("list.csv").write_text("p/mug/000.png\n")
    words = [sys.executable, "-m", "newfound", "predict", "m", "-", "-o", "list.csv", "--force"]
    with Path("list.csv").open("rb") as file:
        done = subprocess.run(words, stdin=file, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is read by this command" in done.stderr
    assert Path("list.csv").read_text() == "p/mug/000.png\n"


def test_the_model_that_answers_is_not_replaced_by_its_answers(world: Path) -> None:
    Path("m.csv").symlink_to("m")
    for force in ([], ["--force"]):
        said = refusal("predict", "m", "p", "-o", "m.csv", *force)
        assert "m.csv is read by this command" in said


def test_vectors_never_replace_vectors_that_are_read(world: Path) -> None:
    write_rows(Path("v.npz"), ["cup", "mug"] * 3)
    assert "is read by this command" in refusal("features", "v.npz", "-o", "v.npz", "--force")
    Path("broken.npz").write_bytes(b"PK\x03\x04")  # named, if it cannot be read
    words = ("features", "v.npz", "broken.npz", "-o", "broken.npz")
    assert "is read by this command" in refusal(*words)


@pytest.mark.parametrize(
    "words", [("predict", "m", "p", "-o", "other.csv"), ("demo", "-o", "other.png")]
)
def test_a_model_is_replaced_only_by_force(world: Path, words: tuple[str, ...]) -> None:
    other = Path(words[-1])
    other.write_bytes(Path("m").read_bytes())
    assert f"{other} is a model: to overwrite it, give --force" in refusal(*words)


def test_so_is_one_with_a_class_that_is_called_like_another_kind_of_file(world: Path) -> None:
    other = Path("other.svg")
    other.write_bytes(Path("m").read_bytes())
    assert newfound("rename", other, "mug", "<svg").code == 0
    assert f"{other} is a model" in refusal("evaluate", "m", "p", "--output", other)


def test_a_model_is_merged_into_itself_only_by_force(world: Path) -> None:
    assert "m is a model: to overwrite it, give --force" in refusal("merge", "m", "m", "-o", "m")
    assert newfound("merge", "m", "m", "-o", "m", "--force").code == 0
    assert newfound("undo", "m").code == 0


@pytest.mark.parametrize(
    ("words", "old"),
    [
        (("evaluate", "m", "p", "-o", "old.png"), PNG + b"drawn before"),
        (("evaluate", "m", "p", "-o", "old.pdf"), b"%PDF-1.4 drawn before"),
        (("evaluate", "m", "p", "-o", "old.svg"), b"<?xml version='1.0'?><svg></svg>"),
        (("predict", "m", "p", "-o", "old.csv"), b"file,label\r\n"),
        (("predict", "m", "p", "-o", "old.jsonl"), b""),
        (("features", "p", "-o", "old.npz", *PIXELS), b"PK\x03\x04"),
    ],
)
def test_a_file_of_the_same_kind_is_replaced_and_another_only_by_force(
    world: Path, words: tuple[str, ...], old: bytes
) -> None:
    output = Path(next(word for word in words if word.startswith("old")))
    output.write_bytes(b"\0 something else")
    said = refusal(*words)
    assert (
        f"{output} exists, and is not a {output.suffix} file: to overwrite it, give --force" in said
    )
    output.write_bytes(old)
    assert newfound(*words).code == 0
    made = output.read_bytes()
    assert made != old
    output.write_bytes(b"\0 something else")
    assert newfound(*words, "--force").code == 0
    assert output.read_bytes()[:4] == made[:4]


def test_nothing_is_computed_in_vain(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("old.csv").write_bytes(b"\0")
    monkeypatch.setattr("newfound.features.pixels.Pixels.run", lambda *_: pytest.fail("ran"))
    refusal("predict", "m", "p", "-o", "old.csv")
    refusal("evaluate", "m", "p", "-o", "p/mug/000.png")


@pytest.mark.slow
@pytest.mark.parametrize("typed", [b"n\n", b"y\n"])
def test_on_a_terminal_one_is_asked(world: Path, typed: bytes) -> None:
    Path("old.csv").write_bytes(b"\0")
    code, seen = on_terminal("predict", "m", "p", "-o", "old.csv", typed=typed)
    assert "old.csv exists, and is not a .csv file. Overwrite it? [y/N]" in seen
    assert code == (0 if typed == b"y\n" else 1)
    assert (Path("old.csv").read_bytes() == b"\0") == (typed == b"n\n")


def test_pictures_of_questions_replace_pictures_and_nothing_else(world: Path) -> None:
    editor = Editor("asked.newfound", None)
    editor.ask([NewExample(row(0, "cup"), b"0" * 16, None, "camera", JPEG + b"seen")], "camera")
    editor.close()
    words = ("inbox", "asked.newfound", "--output", ".")
    Path("1-1.jpg").write_text("notes")
    assert "1-1.jpg exists, and is not a .jpg file" in refusal(*words)
    Path("1-1.jpg").write_bytes(JPEG + b"of before")
    assert newfound(*words).code == 0
    assert Path("1-1.jpg").read_bytes() == JPEG + b"seen"


def test_a_report_is_not_written_into_a_folder_of_something_else(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("results/bayes").mkdir(parents=True)
    Path("results/bayes/report.md").write_text("mine")
    Path("results/bayes/configuration.json").write_text("{}")
    said = refusal("reproduce", "bayes")
    assert "results/bayes holds files of something else: to write there, give --force" in said
    monkeypatch.setattr("newfound.paper.bayes_report.reproduce_bayes", lambda *_: ([], None))
    assert newfound("reproduce", "bayes", "--force").code == 0
    Path("results/bayes/bayes.json").write_text("[]")
    assert newfound("reproduce", "bayes").code == 0
