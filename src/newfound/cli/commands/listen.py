"""`newfound listen`: a model that looks at a robot's camera, and does what the robot says."""

import re
from pathlib import Path
from typing import Annotated

import typer

from newfound.cli.footage_options import Centre, Crop
from newfound.cli.listening import Wishes, run
from newfound.cli.options import ExtractorName, Json, NewModel, Quiet, Wait
from newfound.cli.service import KeepThumbnails, KeepVectors

Zenoh = Annotated[
    str | None,
    typer.Option(
        metavar="TOPIC",
        help="Topic of images on Zenoh, as camera/image/compressed.",
        show_default=False,
    ),
]
Ros1 = Annotated[
    str | None,
    typer.Option(
        metavar="TOPIC", help="Topic of images in ROS 1, as /camera/image_raw.", show_default=False
    ),
]
Connect = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ADDRESS",
        help="Zenoh: connect to this router or peer, as tcp/192.168.1.7:7447, and hear all that "
        "it passes on. By default whoever multicast finds. May be given several times.",
        show_default=False,
    ),
]
Listen = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ADDRESS",
        help="Zenoh: let others connect to this address, as tcp/127.0.0.1:7447.",
        show_default=False,
    ),
]
ZenohConfig = Annotated[
    Path | None,
    typer.Option(
        help="Zenoh: a configuration file of its own (JSON5).",
        exists=True,
        dir_okay=False,
        show_default=False,
    ),
]
Domain = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=232,
        help="Zenoh: the ROS domain, if nodes speak through rmw_zenoh. By default topics are "
        "called as zenoh-bridge-ros2dds calls them.",
        show_default=False,
    ),
]
Prefix = Annotated[str, typer.Option(metavar="NAME", help="What names of its own begin with.")]
TeachFor = Annotated[float, typer.Option(min=0.1, help="Seconds that teach LABEL takes.")]
HalfLife = Annotated[
    float,
    typer.Option(
        min=0,
        max=60,
        help="Seconds after which a frame counts half in the answer; 0 answers each by itself.",
    ),
]
Ask = Annotated[
    bool,
    typer.Option(
        "--ask",
        help="Announce what is unknown for a second, once, and keep it to be named: newfound inbox "
        "shows it.",
    ),
]


def listen(
    model: NewModel,
    zenoh: Zenoh = None,
    ros1: Ros1 = None,
    connect: Connect = None,
    listen: Listen = None,
    zenoh_config: ZenohConfig = None,
    domain: Domain = None,
    prefix: Prefix = "newfound",
    teach_for: TeachFor = 3.0,
    half_life: HalfLife = 0.5,
    ask: Ask = False,
    crop: Crop = None,
    centre: Centre = False,
    extractor: ExtractorName = None,
    keep_vectors: KeepVectors = None,
    keep_thumbnails: KeepThumbnails = None,
    wait: Wait = 0.0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Answer what a robot's camera sees, live, and learn when it says so.

    \b
    newfound listen kitchen.newfound --zenoh camera/image/compressed
    newfound listen kitchen.newfound --ros1 /camera/image_raw

    Answers are published below newfound/. Commands on newfound/command: teach LABEL, stop, forget
    LABEL, rename OLD -> NEW, undo, redo, save, name NUMBER LABEL, dismiss NUMBER, state. The newest
    frame counts. Every lesson is written down at once: nothing is lost, whatever happens. SIGTERM
    or Ctrl-C ends it.
    """
    _check_source(zenoh, ros1, connect or listen or zenoh_config or domain is not None)
    if not re.fullmatch(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", prefix, re.ASCII):
        raise typer.BadParameter("a name has letters, digits, _ and /", param_hint="--prefix")
    from newfound.robot.crops import CENTRE
    from newfound.robot.crops import Crop as Part

    if crop is not None and centre:
        raise typer.BadParameter("a frame has one part: --crop or --centre")
    network = None
    if zenoh is not None:
        from newfound.robot.zenoh_topics import Network

        network = Network(connect or (), listen or (), zenoh_config)
    run(
        Wishes(
            model=model,
            topic=zenoh or ros1 or "",
            network=network,
            domain=domain,
            prefix=prefix.strip("/"),
            teach_for=teach_for,
            half_life=half_life,
            ask=ask,
            crop=CENTRE if centre else None if crop is None else Part.parse(crop),
            extractor=extractor,
            keep_vectors=keep_vectors,
            keep_thumbnails=keep_thumbnails,
            wait=wait,
            json=json,
            quiet=quiet,
        )
    )


def _check_source(zenoh: str | None, ros1: str | None, of_zenoh: object) -> None:
    """Exit with wrong usage unless images come from one place, and options are of it."""
    if (zenoh is None) == (ros1 is None):
        raise typer.BadParameter("say where images come from: --zenoh TOPIC or --ros1 TOPIC")
    if ros1 is not None and of_zenoh:
        raise typer.BadParameter("--connect, --listen, --zenoh-config and --domain are of Zenoh")
    if not (zenoh or ros1 or "").strip("/"):
        raise typer.BadParameter("an empty name is no topic")
