"""What footage shows when: spans of time with a label, from a file of them or from a topic."""

import csv
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from newfound.common.errors import InputError
from newfound.common.files import open_regular
from newfound.recognition.labels import check_label
from newfound.recognition.sources import Problem
from newfound.robot.frames import Frame
from newfound.sums.names import composed

# Numbers from here on are Unix time, in seconds: footage of three years has not been seen.
UNIX_TIME_FROM = 1e8
# What frames without a label are counted under.
OUTSIDE = "outside any label"
# The largest file of spans that is read, in bytes.
LARGEST_LABELS = 2**24
_TIME = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d*)?)")


class Span(NamedTuple):
    """From `start` to before `end`, in the time of the footage, this is shown."""

    start: float
    end: float
    label: Any


class Spans(list[Span]):
    """What is shown when, in order of time; none overlaps another.

    Examples
    --------
    >>> spans = Spans([Span(0, 2, "mug"), Span(5, 9, "cup")])
    >>> spans.at(1), spans.at(2), spans.at(5)
    ('mug', None, 'cup')
    """

    def at(self, time: float) -> Any:
        """Return the label at a time; None: there is none."""
        index = bisect_right(self, time, key=lambda span: span.start) - 1
        return self[index].label if index >= 0 and time < self[index].end else None


def labelled(
    frames: Iterable[Frame | Problem], label: Any, passed_over: Counter[str]
) -> Iterator[Frame | Problem]:
    """Yield frames that have a label, with it, and problems as they are.

    Parameters
    ----------
    frames : iterable of Frame or Problem
    label : str, bool or int, optional
        What all of them show. None: the frames say it.
    passed_over : Counter
        Frames without a label are counted in it.

    Yields
    ------
    Frame or Problem

    Examples
    --------
    >>> spans, passed_over = Spans([Span(1, 2, "mug")]), Counter()
    >>> frames = [Frame(None, time, f"at {time}", b"", spans.at(time)) for time in range(3)]
    >>> [(frame.name, frame.label) for frame in labelled(frames, None, passed_over)]
    [('at 1', 'mug')]
    >>> passed_over
    Counter({'outside any label': 2})
    """
    for frame in frames:
        if isinstance(frame, Problem):
            yield frame
            continue
        class_label = frame.label if label is None else label
        if class_label is None:
            passed_over[OUTSIDE] += 1
        else:
            yield frame._replace(label=class_label)


def texts_as_spans(texts: Sequence[tuple[float, str]]) -> Spans:
    """Return what a topic of texts says: each holds until the next, and an empty one is no label.

    Parameters
    ----------
    texts : sequence of (time, text)
        In order of time.

    Returns
    -------
    Spans

    Raises
    ------
    InputError
        If one cannot name a class.

    Examples
    --------
    >>> spans = texts_as_spans([(1.0, "mug"), (2.0, ""), (3.0, "cup")])
    >>> [spans.at(time) for time in (0.5, 1.5, 2.5, 99.0)]
    [None, 'mug', None, 'cup']
    """
    spans = Spans()
    for (start, text), (end, _) in pairwise((*texts, (math.inf, ""))):
        if label := composed(text.strip()):
            check_label(label)
            spans.append(Span(start, end, label))
    return spans


def read_spans(path: str | Path, start: float = 0.0) -> Spans:
    r"""Read what is shown when from a file: lines of start, end and label.

    Parameters
    ----------
    path : path
        Of a text in UTF-8, with commas, semicolons or tabs between. A first line of names is
        passed over. Times are seconds since the footage begins, 12.5, or minutes and seconds,
        1:02.5, or with hours, 1:00:02.5; numbers of 100,000,000 and more are Unix time. Where no
        end is given, a label holds until the next start, or until the footage ends.
    start : float, default=0.0
        When the footage begins.

    Returns
    -------
    Spans

    Raises
    ------
    InputError
        If there is no such file, or a line of it cannot be understood, or two spans overlap; it
        says which.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     file.write(b"start,end,label\n0:10,20,mug\n30,,cup\n") and file.flush()
    ...     spans = read_spans(file.name)
    >>> spans.at(15), spans.at(25), spans.at(3600)
    ('mug', None, 'cup')
    """
    lines = [(line, _span(path, line, cells, start)) for line, cells in _rows(path, _text_of(path))]
    if not lines:
        raise InputError(f"{path}: no line of start, end and label in it")
    lines.sort(key=lambda entry: entry[1].start)
    spans = Spans()
    for (line, span), (next_line, following) in pairwise((*lines, (0, Span(math.inf, 0, None)))):
        end = following.start if math.isnan(span.end) else span.end
        if following.start < end or following.start == span.start:
            raise InputError(
                f"{path}: the times of lines {min(line, next_line)} and {max(line, next_line)} "
                "overlap"
            )
        spans.append(span._replace(end=end))
    return spans


def _text_of(path: str | Path) -> str:
    try:
        with open_regular(path) as file:
            data = file.read(LARGEST_LABELS + 1)
        if len(data) > LARGEST_LABELS:
            raise InputError(f"{path}: too large for lines of start, end and label")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text in UTF-8") from error


def _rows(path: str | Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not empty, without a first of names."""
    lines = StringIO(text, newline=None).readlines()
    first = next((line for line in lines if line.strip()), "")
    between = next((mark for mark in "\t;" if mark in first), ",")
    reader = csv.reader(lines, delimiter=between, skipinitialspace=True)
    is_first = True
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and not (is_first and cells[0].lower() == "start"):
                # Where commas do not part the cells, they may stand in times: 1,5 is 1.5.
                times = [cell if between == "," else cell.replace(",", ".") for cell in cells[:2]]
                yield reader.line_num, times + cells[2:]
            is_first = is_first and not any(cells)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from error


def _span(path: str | Path, line: int, cells: list[str], start: float) -> Span:
    try:
        if len(cells) != 3:
            raise InputError(f"{len(cells)} parts, not the three of start, end and label")
        check_label(cells[2])
        begins = _seconds(cells[0], start)
        ends = _seconds(cells[1], start) if cells[1] else math.nan
        if ends <= begins:
            raise InputError(f"ends at {cells[1]}, not after its start at {cells[0]}")
        return Span(begins, ends, composed(cells[2]))
    except InputError as error:
        raise InputError(f"{path}, line {line}: {error}") from None


def _seconds(text: str, start: float) -> float:
    """Return a time in seconds, in the time of footage that begins at `start`.

    >>> _seconds("1:02.5", 1000.0), _seconds("1700000000", 1000.0)
    (1062.5, 1700000000.0)
    """
    parts = _TIME.fullmatch(text)
    if parts is None:
        raise InputError(f"{text!r} is no time: write seconds, as 12.5, or 1:02.5 or 1:00:02.5")
    hours, minutes, seconds = (float(part or 0) for part in parts.groups())
    since = 3600 * hours + 60 * minutes + seconds
    return since if since >= UNIX_TIME_FROM else start + since
