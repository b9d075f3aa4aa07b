"""Options of commands that take videos and recordings beside photos."""

from typing import Annotated

import typer

Every = Annotated[
    str | None,
    typer.Option(
        metavar="N|SECONDS",
        help="Of a video or recording, take every so many frames, as 5, or one in so many seconds, "
        "as 0.5s.",
        show_default=False,
    ),
]
AtMost = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Of each video or recording, teach at most so many frames of a label.",
        show_default=False,
    ),
]
Crop = Annotated[
    str | None,
    typer.Option(
        metavar="X,Y,W,H",
        help="Of each frame, take this part: its left upper corner, width and height in pixels.",
        show_default=False,
    ),
]
Centre = Annotated[
    bool, typer.Option("--centre", help="Of each frame, take the largest square in its middle.")
]
Topic = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The topic of a recording that holds the images, as /camera/image/compressed. It need "
        "not be said where there is only one.",
        show_default=False,
    ),
]
Labels = Annotated[
    str,
    typer.Option(
        metavar="first|path|FILE.csv|/TOPIC",
        help="Label an image in photos/a/b by its first folder, a, or by its path, a/b. For a "
        "video or recording, a .csv file of start, end and label, or a topic of std_msgs/String in "
        "it, says what is shown when.",
    ),
]
Smooth = Annotated[
    bool,
    typer.Option(
        "--smooth",
        help="Add the evidence of frames that follow each other, and give one answer for each "
        "stretch of a video that agrees.",
    ),
]
