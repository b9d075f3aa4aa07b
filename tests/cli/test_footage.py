"""Videos and cameras on the command line: taught, and asked about."""

import csv
import json
import signal
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from newfound import Recogniser
from newfound.features import Pixels
from newfound.recognition.editor import Editor
from newfound.recognition.evidence import Evidence, stretches
from newfound.robot.frames import Frame
from newfound.robot.looking import look
from newfound.robot.video import Video
from tests.command_line import newfound, on_terminal, write_pictures
from tests.robot.clips import moving, still, write_clip
from tests.robot.rtsp_server import RtspServer


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two things that go by, 8 different pictures each, three times; and both after each other."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEWFOUND_EXTRACTOR", "pixels:size=8")
    for thing, name in enumerate(["mug", "cup"]):
        write_clip(Path(f"{name}.avi"), moving(thing, 24), rate=10)
    write_clip(Path("both.avi"), chain(moving(0, 24), moving(1, 24)), rate=10)
    return tmp_path


@pytest.fixture
def taught() -> None:
    for name in ("mug", "cup"):
        assert newfound("teach", "m", f"{name}.avi", "--as", name).code == 0


def test_frames_that_differ_are_learned_and_the_others_are_counted() -> None:
    done = newfound("teach", "m", "mug.avi", "--as", "mug")
    assert done.code == 0
    assert not done.out
    assert "Learned 8 of 24 frames in " in done.err
    assert "Skipped 16 hardly different." in done.err
    assert Recogniser("m").counts == {"mug": 8}


@pytest.mark.slow
def test_taught_again_nothing_is_learned_unless_it_is_wished_for(taught: None) -> None:
    done = newfound("teach", "m", "mug.avi", "--as", "mug")
    assert "Learned 0 of 24 frames" in done.err
    assert "Skipped 16 hardly different, 8 taught already." in done.err
    assert newfound("teach", "m", "mug.avi", "--as", "mug", "--again").code == 0
    assert Recogniser("m").counts == {"cup": 8, "mug": 16}


def test_several_clips_are_one_lesson(taught: None) -> None:
    write_clip(Path("jug.avi"), moving(2, 8))
    write_clip(Path("jug2.avi"), moving(3, 8))
    assert newfound("teach", "m", "jug.avi", "jug2.avi", "--as", "jug").code == 0
    assert Recogniser("m").counts["jug"] == 16
    assert newfound("undo", "m").code == 0
    assert Recogniser("m").counts == {"cup": 8, "mug": 8}


@pytest.mark.parametrize(
    ("options", "learned", "said"),
    [
        (["--every", "2"], 4, "12 by --every, 8 hardly different"),
        (["--every", "1.2s"], 2, "22 by --every"),
        (["--at-most", "3"], 3, "1 beyond --at-most"),
        (["--centre"], 8, "16 hardly different"),
    ],
)
def test_less_of_a_clip_may_be_taught(options: list[str], learned: int, said: str) -> None:
    done = newfound("teach", "m", "mug.avi", "--as", "mug", *options)
    assert f"Learned {learned} of " in done.err
    assert said in done.err
    assert Recogniser("m").counts == {"mug": learned}


def test_the_part_that_is_asked_for_must_be_there() -> None:
    done = newfound("teach", "m", "mug.avi", "--as", "mug", "--crop", "0,0,65,48")
    assert done.code == 3
    assert "does not lie in a frame of 64 x 48 pixels" in done.err
    assert newfound("teach", "m", "mug.avi", "--as", "mug", "--crop", "1,0,63,48").code == 0


def test_a_file_says_what_is_shown_when() -> None:
    Path("labels.csv").write_text("start,end,label\n0,2.4,mug\n0:02.8,,cup\n")
    done = newfound("teach", "m", "both.avi", "--labels", "labels.csv")
    assert "Learned 16 of 48 frames" in done.err
    assert "4 outside any label" in done.err
    assert Recogniser("m").counts == {"cup": 8, "mug": 8}
    Path("labels.csv").write_text("0,9,\n")
    bad = newfound("teach", "m", "both.avi", "--labels", "labels.csv")
    assert bad.code == 2
    assert "labels.csv, line 1" in bad.err


def test_a_lesson_broken_off_and_run_again_learns_what_one_does_that_was_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clip = write_clip(Path("long.avi"), chain.from_iterable(moving(n, 8) for n in range(5)))
    whole = newfound("teach", "whole", clip, "--as", "mug")
    assert "Learned 40 of 40 frames" in whole.err

    def interrupted(*given: Any) -> Iterator[Any]:
        for number, each in enumerate(look(*given)):
            if number == 25:
                raise KeyboardInterrupt
            yield each

    with monkeypatch.context() as patch:
        patch.setattr("newfound.robot.teaching.look", interrupted)
        broken = newfound("teach", "m", clip, "--as", "mug")
    assert broken.code == 130
    assert "run it again to go on" in broken.err
    assert Recogniser("m").counts == {"mug": 16}  # a whole block
    assert "24 of 40 frames" in newfound("teach", "m", clip, "--as", "mug").err
    one, other = Recogniser("m"), Recogniser("whole")
    assert one.counts == other.counts
    assert one.taught.digests == other.taught.digests


