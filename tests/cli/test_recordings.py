"""Recordings on the command line: taught and evaluated with labels on a track."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from newfound.cli.timeline_plot import VERDICTS
from tests.command_line import newfound, picture
from tests.robot.bags import image, text, write_bag

SMALL = ("--extractor", "pixels:size=8")
# What is shown from when on, and a label that nobody taught.
TRACK = [(0, "cup"), (10, "mug"), (20, ""), (25, "jar"), (30, "")]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two recordings of a track, one to teach and one to ask about, and files of labels."""
    folder = tmp_path_factory.mktemp("world")
    for name, first in (("taught", 0), ("asked", 500)):
        told = [text(time, label) for time, label in TRACK]
        for n in range(70):
            thing = sum(time <= n / 2 for time, _ in TRACK)
            pixels = np.asarray(picture(first + n, thing).convert("RGB"))
            told.append(image(n / 2, pixels))
        told.append(image(35, pixels, width=4000))
        write_bag(folder / name, "mcap", sorted(told, key=lambda each: each.time))
    (folder / "labels.csv").write_text("start,end,label\n0,10,cup\n0:10,0:20,mug\n25,30,jar\n")
    (folder / "lesson.csv").write_text("0,10,cup\n10,20,mug\n")
    lesson = (folder / "taught/run.mcap", "--labels", folder / "lesson.csv", *SMALL)
    done = newfound("teach", folder / "kitchen.newfound", *lesson)
    assert done.code == 3, done.err  # one message lies about its size
    assert "4000 x 8 of rgb8" not in done.out
    assert "run.mcap at 0:35.00: rows of 24 bytes, but 4000 pixels of rgb8 take 12,000" in done.err
    assert "outside any label" in done.err
    return folder


@pytest.mark.slow
def test_both_ways_to_say_what_is_shown_give_the_same(world: Path) -> None:
    model, asked = world / "kitchen.newfound", world / "asked/run.mcap"
    by_file = newfound("evaluate", model, asked, "--labels", world / "labels.csv", "--json")
    by_topic = newfound("evaluate", model, asked, "--labels", "/label", "--json")
    assert by_file.code == by_topic.code == 3
    assert by_file.out == by_topic.out
    result = json.loads(by_file.out)
    assert result["n"] == 50
    assert result["per_class"] == {"cup": 1.0, "jar": 0.0, "mug": 1.0}
    assert (result["never_taught"], result["unreadable"]) == (["jar"], 1)


@pytest.mark.slow
def test_accuracy_against_time_adds_up_to_all_of_it(world: Path) -> None:
    command = ("evaluate", world / "kitchen.newfound", world / "asked/run.mcap", "--smooth")
    done = newfound(*command, "--labels", world / "labels.csv", "--json")
    result = json.loads(done.out)
    parts = result["over_time"]
    assert {part["footage"] for part in parts} == {"run.mcap"}
    assert sum(part["frames"] for part in parts) == result["n"]
    for name, part_name in ((result, "right"), (result["smoothed"], "smoothed_right")):
        right = sum(part["frames"] * part[part_name] for part in parts)
        assert right / result["n"] == pytest.approx(name["accuracy"])
    assert parts[0]["start"] == 0.0
    assert parts[-1]["end"] == pytest.approx(29.5)
    assert parts[-1]["right"] == 0.0  # of what nobody taught
    lines = newfound(*command, "--labels", world / "labels.csv").out.splitlines()
    assert lines[0].split("\t")[:2] == ["cup", "20"]
    assert lines[3].split("\t")[:2] == ["all frames", "50"]
    first = lines[lines.index("") + 1].split("\t")
    assert first[:4] == ["run.mcap", "0:00.00", "0:02.95", "6"]
    assert len(first) == 7


@pytest.mark.slow
def test_the_timeline_is_drawn(world: Path, tmp_path: Path) -> None:
    command = ("evaluate", world / "kitchen.newfound", world / "asked/run.mcap", "--quiet")
    labels = ("--labels", world / "labels.csv")
    done = newfound(*command, *labels, "--smooth", "--timeline", tmp_path / "timeline.png")
    assert done.code == 3
    drawn = np.asarray(Image.open(tmp_path / "timeline.png").convert("RGB")).astype(int)

    def is_drawn(colour: str) -> bool:
        wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
        return bool((np.abs(drawn - wanted).sum(axis=2) < 10).any())

    assert is_drawn(VERDICTS["right"])
    assert is_drawn(VERDICTS["wrong"]) or is_drawn(VERDICTS["unknown"])  # the jar
    done = newfound(*command, "--as", "cup", "--timeline", tmp_path / "timeline.svg")
    assert (tmp_path / "timeline.svg").stat().st_size


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["run.mcap"], "say what it shows with --as, or when with --labels"),
        (["run.mcap", "--labels", "/camera"], "/camera is of sensor_msgs/msg/Image, not of"),
        (["run.mcap", "--as", "mug", "--topic", "/front"], "no topic /front in it, but /camera"),
        (["run.mcap", "--labels", "none.csv"], "none.csv: no such file"),
        (["run.mcap", "--as", "mug", "--unknown", "."], "that is for photos"),
        (["run.mcap", "photos", "--as", "mug"], "is footage and photos is not"),
        (["photos", "--timeline", "timeline.png"], "that is for videos and recordings"),
        (["camera:0", "--as", "mug"], "a camera has no end"),
    ],
)
def test_wrong_usage_is_explained(
    world: Path, options: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world / "asked")
    done = newfound("evaluate", world / "kitchen.newfound", *options)
    assert done.code == 2
    assert said in " ".join(done.err.replace("│", " ").split())


def test_a_recording_that_cannot_be_read_is_named(world: Path, tmp_path: Path) -> None:
    (tmp_path / "run.bag").write_text("This is a text.")
    done = newfound("evaluate", world / "kitchen.newfound", tmp_path / "run.bag", "--as", "mug")
    assert done.code == 1
    assert "run.bag: nothing of it can be read (File magic is invalid)" in done.err
