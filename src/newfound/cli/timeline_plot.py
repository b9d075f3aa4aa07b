"""What a model says of footage as a figure: right, wrong or unknown, against time."""

from itertools import groupby
from pathlib import Path
from typing import Any

from newfound.cli.console import printable, shortened
from newfound.common.extras import imported_from
from newfound.robot.timeline import FootageEvaluation, FrameAnswer, Moment, Timeline

with imported_from("plots"):
    from matplotlib.figure import Figure

# Told apart also by those who do not see red and green, and in print.
VERDICTS = {"right": "#08519c", "unknown": "#bbbbbb", "wrong": "#d94801"}
# How much footage is drawn, and how many letters of a name.
MOST_DRAWN, LONGEST_NAME = 12, 20


def draw(result: FootageEvaluation, path: Path) -> None:
    """Draw the answer to each labelled frame, and its label, over time, and save the figure.

    Parameters
    ----------
    result : FootageEvaluation
    path : path
        Its suffix says in which format.
    """
    drawn = [timeline for timeline in result.timelines if timeline.moments][:MOST_DRAWN]
    figure = Figure(figsize=(10, 0.6 + 1.9 * len(drawn)), layout="constrained")
    for axes, timeline in zip(figure.subplots(len(drawn), squeeze=False)[:, 0], drawn, strict=True):
        _draw(axes, timeline, result.smooth)
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper right", ncols=3, frameon=False)
    axes.set_xlabel("seconds since the beginning")
    figure.savefig(path, dpi=150)


def _draw(axes: Any, timeline: Timeline, smooth: bool) -> None:
    lanes = {"each frame": [moment.answer for moment in timeline.moments]}
    if smooth:
        lanes["smoothed"] = [moment.smoothed for moment in timeline.moments]
    for lane, answers in enumerate(lanes.values()):
        for verdict, colour in VERDICTS.items():
            times = [
                moment.time
                for moment, answer in zip(timeline.moments, answers, strict=True)
                if _verdict(moment, answer) == verdict
            ]
            label = verdict if not lane else None
            axes.vlines(times, -lane - 0.4, -lane + 0.4, color=colour, linewidth=1, label=label)
    for start, end, shown in _stretches(timeline.moments):
        axes.axvline(start, color="black", linewidth=0.5, linestyle=":")
        name = shortened(printable(shown), LONGEST_NAME)
        axes.text(
            (start + end) / 2, 0.55, name, ha="center", va="bottom", fontsize=8, parse_math=False
        )
    axes.set_yticks([-lane for lane in range(len(lanes))], list(lanes))
    axes.set_ylim(-len(lanes) + 0.4, 1.1)
    axes.set_title(printable(timeline.name), loc="left", fontsize=9, parse_math=False)
    axes.spines[["top", "left", "right"]].set_visible(False)


def _verdict(moment: Moment, answer: FrameAnswer) -> str:
    if not answer.known:
        return "unknown"
    return "right" if answer.label == moment.shown else "wrong"


def _stretches(moments: list[Moment]) -> list[tuple[float, float, str]]:
    """Return when which label begins and ends.

    >>> answer = FrameAnswer("mug", True)
    >>> shown = ["mug", "mug", "cup", "cup"]
    >>> _stretches([Moment(time, label, answer, answer) for time, label in enumerate(shown)])
    [(0, 1, 'mug'), (2, 3, 'cup')]
    """
    stretches = [list(alike) for _, alike in groupby(moments, lambda moment: moment.shown)]
    return [(alike[0].time, alike[-1].time, alike[0].shown) for alike in stretches]
