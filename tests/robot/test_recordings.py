"""Recordings of every kind as footage: topics, times, labels, and what is wrong with them."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from newfound.common.errors import InputError
from newfound.common.files import digest_of
from newfound.recognition.sources import Problem
from newfound.robot.bags import is_recording
from newfound.robot.frames import Frame
from newfound.robot.recordings import Recording
from tests.robot.bags import BEGIN, KINDS, Told, compressed, image, text, write_bag

RED = np.full((16, 24, 3), (250, 10, 20), dtype=np.uint8)


def jpeg(level: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (32, 24), (level, 255 - level, 0)).save(file, "JPEG")
    return file.getvalue()


def frames(recording: Recording) -> list[Frame]:
    found = list(recording.frames())
    assert all(isinstance(each, Frame) for each in found), found
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_recording_gives_the_same_frames(kind: str, tmp_path: Path) -> None:
    told = [text(0, "the recording begins"), *(compressed(2 + n, jpeg(n)) for n in range(5))]
    path = write_bag(tmp_path, kind, told)
    assert is_recording(path)
    with Recording(path) as recording:
        assert (recording.topic, recording.total) == ("/camera/compressed", 5)
        assert recording.start == BEGIN / 1e9
        found = frames(recording)
    assert [frame.time for frame in found] == [BEGIN / 1e9 + 2 + n for n in range(5)]
    assert [frame.digest for frame in found] == [digest_of(jpeg(n)) for n in range(5)]
    assert found[3].name == f"{path.name} at 0:05.00"
    assert found[3].image.getpixel((5, 5)) == Image.open(io.BytesIO(jpeg(3))).getpixel((5, 5))


def test_raw_images_are_read_beside_compressed_ones(tmp_path: Path) -> None:
    path = write_bag(tmp_path, "mcap", [compressed(0, jpeg(0)), image(1, RED)])
    with Recording(path, "/camera") as recording:
        (frame,) = frames(recording)
    assert frame.image.size == (24, 16)
    assert frame.image.getpixel((0, 0)) == (250, 10, 20)


def test_which_topic_is_meant_must_be_clear(tmp_path: Path) -> None:
    told = [image(0, RED), image(1, RED), image(2, RED, topic="/left"), text(3, "mug")]
    path = write_bag(tmp_path, "sqlite3", told)
    one = "/camera (2 of sensor_msgs/msg/Image)"
    with pytest.raises(InputError, match="2 topics of images; choose one of /camera") as error:
        Recording(path).__enter__()
    assert one in str(error.value)
    with pytest.raises(InputError, match="no topic /front in it, but ") as error:
        Recording(path, "/front").__enter__()
    assert one in str(error.value)
    with pytest.raises(InputError, match="/label is of std_msgs/msg/String, not of") as error:
        Recording(path, "/label").__enter__()
    with Recording(path, "left") as recording:  # as people type it
        assert len(frames(recording)) == 1
    none = write_bag(tmp_path / "texts", "mcap", [text(0, "mug")])
    with pytest.raises(InputError, match="no topic of images in it, but /label"):
        Recording(none).__enter__()


@pytest.mark.parametrize("kind", ["ros1", "mcap"])
def test_a_topic_of_texts_says_what_is_shown_until_the_next(kind: str, tmp_path: Path) -> None:
    told: list[Told] = [text(1.5, "mug"), text(3.5, ""), text(4.5, " cup ")]
    told += [compressed(n, jpeg(n)) for n in range(7)]
    path = write_bag(tmp_path, kind, sorted(told, key=lambda each: each.time))
    with Recording(path, labels="/label") as recording:
        shown = [frame.label for frame in frames(recording)]
    assert shown == [None, None, "mug", "mug", None, "cup", "cup"]
    with pytest.raises(InputError, match="is of sensor_msgs/msg/CompressedImage"):
        Recording(path, labels="/camera/compressed").__enter__()


def test_a_file_of_labels_counts_from_the_beginning_of_the_recording(tmp_path: Path) -> None:
    told = [text(0, ""), *(compressed(n, jpeg(n)) for n in range(10, 14))]
    path = write_bag(tmp_path, "mcap", told)
    labels = tmp_path / "labels.csv"
    labels.write_text(f"11,12,mug\n{BEGIN // 10**9 + 13},,cup\n")
    with Recording(path, labels=str(labels)) as recording:
        assert [frame.label for frame in frames(recording)] == [None, "mug", None, "cup"]


def test_a_bad_message_is_named_and_the_others_come(tmp_path: Path) -> None:
    lying = image(1, RED, width=640, height=480, step=1920)
    path = write_bag(
        tmp_path,
        "ros1",
        [image(0, RED), lying, image(2, RED)._replace(data=b"garbage"), image(3, RED)],
    )
    with Recording(path) as recording:
        good, lies, garbage, last = recording.frames()
    assert isinstance(good, Frame)
    assert isinstance(last, Frame)
    taken = "640 x 480 of rgb8 takes 921,600 bytes, but there are 1,152"
    assert lies == Problem("run.bag at 0:01.00", taken)
    assert isinstance(garbage, Problem)
    assert garbage.reason.startswith("not a sensor_msgs/msg/Image: ")


def test_what_is_no_recording_is_said(tmp_path: Path) -> None:
    (tmp_path / "metadata.yaml").write_text("name: not of ROS\n")
    assert not is_recording(tmp_path)
    assert not is_recording("photos/mug.jpg")
    (tmp_path / "text.mcap").write_text("This is a text.")
    with pytest.raises(InputError, match="nothing of it can be read"):
        Recording(tmp_path / "text.mcap").__enter__()
    (tmp_path / "100%.db3").touch()
    with pytest.raises(InputError, match="SQLite takes no"):
        Recording(tmp_path / "100%.db3").__enter__()
