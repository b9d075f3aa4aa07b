"""Recordings that are cut, damaged or made up: what can be read is read, and nothing hangs."""

import contextlib
import io
import os
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from newfound.common.errors import InputError, NewfoundError
from newfound.recognition.sources import Problem
from newfound.robot.frames import Frame
from newfound.robot.messages import IMAGES, decode, read_image
from newfound.robot.recordings import Recording
from tests.effort import share_of
from tests.robot.bags import KINDS, compressed, encoded, image, text, write_bag

N = 40


def pixels(seed: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 255, (40, 60, 3), dtype=np.uint8)


def jpeg(seed: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels(seed)).save(file, "JPEG")
    return file.getvalue()


JPEG = jpeg(0)


def read(path: Path) -> tuple[list[Frame], list[Problem]]:
    """Frames and problems of a recording; none and one if it cannot be opened."""
    try:
        with Recording(path) as recording:
            found = list(recording.frames())
    except NewfoundError as error:
        found = [Problem(path.name, str(error))]
    good = [each for each in found if isinstance(each, Frame)]
    return good, [each for each in found if isinstance(each, Problem)]


def damaged_file(path: Path) -> Path:
    """The file of a recording that holds its messages."""
    return next(path.glob("run.*")) if path.is_dir() else path


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_of_a_recording_cut_short_all_that_is_left_is_read(kind: str, tmp_path: Path) -> None:
    path = write_bag(tmp_path, kind, [compressed(n, jpeg(n)) for n in range(N)])
    file = damaged_file(path)
    whole = file.read_bytes()
    before = 0
    for part in range(20):
        file.write_bytes(whole[: len(whole) * part // 20])
        frames, problems = read(path)
        assert problems, f"{part} of 20 parts, and nothing is said"
        assert all(problem.reason for problem in problems)
        assert before <= len(frames) <= N * part // 20 + 1
        before = len(frames)
    # One chunk of MCAP holds all of them here: packed, it is lost as a whole.
    assert before >= (0 if kind == "mcap-zstd" else N * 3 // 4)
    file.write_bytes(whole)
    assert [len(each) for each in read(path)] == [N, 0]


@pytest.mark.parametrize("kind", ["ros1", "db3", "mcap", "mcap-zstd"])
@settings(max_examples=share_of(40))
@given(data=st.data())
def test_whatever_bytes_change_nothing_but_our_errors_come(
    kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("bag")
    path = write_bag(folder, kind, [compressed(n, JPEG[:500]) for n in range(3)])
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 8))
        whole[at : at + 8] = data.draw(st.binary(min_size=8, max_size=8))
    path.write_bytes(whole)
    frames, problems = read(path)
    assert not frames  # half a JPEG each
    assert all(problem.reason for problem in problems)


@given(st.binary(max_size=200), st.sampled_from(IMAGES))
def test_random_bytes_are_read_or_refused(data: bytes, kind: str) -> None:
    for ros in (1, 2):
        with contextlib.suppress(InputError):  # and no other
            assert decode(data, kind, ros).__msgtype__ == kind


@given(st.integers(0, 10_000), st.binary(min_size=4, max_size=4), st.sampled_from(["raw", "jpeg"]))
def test_a_message_with_four_bytes_changed_is_read_or_refused(
    at: int, other: bytes, kind: str
) -> None:
    told = image(0, pixels(0)) if kind == "raw" else compressed(0, JPEG)
    data = bytearray(encoded(told, 2))
    at %= len(data) - 4 if at % 2 else 120  # half of them hit what comes before the pixels
    data[at : at + 4] = other
    for type in (None, told.type):
        with contextlib.suppress(InputError):  # and no other
            assert read_image(bytes(data), type).picture().mode == "RGB"


def test_a_folder_that_lies_about_its_files_opens_no_others(tmp_path: Path) -> None:
    path = write_bag(tmp_path, "sqlite3", [compressed(0, JPEG)])
    (tmp_path / "secret.db3").write_bytes(b"secret")
    metadata = path / "metadata.yaml"
    metadata.write_text(metadata.read_text().replace("run.db3", "../secret.db3"))
    frames, problems = read(path)
    assert len(frames) == 1  # of the file beside it
    assert "missing" in problems[0].reason
    metadata.write_text("rosbag2_bagfile_information: {version: [}")
    assert read(path)[1]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.mcap")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        Recording(tmp_path / "run.mcap").__enter__()


@pytest.mark.parametrize("kind", ["db3", "sqlite3"])
def test_what_lies_beside_a_database_is_told(kind: str, tmp_path: Path) -> None:
    path = write_bag(tmp_path, kind, [compressed(0, JPEG)])
    file = damaged_file(path)
    file.with_name("run.db3-wal").write_bytes(b"the last second")
    frames, (problem,) = read(path)
    assert len(frames) == 1
    assert problem.reason.startswith("what was recorded last lies in run.db3-wal and is not read")


def test_a_topic_of_labels_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    told = [each for n in range(20) for each in (text(n, f"thing {n}"), compressed(n, jpeg(n)))]
    path = write_bag(tmp_path, "mcap", told)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with Recording(path, labels="/label") as recording:
        *frames, last = recording.frames()
    assert isinstance(last, Problem)
    labels = [frame.label for frame in frames if isinstance(frame, Frame)]
    assert len(labels) > 5
    assert labels == [f"thing {n}" for n in range(len(labels))]


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize(
    ("column", "value", "frames_left"),
    [
        ("timestamp", "'soon'", range(3, 9)),  # where that ends the walk
        ("timestamp", "1e300", range(3, 10)),
        ("data", "10000000000", range(3, 9)),
        ("data", "'a text'", range(3, 9)),
        ("topic_id", "'none'", range(3, 9)),
    ],
)
def test_anything_may_stand_in_a_database(
    column: str, value: str, frames_left: range, is_cut: bool, tmp_path: Path
) -> None:
    path = write_bag(tmp_path, "db3", [compressed(n, JPEG) for n in range(9)])
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE messages SET {column} = {value} WHERE id = 4")
    database.close()
    if is_cut:
        path.write_bytes(path.read_bytes()[:-4096])
    frames, problems = read(path)
    assert len(frames) in frames_left
    assert problems or not is_cut


def test_a_view_that_never_ends_is_not_asked(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "run.db3") as database:
        database.execute("CREATE TABLE topics (id, name, type)")
        database.execute(
            "CREATE VIEW messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 "
            "FROM n) SELECT id, 1 AS topic_id, 0 AS timestamp, '' AS data FROM n"
        )
    database.close()
    with pytest.raises(InputError, match="nothing of it can be read"):
        Recording(tmp_path / "run.db3").__enter__()


def test_messages_of_a_wrong_type_on_a_topic_of_images_are_named(tmp_path: Path) -> None:
    for kind in ("ros1", "mcap"):
        words = encoded(text(1, "mug"), 1 if kind == "ros1" else 2)
        told = [compressed(0, JPEG), compressed(1, JPEG)._replace(data=words), compressed(2, JPEG)]
        path = write_bag(tmp_path / kind, kind, told)
        frames, (problem,) = read(path)
        assert len(frames) == 2
        assert problem.name == f"{path.name} at 0:01.00"
        assert problem.reason.startswith("not a sensor_msgs/msg/CompressedImage: ")
