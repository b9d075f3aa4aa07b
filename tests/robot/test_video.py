"""Videos in files: every format that cameras write, and every way in which one can be broken."""

import os
import threading
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from newfound import UnreadableImageError
from newfound.features import images
from newfound.recognition.sources import Problem, digest_of_pixels
from newfound.robot import video as video_module
from newfound.robot.crops import CENTRE, Crop
from newfound.robot.frames import Frame
from newfound.robot.video import Video
from tests.robot.clips import moving, scene, still, turn, write_clip


def read(path: Path, *options: Any) -> tuple[list[Frame], list[Problem]]:
    """Return the frames of a video, and its problems."""
    with Video(path, *options) as video:
        found = list(video.frames())
    return (
        [each for each in found if isinstance(each, Frame)],
        [each for each in found if isinstance(each, Problem)],
    )


def off(frame: Frame, picture: Any) -> float:
    """Return how far a frame is from a picture, in grey levels in the mean."""
    return float(np.abs(np.asarray(frame.image, float) - picture).mean())


@pytest.mark.parametrize(
    ("name", "codec", "pixels", "format"),
    [
        ("clip.mp4", "libx264", "yuv420p", None),
        ("ten-bit.mkv", "libx264", "yuv444p10le", None),
        ("clip.avi", "mjpeg", "yuvj420p", None),
        ("clip.webm", "libvpx-vp9", "yuv420p", None),
        ("clip.mjpeg", "mjpeg", "yuvj420p", "mjpeg"),
        ("no-times.ts", "libx264", "yuv420p", "h264"),
        ("clip.y4m", "wrapped_avframe", "yuv420p", "yuv4mpegpipe"),
        ("alpha.mov", "qtrle", "argb", None),
        ("clip.ts", "libx264", "yuv420p", "mpegts"),
        ("clip.mpg", "mpeg2video", "yuv420p", None),
        ("clip.wmv", "wmv2", "yuv420p", "asf"),
        ("clip.3gp", "mpeg4", "yuv420p", "3gp"),
    ],
)
def test_every_frame_of_every_format_is_read_in_order(
    tmp_path: Path, name: str, codec: str, pixels: str, format: str | None
) -> None:
    pictures = list(moving(1, 8))
    frames, problems = read(
        write_clip(tmp_path / name, pictures, codec, pixels, rate=25, format=format)
    )
    assert not problems
    assert len(frames) == 8
    for frame, picture in zip(frames, pictures, strict=True):
        best = min(range(8), key=lambda n, frame=frame: off(frame, pictures[n]))  # type: ignore[misc]
        assert np.array_equal(pictures[best], picture), frame.name
    np.testing.assert_allclose([frame.time for frame in frames], np.arange(8) / 25, atol=2e-3)
    assert [frame.name for frame in frames][3] == f"{name} at 0:00.12"


def test_grey_and_transparent_pictures_become_rgb(tmp_path: Path) -> None:
    (grey, *_), _ = read(write_clip(tmp_path / "grey.mkv", moving(1, 2), "ffv1", "gray"))
    assert grey.image.mode == "RGB"
    assert np.ptp(np.asarray(grey.image), axis=2).max() == 0
    path = tmp_path / "glass.mov"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("qtrle", rate=5)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "argb"
        clear = av.VideoFrame.from_ndarray(np.zeros((32, 32, 4), np.uint8), format="argb")
        container.mux(stream.encode(clear))
        container.mux(stream.encode())
    (glass,), _ = read(path)
    assert np.asarray(glass.image).min() == 255


