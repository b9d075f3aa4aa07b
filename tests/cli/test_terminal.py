"""What reaches a terminal: nothing that commands it, and lines that fit."""

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

from newfound.cli.console import shortened
from newfound.features.identity import Identity
from newfound.recognition.recogniser import Recogniser
from tests.command_line import Done, newfound, on_terminal, write_pictures, write_rows
from tests.old_labels import relabel

# Escapes, a bell, DEL, a C1 control, bidirectional overrides, and a line that is none of ours.
EVIL = "\x1b[31mred\x1b]0;pwn\x07\x7f\x9b2J\u202e\u2066\rnewfound: all is well"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
PIXELS = ("--extractor", "pixels:size=8")


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def is_clean(done: Done) -> bool:
    return not FORBIDDEN.search(done.out) and not FORBIDDEN.search(done.err)


@pytest.fixture
def hostile() -> None:
    """A model, photos and vectors in which every name is hostile."""
    evil = Path(EVIL)
    write_pictures(evil / EVIL, 0, range(4))
    write_pictures(evil / f"other {EVIL}", 1, range(4))
    (evil / EVIL / f"{EVIL}.png").write_text("no picture")
    for folder, label in ((EVIL, "one"), (f"other {EVIL}", "two")):
        newfound("teach", f"{EVIL}.nf", evil / folder, "--as", label, *PIXELS)
    relabel(Path(f"{EVIL}.nf"), {"one": EVIL, "two": f"other {EVIL}"})
    rows, made_by = np.random.default_rng(0).normal(size=(8, 5)), Identity(EVIL, output=EVIL)
    recogniser = Recogniser()
    recogniser.teach_vectors(rows, ["a"] * 4 + ["b"] * 4, extractor=made_by)
    recogniser.knowledge.rename("a", EVIL, any_label=True)
    recogniser.save("stranger.nf")
    identity = json.dumps(Identity(EVIL).to_json())
    rows[3, 2] = np.nan
    np.savez(
        f"{EVIL}.npz",
        vectors=rows,
        labels=[EVIL] * 8,
        files=[EVIL] * 8,
        extractor=identity,
    )
    Path(f"junk {EVIL}").write_text("junk")
    write_rows(Path("plain.npz"), ["a"] * 4, width=5)


@pytest.mark.parametrize(
    "words",
    [
        ("teach", f"new {EVIL}", EVIL, *PIXELS),
        ("teach", f"{EVIL}.nf", "plain.npz"),
        ("teach", "stranger.nf", "plain.npz"),
        ("teach", "stranger.nf", f"{EVIL}.npz"),
        ("teach", "new.nf", f"{EVIL}.npz", "--no-class-sums"),
        ("teach", "stranger.nf", EVIL, "--as", EVIL),
        ("teach", "new.nf", EVIL, "--extractor", EVIL),
        ("teach", f"no {EVIL}/m", EVIL),
        ("teach", f"junk {EVIL}", EVIL),
        ("predict", "stranger.nf", EVIL),
        ("predict", f"{EVIL}.nf", EVIL, f"{EVIL}.png", f"{EVIL}.npz"),
        ("predict", f"{EVIL}.nf", EVIL, "--top", "2", "--unknown-above", "0"),
        ("predict", f"{EVIL}.nf", EVIL, "--json"),
        ("predict", f"{EVIL}.nf", EVIL, "--output", f"{EVIL}.csv"),
        ("predict", f"{EVIL}.nf", EVIL, "--output", f"{EVIL}.exe"),
        ("predict", f"missing {EVIL}", EVIL),
        ("evaluate", f"{EVIL}.nf", EVIL),
        ("evaluate", f"{EVIL}.nf", EVIL, "--as", f"never {EVIL}"),
        ("evaluate", f"{EVIL}.nf", EVIL, "--output", f"{EVIL}.png"),
        ("evaluate", f"{EVIL}.nf", EVIL, "--output", f"{EVIL}.exe"),
        ("evaluate", f"{EVIL}.nf", EVIL, "--unknown", EVIL, "--roc", f"{EVIL}.png"),
        ("evaluate", f"{EVIL}.nf", EVIL, "--unknown", f"no {EVIL}", "--roc", f"{EVIL}.exe"),
        ("inspect", f"{EVIL}.nf"),
        ("inspect", f"{EVIL}.nf", "--json"),
        ("inspect", "stranger.nf"),
        ("inspect", f"junk {EVIL}"),
        ("inspect", f"{EVIL}.nf", f"unexpected {EVIL}"),
        ("inspect", "stranger.nf", f"--{EVIL}"),
        ("forget", f"{EVIL}.nf", f"{EVIL}/{EVIL}", "--as", f"not {EVIL}"),
        ("forget-class", f"{EVIL}.nf", f"not {EVIL}"),
        ("forget-class", f"{EVIL}.nf", EVIL),
        ("rename", f"{EVIL}.nf", EVIL, f"new {EVIL}"),
        ("rename", f"{EVIL}.nf", EVIL, f"other {EVIL}"),
        ("merge", f"{EVIL}.nf", "stranger.nf", "-o", "both"),
        ("merge", f"{EVIL}.nf", f"{EVIL}.nf", "-o", f"both {EVIL}"),
        ("undo", f"{EVIL}.nf"),
        ("undo", f"no {EVIL}.nf"),
        ("features", EVIL, "-o", f"out {EVIL}.npz", *PIXELS),
        ("features", EVIL, "-o", f"no {EVIL}/out.npz"),
        ("demo", "--output", f"{EVIL}/no/demo.png"),
        (EVIL,),
        ("--debug", "inspect", f"junk {EVIL}"),
    ],
    ids=lambda words: ascii(" ".join(words))[:60],
)
def test_no_command_lets_a_stranger_command_the_terminal(
    words: tuple[str, ...], hostile: None
) -> None:
    done = newfound(*words)
    assert is_clean(done), done
    assert done.code in (0, 1, 2, 3)
    assert done.out + done.err


