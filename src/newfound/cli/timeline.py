"""How often a model is right about footage, in words: in all, and as time goes on."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from newfound.cli.console import Console, emit, plural, print_table
from newfound.cli.footage import FootageInputs, check_shown

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Recogniser
    from newfound.robot.timeline import FootageEvaluation


def evaluate_footage(
    recogniser: "Recogniser",
    chosen: FootageInputs,
    label: str | None,
    unknown_above: float | None,
    smooth: bool,
    console: Console,
) -> "FootageEvaluation":
    """Look at all footage that was chosen, and say how many of its frames have no label."""
    from newfound.robot.timeline import FootageEvaluation

    if chosen.is_live:
        raise typer.BadParameter("a camera has no end: record it first")
    check_shown(chosen, label)
    result = FootageEvaluation(recogniser, unknown_above, smooth)
    for footage in chosen.open_each(result.plain.unreadable):
        frames = console.progress(footage.frames(), footage.total, footage.name)
        considered = chosen.every.of(frames, result.passed_over)
        result.add(considered, label, name=footage.name, start=footage.start)
    for why, n in result.passed_over.items():
        console.info(f"Passed over: {plural(n, 'frame')} {why}")
    return result


def to_json(result: "FootageEvaluation") -> dict[str, Any]:
    """Return all of it in values that JSON can hold."""
    parts = [
        {"footage": timeline.name, **part._asdict()}
        for timeline in result.timelines
        for part in timeline.parts()
    ]
    smoothed = {"smoothed": result.smoothed.to_json()} if result.smooth else {}
    for part in parts if not result.smooth else ():
        del part["smoothed_right"]
    return {**result.plain.to_json(), **smoothed, "over_time": parts}


def print_over_time(result: "FootageEvaluation") -> None:
    """Print how often it was right in each part of the time."""
    smoothed = ["smoothed, %"] if result.smooth else []
    columns = ["footage", "from", "to", "frames", "right, %", *smoothed, "unknown, %"]
    emit("")
    print_table(columns, _lines(result), len(columns) - 1)


def _lines(result: "FootageEvaluation") -> Iterator[list[object]]:
    from newfound.robot.frames import clock

    for timeline in result.timelines:
        for part in timeline.parts():
            shares = [part.right, *([part.smoothed_right] if result.smooth else []), part.unknown]
            times = [clock(part.start), clock(part.end)]
            yield [timeline.name, *times, part.frames, *(f"{100 * share:.1f}" for share in shares)]
