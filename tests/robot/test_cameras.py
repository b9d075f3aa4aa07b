"""Cameras at RTSP addresses: the newest frame counts, and who hangs up is asked again."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from newfound import UnreadableImageError
from newfound.recognition.sources import Problem
from newfound.robot import cameras
from newfound.robot.cameras import Camera
from newfound.robot.crops import CENTRE, Crop
from newfound.robot.frames import Frame
from tests.background import PATIENCE
from tests.robot.clips import moving, write_clip
from tests.robot.rtsp_server import RtspServer


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RtspServer]:
    monkeypatch.setattr(cameras, "FIRST_PAUSE", 0.01)
    clip = write_clip(tmp_path / "a.ts", moving(1, 60), "mpeg2video", "yuv420p", 25, "mpegts")
    with RtspServer(clip) as running:
        yield running


def test_frames_come_as_they_are_taken_and_the_name_holds_no_password(server: RtspServer) -> None:
    with Camera(server.address, CENTRE) as camera:
        assert camera.is_live
        assert camera.total is None
        frames = list(islice(camera.frames(), 5))
    assert all(isinstance(frame, Frame) and frame.image.size == (48, 48) for frame in frames)
    times = [frame.time for frame in frames if isinstance(frame, Frame)]
    assert times == sorted(times)
    assert times[0] == 0
    assert "secret" not in frames[0].name
    assert frames[0].name.endswith("/door at 0:00.00")


@pytest.mark.slow
def test_who_hangs_up_is_asked_again(server: RtspServer) -> None:
    with Camera(server.address) as camera:
        frames = camera.frames()
        assert isinstance(next(frames), Frame)
        server.hang_up()
        while server.clients < 2:
            assert isinstance(next(frames), Frame)
        assert isinstance(next(frames), Frame)


def played_again(server: RtspServer, rounds: int) -> bool:
    """Wait until the server has sent its stream so often."""
    with server.changed:
        return server.changed.wait_for(lambda: server.rounds >= rounds, PATIENCE)


@pytest.mark.slow
def test_who_looks_slowly_gets_the_newest_and_nothing_piles_up(server: RtspServer) -> None:
    with Camera(server.address) as camera:
        frames = camera.frames()
        next(frames)
        played = server.rounds
        assert played_again(server, played + 200)
        assert isinstance(next(frames), Frame)
        assert camera.newest.dropped >= 100


def test_a_part_that_it_does_not_have_ends_it(server: RtspServer) -> None:
    with Camera(server.address, Crop.parse("0,0,99,9")) as camera:
        (problem,) = camera.frames()
    assert isinstance(problem, Problem)
    assert "does not lie in a frame of 64 x 48" in problem.reason


def test_where_no_camera_is_that_is_said_at_once() -> None:
    for address in ("rtsp://127.0.0.1:1/door", "camera:123", "/dev/video123"):
        with pytest.raises(UnreadableImageError, match="no camera"), Camera(address):
            pass
