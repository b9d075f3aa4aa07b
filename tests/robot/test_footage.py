"""Footage by its name, looked at in order, and taught."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from newfound import InputError, Recogniser
from newfound.features import Pixels
from newfound.recognition.lesson import Lesson
from newfound.recognition.sources import Problem
from newfound.robot.cameras import Camera
from newfound.robot.footage import is_footage, open_footage
from newfound.robot.frames import Frame
from newfound.robot.looking import look
from newfound.robot.recordings import Recording
from newfound.robot.teaching import FootageLesson
from newfound.robot.video import Video
from tests.robot.clips import moving


def test_a_name_tells_what_is_footage(tmp_path: Path) -> None:
    for name in ("a.mp4", "A.MOV", "x/y.ts", "rtsp://h/x.jpg", "RTSPS://h", "/dev/video0", "r.bag"):
        assert is_footage(name), name
    for name in ("a.jpg", "mp4", "camera:", "camera:x", "s3://b/a.mp4", "http://h/a.mp4", "-", ""):
        assert not is_footage(name), name
    folder = tmp_path / "run"
    folder.mkdir()
    assert not is_footage(str(folder))
    (folder / "metadata.yaml").write_text("rosbag2_bagfile_information:\n  version: 5\n")
    assert is_footage(str(folder))


def test_each_kind_is_opened_by_what_reads_it() -> None:
    assert isinstance(open_footage("a.mp4"), Video)
    assert isinstance(open_footage("camera:0"), Camera)
    assert isinstance(open_footage("run.mcap", topic="/camera"), Recording)
    with pytest.raises(InputError, match=r"a\.mp4 has no topics"):
        open_footage("a.mp4", topic="/camera")
    with pytest.raises(InputError, match="camera:0 is live"):
        open_footage("camera:0", labels="a.csv")


def frames_of(things: Iterable[tuple[int, str]], n: int = 8) -> list[Frame | Problem]:
    """Return frames of things that go by, with their labels."""
    return [
        Frame(
            Image.fromarray(picture), step / 10, f"{label} {step}", bytes([thing, step] * 8), label
        )
        for thing, label in things
        for step, picture in enumerate(moving(thing, n))
    ]


@pytest.mark.parametrize("is_live", [False, True])
def test_frames_keep_their_order_and_their_own_vectors(is_live: bool) -> None:
    frames = frames_of([(n, "mug") for n in range(12)])
    tiny = Frame(Image.new("RGB", (1, 1)), 0.0, "tiny", b"")
    given = [*frames[:50], Problem("lost", "damaged"), tiny, *frames[50:]]
    problems: list[Problem] = []
    extractor = Pixels(size=4)
    looked = list(look(given, extractor, problems, is_live))
    assert [frame for frame, _ in looked] == frames
    expected = extractor([frame.image for frame in frames if isinstance(frame, Frame)])
    np.testing.assert_array_equal([vector for _, vector in looked], expected)
    assert [problem.name for problem in problems] == ["lost", "tiny"]


def test_live_frames_are_looked_at_one_at_a_time() -> None:
    asked: list[int] = []

    def live() -> Iterable[Frame | Problem]:
        for number, frame in enumerate(frames_of([(0, "mug")])):
            asked.append(number)
            yield frame

    looked = look(live(), Pixels(size=4), [], is_live=True)
    next(looked)
    assert asked == [0]


def test_large_frames_are_looked_at_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted() -> Iterable[Frame | Problem]:
        for number, frame in enumerate(frames_of([(n, "mug") for n in range(12)])):
            asked.append(number)
            yield frame

    monkeypatch.setattr("newfound.robot.looking.ROOM", 10 * 64 * 48 * 3)
    looked = look(counted(), Pixels(size=4), [])
    next(looked)
    assert len(asked) <= 11
    assert len(list(looked)) == 95


def test_each_label_is_thinned_by_itself() -> None:
    lesson = Lesson(Recogniser(extractor="pixels:size=8"))
    teaching = FootageLesson(lesson, at_most=5)
    # The same pictures under two labels are lessons of both.
    teaching.run([*frames_of([(0, "mug"), (0, "cup")]), Problem("lost", "damaged")])
    assert lesson.recogniser.counts == {"cup": 5, "mug": 5}
    assert teaching.skipped == {"beyond --at-most": 6}
    assert teaching.seen == 17
    assert lesson.problems == [Problem("lost", "damaged")]
    teaching.run(frames_of([(1, "mug")]))  # of other footage, as many again
    assert lesson.recogniser.counts == {"cup": 5, "mug": 10}
