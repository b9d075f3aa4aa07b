"""Options of commands that take videos and recordings beside photos."""

from typing import Annotated

import typer

from newfound.cli.option_kinds import count, flag

Every = Annotated[
    str | None,
    typer.Option(
        metavar="N|SECONDS",
        help="Use every Nth frame (5) or one every S seconds (0.5s) of a video or recording.",
    ),
]
AtMost = Annotated[
    int | None, count("Teach at most N frames of a label from each video or recording.")
]
Crop = Annotated[
    str | None,
    typer.Option(
        metavar="X,Y,W,H",
        help="Use only this part of each frame: left, top, width and height in pixels.",
    ),
]
Centre = Annotated[
    bool, flag("--centre", "Use only the largest square in the middle of each frame.")
]
Topic = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Topic of the images in a recording, as /camera/image/compressed. Needed only if "
        "there are several.",
    ),
]
Labels = Annotated[
    str,
    typer.Option(
        metavar="first|path|FILE.csv|/TOPIC",
        help="Label an image in photos/a/b by its first folder (first: a) or by its path (path: "
        "a/b). Label a video or recording by a .csv file with start, end and label, or by a topic "
        "of std_msgs/String in it.",
    ),
]
Smooth = Annotated[
    bool,
    flag(
        "--smooth",
        "Combine the evidence of successive frames, and answer once for each segment of a "
        "video in which they agree.",
    ),
]