def test_warnings_are_shown_without_commands_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def warn(*_: Any) -> None:
        warnings.warn(f"beware of {EVIL}", UserWarning, stacklevel=1)
        raise OSError(5, EVIL, EVIL)

    write_rows(Path("v.npz"), ["a", "b"] * 3)
    newfound("teach", "m", "v.npz")
    monkeypatch.setattr("newfound.storage.format.read", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = newfound("inspect", "m")
    assert (done.code, is_clean(done), "beware of" in done.err) == (1, True, True)


LONG = "a long name of a folder/" + "x" * 60


def widest(seen: str) -> int:
    """Return how many columns the widest line takes, without colours and progress."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen).split("\r")[-1]
    return max(map(cell_len, plain.splitlines()))


@pytest.mark.slow
def test_tables_fit_a_terminal_of_80_columns() -> None:
    for thing, name in enumerate(("cup", "茶" * 60, "l" * 1000)):
        rows = np.random.default_rng(thing).normal(3 * thing, 1, size=(8, 5))
        np.savez(f"{thing}.npz", vectors=rows, files=[f"{LONG}/{i:03}.jpg" for i in range(8)])
        assert newfound("teach", "m", f"{thing}.npz", "--as", name).code == 0
    for words in (
        ("predict", "m", "0.npz", "1.npz", "2.npz", "--quiet"),
        ("predict", "m", "0.npz", "1.npz", "--top", "3", "--quiet"),
        ("evaluate", "m", "2.npz", "--as", "l" * 100, "--quiet"),
        ("inspect", "m"),
    ):
        code, seen = on_terminal(*words)
        assert code == 0, seen
        assert widest(seen) <= 80, seen
    _, seen = on_terminal("predict", "m", "0.npz", "--top", "3", "--quiet")
    lines = [line for line in seen.splitlines() if "│" in line]
    assert len(lines) == 8 * 3  # a line for each guess; the file is named beside the first
    assert all("/007.jpg" in line for line in lines[-3:-2])
    assert sum(".jpg" in line for line in lines) == 8


def test_what_is_too_long_loses_its_middle() -> None:
    assert shortened("mug", 3) == "mug"
    assert shortened("photos/0001.jpg", 10) == "pho…01.jpg"
    for width in range(1, 30):
        for text in ("a" * 40, "茶" * 40, "a茶" * 20):
            assert width - 2 <= cell_len(shortened(text, width)) <= width


@pytest.mark.slow
def test_joining_two_classes_is_asked_for_on_a_terminal() -> None:
    write_rows(Path("v.npz"), ["cup", "mug", "pot"] * 5)
    newfound("teach", "m", "v.npz")
    before = Path("m").read_bytes()
    done = newfound("rename", "m", "mug", "cup")
    assert (done.code, done.out) == (1, "")
    assert "There is a class cup already, so nothing was done: --force joins the two." in done.err
    code, seen = on_terminal("rename", "m", "mug", "cup", typed=b"n\n")
    assert code == 1
    assert "There is a class cup already. Should mug become part of it? [y/N]" in seen
    assert Path("m").read_bytes() == before
    code, seen = on_terminal("rename", "m", "mug", "cup", typed=b"y\n")
    assert (code, "mug is now part of cup." in seen) == (0, True)
    assert Recogniser("m").model.classes_.tolist() == ["cup", "pot"]
    newfound("undo", "m")
    assert newfound("rename", "m", "mug", "cup", "--force").code == 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_data_that_cannot_be_written_is_said_to_be_stdout() -> None:
    write_rows(Path("v.npz"), ["cup", "mug"] * 5)
    newfound("teach", "m", "v.npz")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "newfound", "inspect", "m"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "newfound: stdout: No space left on device" in done.stderr