def test_a_frame_is_known_by_the_pixels_that_are_looked_at(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.avi", moving(1, 3))
    whole, _ = read(path)
    again, _ = read(path)
    part, _ = read(path, Crop.parse("8,0,32,48"))
    assert [frame.digest for frame in whole] == [frame.digest for frame in again]
    assert len({frame.digest for frame in whole + part}) == 6
    assert part[0].digest == digest_of_pixels(whole[0].image.crop((8, 0, 40, 48)))


def test_times_are_those_of_the_frames_and_not_of_a_rate(tmp_path: Path) -> None:
    times = [5.0, 5.1, 5.7, 9.0]
    frames, _ = read(write_clip(tmp_path / "clip.mkv", moving(1, 4), rate=10, times=times))
    np.testing.assert_allclose([frame.time for frame in frames], [0, 0.1, 0.7, 4.0], atol=1e-3)


def test_the_length_is_known_before_the_end(tmp_path: Path) -> None:
    for name in ("clip.mp4", "clip.mkv"):
        with Video(write_clip(tmp_path / name, moving(1, 9), "mpeg4", "yuv420p")) as video:
            assert video.total == 9


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_video_taken_on_its_side_is_upright(tmp_path: Path, quarters: int) -> None:
    path = write_clip(tmp_path / "phone.mp4", [scene(1)], "libx264", "yuv420p")
    (before, *_), _ = read(path)
    turn(path, quarters)
    (after, *_), _ = read(path)
    assert np.array_equal(np.asarray(after.image), np.rot90(np.asarray(before.image), -quarters))


def test_labels_say_what_is_shown_when(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("0.2,0.4,mug\n")
    path = write_clip(tmp_path / "clip.avi", moving(1, 6), rate=10)
    frames, _ = read(path, None, str(tmp_path / "labels.csv"))
    assert [frame.label for frame in frames] == [None, None, "mug", "mug", None, None]


def test_a_part_that_no_frame_has_is_said_once(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.avi", moving(1, 6))
    frames, problems = read(path, Crop.parse("0,0,65,48"))
    assert not frames
    assert problems == [
        Problem("clip.avi at 0:00.00", "0,0,65,48 does not lie in a frame of 64 x 48 pixels")
    ]


def test_a_video_may_change_its_size_midway(tmp_path: Path) -> None:
    large = write_clip(tmp_path / "large.mjpeg", still(1, 3), format="mjpeg").read_bytes()
    small = [picture[:24, :32] for picture in still(1, 3)]
    path = tmp_path / "both.mjpeg"
    path.write_bytes(
        large + write_clip(tmp_path / "small.mjpeg", small, format="mjpeg").read_bytes()
    )
    frames, problems = read(path)
    assert [frame.image.size for frame in frames] == [(64, 48)] * 3 + [(32, 24)] * 3
    squares, _ = read(path, CENTRE)
    assert [frame.image.size for frame in squares] == [(48, 48)] * 3 + [(24, 24)] * 3
    frames, problems = read(path, Crop.parse("0,0,48,48"))
    assert len(frames) == len(problems) == 3


LISTS = {
    "hls": "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{url}\n#EXT-X-ENDLIST\n",
    "concat": "ffconcat version 1.0\nfile '{url}'\n",
    "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
    "m=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
    "dash": '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static">'
    "<Period><AdaptationSet><Representation><BaseURL>{url}</BaseURL></Representation>"
    "</AdaptationSet></Period></MPD>",
}


@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("ending", ["mp4", "ts"])
def test_a_list_of_other_files_opens_none_of_them(tmp_path: Path, kind: str, ending: str) -> None:
    other = write_clip(tmp_path / "other.ts", moving(1, 3), "mpeg2video", "yuv420p", 25, "mpegts")
    fifo = tmp_path / "fifo.ts"
    os.mkfifo(fifo)
    opened = threading.Event()

    def watch() -> None:
        with fifo.open("wb"):  # returns when somebody reads it
            opened.set()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    for url in (other, f"file:{other}", fifo):
        path = tmp_path / f"clip.{ending}"
        path.write_text(LISTS[kind].format(url=url))
        with pytest.raises(UnreadableImageError, match="not a video"), Video(path):
            pass
    assert not opened.is_set()
    with fifo.open("rb"):
        watcher.join()


def test_what_is_no_video_is_named(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "clip.mp4", moving(1, 4), "libx264", "yuv420p").read_bytes()
    for name, data in {"empty": b"", "text": b"hello\n" * 99, "no end": clip[:-400]}.items():
        (tmp_path / "bad.mp4").write_bytes(data)
        with pytest.raises(UnreadableImageError, match="not a video"), Video(tmp_path / "bad.mp4"):
            raise AssertionError(name)
    with pytest.raises(UnreadableImageError, match="no such file"), Video(tmp_path / "none.mp4"):
        pass
    with pytest.raises(UnreadableImageError, match="a folder"), Video(tmp_path):
        pass


def test_sound_without_pictures_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "song.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with pytest.raises(UnreadableImageError, match="no picture"), Video(path):
        pass


def test_pictures_that_are_too_large_are_not_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_clip(tmp_path / "clip.mp4", moving(1, 2), "libx264", "yuv420p")
    assert video_module.LIMITS["max_pixels"] == str(images.LARGEST_PIXELS)
    monkeypatch.setattr(images, "LARGEST_PIXELS", 1000)
    with pytest.raises(UnreadableImageError, match=r"64 x 48 pixels, more than the 1,000"):
        Video(path).__enter__()


def test_damage_in_the_middle_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4", moving(1, 30), "libx264", "yuv420p")
    data = bytearray(path.read_bytes())
    middle = data.index(b"mdat") + 1500
    data[middle : middle + 600] = b"\xff" * 600
    path.write_bytes(data)
    frames, problems = read(path)
    assert problems
    assert frames
    assert len(frames) + len(problems) == 30
    assert all(name.startswith("clip.mp4 at 0:0") for name, _ in problems)
    assert all("damaged" in reason for _, reason in problems)


def test_a_clip_cut_short_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.ts", moving(1, 30), "mpeg2video", "yuv420p", 25, "mpegts")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    frames, _ = read(path)
    assert 5 < len(frames) < 30


@pytest.mark.parametrize("name", ["clip.mp4", "clip.avi", "clip.mkv", "clip.ts"])
def test_whatever_is_broken_nothing_else_is_raised(tmp_path: Path, name: str) -> None:
    whole = write_clip(tmp_path / name, moving(1, 6), "mpeg4", "yuv420p").read_bytes()
    rng = np.random.default_rng(0)
    outcomes = set()
    for _ in range(40):
        data = np.frombuffer(whole, np.uint8).copy()
        places = rng.integers(0, len(data), 30)
        data[places] = rng.integers(0, 256, 30)
        (tmp_path / name).write_bytes(data[: rng.integers(1, len(data) + 1)].tobytes())
        try:
            frames, problems = read(tmp_path / name)
            outcomes.add(("read", bool(frames), bool(problems)))
        except UnreadableImageError:
            outcomes.add(("refused", False, False))
    assert len(outcomes) > 1
