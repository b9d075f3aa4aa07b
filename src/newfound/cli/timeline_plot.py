"""What a model says of footage as a figure: right, wrong or unknown, against time."""

from pathlib import Path
from typing import Any

from newfound.cli.console import printable, shortened
from newfound.common.extras import imported_from
from newfound.robot.timeline import FootageEvaluation, Moment, Said, Timeline

with imported_from("plots"):
    from matplotlib.figure import Figure

# Told apart also by those who do not see red and green, and in print.
VERDICTS = {"right": "#08519c", "unknown": "#bbbbbb", "wrong": "#d94801"}
# Of more footage than this, the first is drawn. Names are cut to so many letters.
MOST_DRAWN, LONGEST_NAME = 12, 20


def draw_timeline(result: FootageEvaluation, path: Path) -> None:
    """Draw what was said of each labelled frame, with what it shows, and save it.

    Parameters
    ----------
    result : FootageEvaluation
    path : path
        Its suffix says in which format.
    """
    drawn = [each for each in result.timelines if each.moments][:MOST_DRAWN]
    figure = Figure(figsize=(10, 0.6 + 1.9 * len(drawn)), layout="constrained")
    for axes, timeline in zip(figure.subplots(len(drawn), squeeze=False)[:, 0], drawn, strict=True):
        _draw(axes, timeline, result.smooth)
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper right", ncols=3, frameon=False)
    axes.set_xlabel("seconds since the beginning")
    figure.savefig(path, dpi=150)


def _draw(axes: Any, timeline: Timeline, smooth: bool) -> None:
    lanes = {"each frame": [moment.said for moment in timeline.moments]}
    if smooth:
        lanes["smoothed"] = [moment.smoothed for moment in timeline.moments]
    for lane, said in enumerate(lanes.values()):
        verdicts = list(map(_verdict, timeline.moments, said))
        for verdict, colour in VERDICTS.items():
            times = [
                moment.time
                for moment, each in zip(timeline.moments, verdicts, strict=True)
                if each == verdict
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
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)


def _verdict(moment: Moment, said: Said) -> str:
    if not said.known:
        return "unknown"
    return "right" if said.label == moment.shown else "wrong"


def _stretches(moments: list[Moment]) -> list[tuple[float, float, str]]:
    """Return when which label begins and ends.

    >>> said = Said("mug", True)
    >>> _stretches([Moment(time, "mug" if time < 2 else "cup", said, said) for time in range(4)])
    [(0, 1, 'mug'), (2, 3, 'cup')]
    """
    found: list[tuple[float, float, str]] = []
    for moment in moments:
        if found and found[-1][2] == moment.shown:
            found[-1] = (found[-1][0], moment.time, moment.shown)
        else:
            found.append((moment.time, moment.time, moment.shown))
    return found
