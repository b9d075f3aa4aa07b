"""What footage shows when: files of spans as people write them, and what is wrong with them."""

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.common.errors import InputError
from newfound.common.limits import LONGEST_LABEL
from newfound.recognition.sources import Problem
from newfound.robot.frames import Frame
from newfound.robot.labels import OUTSIDE, Span, Spans, labelled, read_spans, texts_as_spans

START = 1_700_000_000.0


def spans(tmp_path: Path, content: str | bytes, start: float = 0.0) -> list[Span]:
    path = tmp_path / "labels.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_spans(path, start))


@pytest.mark.parametrize(
    "content",
    [
        "0,62.5,mug\n62.5,3600,cup\n",
        "start,end,label\r\n0,1:02.5,mug\r\n1:02.5,1:00:00,cup\r\n",
        "\ufeffStart;End;Label\n0;1:02,5;mug\n62,5;3600,0;cup\n",
        "0\t62.5\tmug\n\n62.5\t60:00\tcup",
        '62.5, 3600, "cup"\r0, 62.5, mug\r',
        "0,,mug\n62.5,3600,cup\n",
    ],
)
def test_people_write_the_same_in_many_ways(tmp_path: Path, content: str) -> None:
    assert spans(tmp_path, content) == [Span(0, 62.5, "mug"), Span(62.5, 3600, "cup")]


def test_times_count_from_the_start_unless_they_are_unix_time(tmp_path: Path) -> None:
    content = f"10,20,mug\n{START + 30},,a cup; or two\n"
    expected = [Span(START + 10, START + 20, "mug"), Span(START + 30, math.inf, "a cup; or two")]
    assert spans(tmp_path, content, START) == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("0,10,mug\n5,15,cup\n", "the times of lines 1 and 2 overlap"),
        ("start,end,label\n9,10,mug\n0,,cup\n9,,jar\n", "the times of lines 2 and 4 overlap"),
        ("0,10,mug\n\n11,12\n", "line 3: 2 parts, not the three of start, end and label"),
        ("0,10,a,b\n", "line 1: 4 parts"),
        ("0,10,mug\nsoon,12,cup\n", "line 2: 'soon' is no time"),
        ("-1,12,cup\n", "line 1: '-1' is no time"),
        ("nan,12,cup\n", "is no time"),
        ("10,10,mug\n", "line 1: ends at 10, not after its start at 10"),
        ("0,10,\n", "line 1: a class needs a name"),
        ("0,10,mug\u200b\n", "line 1: .*ZERO WIDTH SPACE"),
        ("0,10," + "x" * (LONGEST_LABEL + 1), "line 1: label holds a label of .* characters"),
        ("", "no line of start, end and label in it"),
        ("start,end,label\n", "no line of start, end and label in it"),
        (b"\xff\xfe0\0", "not a text in UTF-8"),
    ],
)
def test_what_cannot_be_understood_is_said_with_its_line(
    tmp_path: Path, content: str | bytes, said: str
) -> None:
    with pytest.raises(InputError, match=r"labels\.csv.*" + said):
        spans(tmp_path, content)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_spans(tmp_path / "none.csv")


@given(st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["", "mug", "cup"])), max_size=8))
def test_a_text_holds_until_the_next(texts: list[tuple[int, str]]) -> None:
    texts.sort(key=lambda each: each[0])
    told = texts_as_spans([(float(time), text) for time, text in texts])
    for time in range(51):
        said = [text for when, text in texts if when <= time]
        assert told.at(time + 0.5) == ((said and said[-1]) or None)


def test_frames_outside_any_label_are_counted_and_problems_pass() -> None:
    spans = Spans([Span(0, 1, "mug"), Span(3, 9, "cup")])
    frames: list[Frame | Problem] = [
        Frame(None, n, f"{n}", b"", spans.at(n))  # type: ignore[arg-type]
        for n in range(4)
    ]
    frames.insert(1, problem := Problem("1", "damaged"))
    counted = Counter[str]()
    first, passed, last = labelled(frames, None, counted)
    assert isinstance(first, Frame)
    assert isinstance(last, Frame)
    assert (first.label, passed, last.label) == ("mug", problem, "cup")
    assert counted == {OUTSIDE: 2}
    all_of_them = [each for each in labelled(frames, "mug", counted) if isinstance(each, Frame)]
    assert [frame.label for frame in all_of_them] == ["mug"] * 4
    assert list(labelled([first], None, counted)) == [first]  # it says so itself