def test_with_a_journal_every_frame_has_its_picture_and_time() -> None:
    Editor("m", "pixels:size=8").close()
    assert newfound("teach", "m", "mug.avi", "--as", "mug").code == 0
    with_journal = Editor("m", read_only=True)
    assert with_journal.recogniser.counts == {"mug": 8}
    kept = with_journal.journal.examples
    first, last = kept.thumbnail(1), kept.thumbnail(8)
    assert first
    assert last
    assert first != last
    assert first.startswith(b"\xff\xd8")
    sources = {kept.example(number).source for number in range(1, 9)}
    assert "mug.avi at 0:00.70" in sources
    assert len(sources) == 8
    with_journal.close()
    assert newfound("undo", "m").code == 0
    assert not Editor("m", read_only=True).recogniser.counts


def test_what_cannot_be_read_is_listed_and_the_rest_is_learned() -> None:
    Path("bad.mp4").write_bytes(b"#EXTM3U\nmug.avi\n")
    done = newfound("teach", "m", "bad.mp4", "mug.avi", "none.mp4", "--as", "mug")
    assert done.code == 3
    assert "bad.mp4: not a video that can be read" in done.err
    assert "none.mp4: no such file" in done.err
    assert Recogniser("m").counts == {"mug": 8}


def test_of_many_problems_some_are_listed() -> None:
    clip = write_clip(Path("tiny.avi"), [each[:1, :16] for each in still(0, 30)])
    done = newfound("teach", "m", clip, "--as", "mug")
    assert done.code == 3
    assert "30 could not be used" in done.err
    assert done.err.count("too small") == 20
    assert "and 10 more" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["teach", "m", "mug.avi"], "say what it shows with --as, or when with --labels"),
        (["teach", "m", "mug.avi", "a.jpg", "--as", "mug"], "mug.avi is footage and a.jpg is not"),
        (["teach", "m", "mug.avi", "--as", "mug", "--cluster", "local"], "--cluster"),
        (["teach", "m", "mug.avi", "--as", "mug", "--labels", "a.csv"], "and so does --as"),
        (["teach", "m", "mug.avi", "--labels", "path"], "a .csv file or a topic"),
        (["teach", "m", "mug.avi", "--as", ""], "a class needs a name"),
        (["teach", "m", "mug.avi", "--labels", "/topic"], "/topic"),
        (["teach", "m", "mug.avi", "--as", "mug", "--topic", "/a"], "mug.avi has no topics"),
        (["teach", "m", "photos", "--at-most", "3"], "that is for videos and recordings"),
        (["teach", "m", "photos", "--labels", "second"], "is not one of 'first', 'path'"),
        (["teach", "m", "mug.avi", "--as", "mug", "--every", "often"], "neither a number of"),
        (["teach", "m", "mug.avi", "--as", "mug", "--crop", "1,2"], "no part of a frame"),
        (["teach", "m", "mug.avi", "--as", "m", "--crop", "0,0,9,9", "--centre"], "--centre"),
        (["predict", "m", "photos", "--smooth"], "that is for videos and recordings"),
        (["predict", "m", "mug.avi", "--smooth", "--top", "2"], "a stretch has one answer"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage_and_changes_nothing(
    arguments: list[str], said: str, taught: None
) -> None:
    write_pictures(Path("photos/mug"), 0, range(2))
    before = Path("m").read_bytes()
    done = newfound(*arguments)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert Path("m").read_bytes() == before


def test_who_lacks_the_extra_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    monkeypatch.delitem(sys.modules, "newfound.robot.video", raising=False)
    done = newfound("teach", "m", "mug.avi", "--as", "mug")
    assert done.code == 1
    assert "pip install 'newfound[video]'" in done.err


def test_every_frame_is_answered_on_a_line(taught: None) -> None:
    done = newfound("predict", "m", "both.avi")
    lines = [line.split("\t") for line in done.out.splitlines()]
    assert done.code == 0
    assert len(lines) == 48
    assert lines[12][0] == "both.avi at 0:01.20"
    assert [line[1] for line in lines] == ["mug"] * 24 + ["cup"] * 24
    two = newfound("predict", "m", "both.avi", "--top", "2", "--every", "0.8s").out
    assert [len(line.split("\t")) for line in two.splitlines()] == [6] * 6


@pytest.mark.slow
def test_answers_of_frames_as_json_and_in_a_file(taught: None) -> None:
    lines = newfound("predict", "m", "both.avi", "--json", "--every", "10").out.splitlines()
    told = [json.loads(line) for line in lines]
    assert [each["time"] for each in told] == pytest.approx([0, 1, 2, 3, 4])
    assert told[1]["file"] == "both.avi at 0:01.00"
    assert told[4]["label"] == "cup"
    assert newfound("predict", "m", "both.avi", "-o", "a.csv", "--top", "2").code == 0
    with Path("a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 48
    assert float(rows[12]["time"]) == pytest.approx(1.2)
    assert {"label_2", "score_2"} < set(rows[0])


@pytest.mark.slow
def test_with_smooth_each_stretch_has_a_line_as_evidence_gives_them(taught: None) -> None:
    recogniser, evidence = Recogniser("m"), Evidence()
    with Video("both.avi") as video:
        frames = [frame for frame in video.frames() if isinstance(frame, Frame)]
    vectors = Pixels(size=8)([frame.image for frame in frames])
    answers = recogniser.look_at_vectors(vectors, top=2)
    bound = recogniser.unknown_above
    expected = list(
        stretches(
            (evidence.add(answer, frame.time, bound, vector), frame.time)
            for answer, frame, vector in zip(answers, frames, vectors, strict=True)
        )
    )
    lines = newfound("predict", "m", "both.avi", "--smooth", "--json").out.splitlines()
    told = [json.loads(line) for line in lines]
    assert [each["label"] for each in told] == ["mug", "cup"]
    assert [each["frames"] for each in told] == [each.frames for each in expected]
    assert [each["end"] for each in told] == pytest.approx([each.end for each in expected])
    rows = newfound("predict", "m", "both.avi", "--smooth").out.splitlines()
    assert rows[0].split("\t")[:4] == ["both.avi", "0:00.00", told_clock(told[0]["end"]), "mug"]
    assert newfound("predict", "m", "both.avi", "--smooth", "-o", "a.tsv").code == 0
    head, *others = Path("a.tsv").read_text().splitlines()
    assert head.split("\t") == ["file", "start", "end", "label", "known", "score", "frames"]
    assert len(others) == 2


def told_clock(seconds: float) -> str:
    """Return how a time below ten seconds is written."""
    return f"0:0{seconds:.2f}"


@pytest.mark.slow
def test_on_a_terminal_there_is_a_table_and_a_bar_that_knows_the_length(taught: None) -> None:
    code, seen = on_terminal("predict", "m", "both.avi", "--smooth")
    assert code == 0
    assert "48/48" in seen
    assert "from" in seen
    assert "0:00.00" in seen


@pytest.fixture
def camera(world: Path) -> Iterator[RtspServer]:
    stream = write_clip(
        Path("a.ts"), chain(moving(0, 24), moving(1, 24)), "mpeg2video", "yuv420p", 25, "mpegts"
    )
    with RtspServer(stream) as server:
        yield server


def test_a_camera_is_taught_until_there_is_enough(camera: RtspServer) -> None:
    done = newfound("teach", "m", camera.address, "--as", "mug", "--at-most", "3")
    assert done.code == 0
    assert "Learned 3 of " in done.err
    assert "secret" not in done.err + str(Recogniser("m").taught.digests)


def test_a_password_is_not_told_where_no_camera_answers() -> None:
    done = newfound("teach", "m", "rtsp://anna:p@ss@127.0.0.1:1/door", "--as", "mug")
    assert done.code == 3
    assert "rtsp://127.0.0.1:1/door: no camera answers there" in done.err


def test_a_camera_is_looked_at_until_someone_ends_it(
    camera: RtspServer, taught: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = Evidence.add
    seen = []

    def counted(self: Evidence, *given: Any) -> Any:
        seen.append(given)
        if len(seen) == 10:
            signal.raise_signal(signal.SIGINT)
        return frames(self, *given)

    monkeypatch.setattr(Evidence, "add", counted)
    done = newfound("predict", "m", camera.address, "--smooth")
    assert done.code == 130
    assert len(seen) == 10


def test_what_a_camera_showed_is_kept_when_someone_ends_the_lesson(
    camera: RtspServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any) -> Iterator[Any]:
        for number, each in enumerate(look(*given)):
            if number == 5:
                raise KeyboardInterrupt
            yield each

    monkeypatch.setattr("newfound.robot.teaching.look", interrupted)
    done = newfound("teach", "m", camera.address, "--as", "mug")
    assert done.code == 130
    assert Recogniser("m").counts["mug"] >= 1
