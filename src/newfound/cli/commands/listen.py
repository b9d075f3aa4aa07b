"""`newfound listen`: a model that looks at a robot's camera, and does what the robot says."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.errors import usage_errors
from newfound.cli.footage_options import Centre, Crop
from newfound.cli.listening import NOBODY, ListenOptions, run
from newfound.cli.models import EditedModel
from newfound.cli.option_kinds import duration, existing_file, flag
from newfound.cli.options import ExtractorName, Json, NewModel, Quiet, Wait
from newfound.cli.service_options import KeepThumbnails, KeepVectors

if TYPE_CHECKING:
    from newfound.robot.topics import Topics

NO_MASTER = "There is no master of ROS yet (roscore); waiting for it."

Zenoh = Annotated[
    str | None,
    typer.Option(metavar="TOPIC", help="Zenoh topic of the images, as camera/image/compressed."),
]
Ros1 = Annotated[
    str | None,
    typer.Option(metavar="TOPIC", help="ROS 1 topic of the images, as /camera/image_raw."),
]
Connect = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ADDRESS",
        help="Zenoh: connect to this router or peer, as tcp/192.168.1.7:7447, and receive all that "
        "it forwards. Default: peers found by multicast. May be repeated.",
    ),
]
Listen = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ADDRESS",
        help="Zenoh: accept connections at this address, as tcp/127.0.0.1:7447. May be repeated.",
    ),
]
ZenohConfig = Annotated[Path | None, existing_file("Zenoh: configuration file (JSON5).")]
Domain = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=232,
        help="Zenoh: ROS domain, if nodes use rmw_zenoh. Default: topics are named as "
        "zenoh-bridge-ros2dds names them.",
    ),
]
Prefix = Annotated[
    str, typer.Option(metavar="NAME", help="Prefix of published topics and of the command topic.")
]
TeachFor = Annotated[
    float, duration("Learn frames for this long on the command teach LABEL.", least=0.1)
]
HalfLife = Annotated[
    float,
    duration(
        "Halve the weight of a frame in later answers after this time; 0 answers from each frame "
        "alone.",
        most=60,
    ),
]
Ask = Annotated[
    bool,
    flag(
        "--ask",
        "Ask once about what stays unknown for a second, and keep the question for newfound inbox.",
    ),
]
Commands = Annotated[
    bool,
    flag(
        "--commands",
        "Do the commands of everybody who reaches the command topic. Default: all are refused.",
    ),
]
SecretFile = Annotated[
    Path | None,
    existing_file(
        "Do commands that are signed with the secret in this file, and no others: 32 bytes or "
        "more, readable by you alone."
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
    commands: Commands = False,
    secret_file: SecretFile = None,
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
    """Recognise what a robot's camera sees, and learn on command.

    \b
    newfound listen kitchen.newfound --zenoh camera/image/compressed
    newfound listen kitchen.newfound --zenoh camera/image/compressed --commands
    newfound listen kitchen.newfound --ros1 /camera/image_raw

    Answers are published under newfound/. With --commands or --secret-file, newfound/command
    takes: teach LABEL, stop, forget LABEL, rename OLD -> NEW, undo, redo, save, name NUMBER LABEL,
    dismiss NUMBER, state. If frames come too fast, only the newest is used. Every lesson is written
    to a journal beside the model at once: nothing is lost, whatever happens. SIGTERM or Ctrl-C ends
    it.
    """
    _check_source(zenoh, ros1, connect or listen or zenoh_config or domain is not None)
    if not re.fullmatch(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", prefix, re.ASCII):
        raise typer.BadParameter("a name has letters, digits, _ and /", param_hint="--prefix")
    from newfound.robot import crops

    if crop is not None and centre:
        raise typer.BadParameter("a frame has one part: --crop or --centre")
    secret = None if secret_file is None else _secret(secret_file)
    prefix = prefix.strip("/")
    open_topics: Callable[[], Topics]
    if zenoh is not None:
        from newfound.robot.zenoh_topics import Network, ZenohTopics

        network = Network(connect or (), listen or (), zenoh_config)
        open_topics, absent = partial(ZenohTopics, network, prefix, domain), NOBODY
    else:
        from newfound.robot.ros1_topics import Ros1Topics

        open_topics, absent = partial(Ros1Topics, prefix), NO_MASTER
    run(
        ListenOptions(
            model=EditedModel(model, extractor, keep_vectors, keep_thumbnails, wait),
            topic=zenoh or ros1 or "",
            open_topics=open_topics,
            absent=absent,
            prefix=prefix,
            teach_for=teach_for,
            half_life=half_life,
            ask=ask,
            crop=crops.CENTRE if centre else None if crop is None else crops.Crop.parse(crop),
            commands=commands,
            secret=secret,
            json=json,
            quiet=quiet,
        )
    )


def _secret(path: Path) -> bytes:
    """Return the secret in a file, or exit with wrong usage if it is none."""
    from newfound.robot.signing import read_secret

    with usage_errors():
        return read_secret(path)


def _check_source(zenoh: str | None, ros1: str | None, of_zenoh: object) -> None:
    """Exit with wrong usage unless images come from one place, and options are of it."""
    if (zenoh is None) == (ros1 is None):
        raise typer.BadParameter("say where images come from: --zenoh TOPIC or --ros1 TOPIC")
    if ros1 is not None and of_zenoh:
        raise typer.BadParameter("--connect, --listen, --zenoh-config and --domain are of Zenoh")
    if not (zenoh or ros1 or "").strip("/"):
        raise typer.BadParameter("an empty name is no topic")
