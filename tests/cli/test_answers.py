"""What predict gives: at once, to files, and without mistaking a class for a verdict."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from newfound import IncrementalRidgeClassifier
from newfound.cli.console import printable
from newfound.recognition import reading
from newfound.recognition.recogniser import Recogniser
from tests.command_line import newfound, write_pictures, write_rows
from tests.old_labels import relabel

PIXELS = ("--extractor", "pixels:size=8")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for thing, name in enumerate(("cup", "mug", "unknown")):
        write_pictures(Path("photos") / name, thing, range(12))
    assert newfound("teach", "m", "photos", *PIXELS).code == 0
    return Path("m")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_in_a_pipe_an_answer_comes_before_the_next_image_is_looked_at(
    model: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    flushed: list[str] = []

    class Pipe(io.StringIO):
        def flush(self) -> None:
            flushed.append(self.getvalue())

    original = reading.examples

    def one_by_one(*given: Any) -> Iterator[Any]:
        for came, row in enumerate(original(*given)):
            assert (flushed[-1] if flushed else "").count("\n") == came
            yield row

    monkeypatch.setattr(reading, "examples", one_by_one)
    monkeypatch.setattr("tests.command_line.io.StringIO", Pipe)
    files = sorted(Path("photos/cup").iterdir())
    done = newfound("predict", "m", *files, *options)
    assert (done.code, done.out.count("\n")) == (0, 12), done.err


@pytest.mark.slow
def test_data_goes_to_stdout_while_a_bar_is_shown_on_a_terminal(model: Path) -> None:
    program = (
        "import pty, os, subprocess, sys\n"
        "keeper, terminal = pty.openpty()\n"
        "words = [sys.executable, '-m', 'newfound', 'predict', 'm', 'photos', '--json']\n"
        "done = subprocess.run(words, stdout=subprocess.PIPE, stderr=terminal,\n"
        "                      env={**os.environ, 'TERM': 'xterm'})\n"
        "sys.stdout.buffer.write(done.stdout)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert len(done.stdout.splitlines()) == 36


def as_it_is(text: str) -> str:
    return text


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read rows as RFC 4180 has them."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file, strict=True))


def read_tsv(path: Path) -> list[dict[str, str]]:
    """Read rows as whoever splits lines at tabs."""
    names, *rows = (line.split("\t") for line in path.read_text().splitlines())
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.mark.parametrize(
    ("suffix", "read", "written"), [(".csv", read_csv, as_it_is), (".TSV", read_tsv, printable)]
)
def test_answers_are_written_as_a_table_with_names(
    model: Path, suffix: str, read: Any, written: Any
) -> None:
    odd = Path('a\t"b",\n\rc\r.png')
    relabel(Path("m"), {"cup": '"cup\r'})
    odd.write_bytes(Path("photos/cup/000.png").read_bytes())
    files = [odd, Path("photos/mug/001.png")]
    done = newfound("predict", "m", *files, "--top", 2, "--output", f"answers{suffix}")
    assert (done.code, done.out) == (0, "")
    rows = read(Path(f"answers{suffix}"))
    lines = newfound("predict", "m", *files, "--top", 2, "--json").out.splitlines()
    for row, line in zip(rows, map(json.loads, lines), strict=True):
        assert list(row) == [
            "file",
            "label",
            "known",
            "score",
            "unknown",
            "novelty",
            "label_2",
            "score_2",
        ]
        assert (row["file"], row["label"]) == (written(line["file"]), written(line["label"]))
        assert row["known"] == ("yes" if line["known"] else "no")
        assert float(row["score"]) == line["score"]
        assert float(row["unknown"]) == line["unknown"]
        assert float(row["novelty"]) == line["novelty"]
        assert row["label_2"] == written(line["top"][1]["label"])
        assert float(row["score_2"]) == line["top"][1]["score"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_table_has_no_more_columns_than_there_are_classes(model: Path, suffix: str) -> None:
    assert newfound("predict", "m", "photos/mug", "--top", 9, "-o", f"a{suffix}").code == 0
    lines = Path(f"a{suffix}").read_text().splitlines()
    separator = "," if suffix == ".csv" else "\t"
    assert {line.count(separator) for line in lines} == {9}


def test_answers_are_written_as_json_lines(model: Path) -> None:
    assert newfound("predict", "m", "photos/mug", "--output", "answers.jsonl").code == 0
    assert Path("answers.jsonl").read_text() == newfound("predict", "m", "photos/mug", "--json").out


def test_a_file_of_answers_is_whole_or_as_it_was(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("answers.csv").write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(Recogniser, "look_at_vectors", lambda *_: 1 / 0)
        assert newfound("predict", "m", "photos", "--output", "answers.csv").code == 70
    assert Path("answers.csv").read_text() == "old"
    done = newfound("predict", "m", "photos", "nothing.png", "--output", "answers.csv")
    assert (done.code, "36 answers in answers.csv" in done.err) == (3, True)
    assert len(Path("answers.csv").read_text().splitlines()) == 37


@pytest.mark.parametrize("name", ["answers.txt", "answers", "no/answers.csv", "folder.csv"])
def test_no_work_is_done_for_a_file_that_cannot_be_written(name: str, model: Path) -> None:
    Path("folder.csv").mkdir()
    model.unlink()  # which would be missed first
    done = newfound("predict", "m", "photos", "--output", name)
    assert (done.code, "--output" in done.err) == (2, True)


def test_a_class_called_unknown_does_not_look_like_the_verdict(model: Path) -> None:
    newfound("teach", "m", "photos/mug", "--as", "unknown (mug?)")
    taught = np.asarray(Image.open("photos/unknown/000.png"))
    Image.fromarray(taught // 2 + taught[::-1] // 4 + 20).save("new.png")  # nearly, but not that
    for above, verdict in ((1, "'unknown'"), (0, "unknown ('unknown'?)")):
        line = newfound("predict", "m", "new.png", "--unknown-above", above).out
        assert line.split("\t")[1] == verdict
    for above, known in ((1, True), (0, False)):
        options = ("--unknown-above", above, "--json")
        answer = json.loads(newfound("predict", "m", "new.png", *options).out)
        assert (answer["label"], answer["known"]) == ("unknown", known)
    line = newfound("predict", "m", "photos/mug/000.png", "--top", 3, "--unknown-above", 1).out
    assert {"mug", "'unknown (mug?)'"} <= set(line.split("\t"))


def test_a_class_called_like_a_sum_does_not_look_like_one(model: Path) -> None:
    newfound("rename", "m", "cup", "all images")
    out = newfound("evaluate", "m", "photos/cup", "--as", "all images").out
    assert [line.split("\t")[0] for line in out.splitlines()] == [
        "'all images'",
        "all images",
        "mean of classes",
    ]


def test_teaching_tells_what_it_takes_to_tell_what_is_unknown(tmp_path: Path) -> None:
    said = "It cannot tell yet what is unknown: that takes two classes with two images each."
    model = tmp_path / "m"
    for labels, can_tell in (["a", "b", "a"], False), (["b"], True):
        write_rows(tmp_path / "v.npz", labels, seed=len(labels))
        assert (said in newfound("teach", model, tmp_path / "v.npz").err) is not can_tell
        done = newfound("evaluate", model, tmp_path / "v.npz")
        assert (said in done.err) is not can_tell
        found = json.loads(newfound("inspect", model, "--json").out)
        assert (found["can_tell_unknown"], found["unknown_above"]) == (can_tell, 0.5)
        shown = (
            "0.5" if can_tell else "cannot tell yet: that takes two classes with two images each"
        )
        assert f"unknown above\t{shown}\n" in newfound("inspect", model).out
        assert f"sharpness\t{found['sharpness']:.4g}\n" in newfound("inspect", model).out


def test_a_model_with_fixed_parameters_calls_things_unknown_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(20, 6)) + 4 * np.eye(6)[[0, 1] * 10], ["a", "b"] * 10
    IncrementalRidgeClassifier().fit(rows, labels).save(tmp_path / "m")
    asked = tmp_path / "asked.npz"
    np.savez(asked, vectors=np.concatenate([4 * np.eye(6)[:1], -100 * np.ones((1, 6))]))
    said = newfound("predict", tmp_path / "m", asked, "--json").out.splitlines()
    assert [json.loads(line)["known"] for line in said] == [True, False]


def test_the_bound_of_a_model_is_used_unless_another_is_given(model: Path) -> None:
    def verdicts(*options: object) -> list[bool]:
        lines = newfound("predict", "m", "photos/mug", "--json", *options).out.splitlines()
        return [json.loads(line)["known"] for line in lines]

    assert all(verdicts())
    recogniser = Recogniser("m")
    recogniser.unknown_above = 0.0
    recogniser.save()
    assert not any(verdicts())
    assert all(verdicts("--unknown-above", 0.5))
    result = json.loads(newfound("evaluate", "m", "photos/mug", "--as", "mug", "--json").out)
    assert (result["known_called_unknown"], result["unknown_above"]) == (12, 0.0)
    assert "unknown above\t0\n" in newfound("inspect", "m").out
