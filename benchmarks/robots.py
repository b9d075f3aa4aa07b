"""A robot on Zenoh, on the loopback: lessons by command, ages of answers, ten thousand frames.

A camera in a process of its own sends JPEGs of 640 x 480 in CDR; `newfound listen` answers; this
process gives commands, and hears the answers. Takes four minutes; `--quick` does a little of
everything, to see that it works: its numbers mean nothing.
"""

import argparse
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from itertools import count
from pathlib import Path
from statistics import median
from time import monotonic, time_ns
from typing import NamedTuple

import numpy as np
from PIL import Image
from tests.robot.camera import compressed
from tests.robot.process import Process
from tests.robot.recorder import Said
from tests.robot.zenoh_client import IMAGES, Client, free_port, session
from tests.studio.browser.film import frames, objects

from benchmarks.common import Measurement, table
from newfound.paper.timing import machine

TITLE = "Robots: what a listener on this machine bears"
PIXELS = ("--extractor", "pixels:size=8")
# An answer to an older frame is of no use to a robot, in milliseconds.
OLDEST = 200.0


class Size(NamedTuple):
    """How much is done."""

    seconds: float = 60.0  # of 15 frames a second
    frames: int = 10_000
    rate: float = 200.0  # frames a second of these
    network: bool = True  # or pixels


QUICK = Size(3.0, 500, 200.0, False)


def camera(port: int, rate: float) -> None:
    """Send frames of what stdin names: an object, and which half of its sides."""
    films = {
        (name, part): [*map(_jpeg, frames(name, part))] for name in objects()[:3] for part in (0, 1)
    }
    shown = [films[objects()[0], 0]]

    def read() -> None:
        for line in sys.stdin:
            name, part = line.split()
            shown[0] = films[name, int(part)]

    threading.Thread(target=read, daemon=True).start()
    with session(listen=[f"tcp/127.0.0.1:{port}"]) as opened:
        publisher, pause, began = opened.declare_publisher(IMAGES), threading.Event(), monotonic()
        print("ready", flush=True)
        for number in count():
            publisher.put(compressed(shown[0][number % len(shown[0])], time_ns()))
            pause.wait(max(0.0, began + (number + 1) / rate - monotonic()))


def _jpeg(image: Image.Image) -> bytes:
    held = BytesIO()
    image.save(held, "JPEG", quality=90)
    return held.getvalue()


class Heard(Client):
    """Keeps when each answer was heard, too."""

    def keep(self, where: list[Said], what: Said) -> None:
        super().keep(where, {**what, "heard": time_ns()})

    def pass_over(self, how_many: int) -> None:
        """Wait for so many more answers, and forget all."""
        self.answers.clear()
        self.wait_for_number(self.answers, how_many)


class Robot(NamedTuple):
    """Who takes part."""

    listener: Process
    client: Heard
    port: int  # the camera's


@contextmanager
def robot(*options: str) -> Iterator[Robot]:
    """Start a listener, which waits for a camera."""
    port, own = free_port(), free_port()
    addresses = "--connect", f"tcp/127.0.0.1:{port}", "--listen", f"tcp/127.0.0.1:{own}"
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "kitchen.newfound")
        words = "-m", "newfound", "listen", model, "--zenoh", IMAGES, "--commands"
        with Process(*words, *addresses, *options) as listener:
            listener.wait_for("Listening")
            with session(connect=[f"tcp/127.0.0.1:{own}"]) as opened:
                yield Robot(listener, Heard(opened), port)
            listener.end(signal.SIGTERM)


def filming(one: Robot, rate: float = 15.0) -> Process:
    """Start the camera."""
    return Process("-m", "benchmarks.robots", "--camera", str(one.port), "--rate", str(rate))


def nanoseconds(said: Said) -> int:
    return int(said["stamp"]["sec"] * 10**9 + said["stamp"]["nanosec"])


def teach(one: Robot, film: Process, name: str) -> int:
    """Show an object and teach it; return when the end of the lesson was heard."""
    film.tell(f"{name} 0")
    one.client.ask(f"teach {name}")
    told = one.client.wait(
        one.client.replies, lambda said: said["command"] == f"teach {name}" and "taught" in said
    )
    return int(told["heard"])


def live(size: Size) -> Iterator[Measurement]:
    """Fifteen frames a second: lessons, a camera that is killed, and the age of answers."""
    names = objects()[:3]
    with robot(*(() if size.network else PIXELS)) as one:
        answers = one.client.answers
        with filming(one) as film:
            one.client.wait(answers)
            for name in names[:2]:
                teach(one, film, name)
            taught = teach(one, film, names[2])
            film.tell(f"{names[2]} 1")  # sides that were never shown
            right = one.client.wait(
                answers, lambda said: nanoseconds(said) > taught and said["label"] == names[2]
            )
            seconds = (right["heard"] - taught) / 1e9
            after = _later(one, taught, 2.0)
            share = sum(said["label"] == names[2] for said in after) / len(after)
            note = f"{share:.0%} of {len(after)} frames of the next 2 s, of sides not shown before"
            yield Measurement(
                "a new object, from its lesson to the right answer", seconds, "s", 1.0, note=note
            )
            film.end(signal.SIGKILL)
        with filming(one) as film:
            film.wait_for("ready")
            again = time_ns()
            first = one.client.wait(answers, lambda said: nanoseconds(said) > again)
            yield Measurement(
                "a camera killed and started again, to its first answer",
                (first["heard"] - again) / 1e9,
                "s",
            )
            found = _later(one, time_ns(), size.seconds)
        yield ages(found, 15 * size.seconds)


def ages(found: list[Said], came: float) -> Measurement:
    """Say how old frames were when their answers were heard, while the listener kept up."""
    old = [(said["heard"] - nanoseconds(said)) / 1e6 for said in found]
    before = [found[0]["dropped"], *(said["dropped"] for said in found[:-1])]
    pairs = zip(old, found, before, strict=True)
    kept_up = [age for age, said, dropped in pairs if said["dropped"] == dropped]
    note = (
        f"median {median(old):.0f} ms, 99 % below {np.percentile(old, 99):.0f} ms; {len(old)} of "
        f"{came:.0f} frames answered; the oldest of all, also while others were dropped because a "
        f"core was missing, {max(old):.0f} ms"
    )
    what = "oldest frame answered while none was dropped, taken to heard"
    return Measurement(what, max(kept_up), "ms", OLDEST, note=note)


def _later(one: Robot, since: int, seconds: float) -> list[Said]:
    """Return the answers to frames of so many seconds, once they are heard."""
    until = since + int(seconds * 1e9)
    one.client.wait(one.client.answers, lambda said: nanoseconds(said) > until)
    return [said for said in list(one.client.answers) if since < nanoseconds(said) <= until]


def soak(size: Size) -> Iterator[Measurement]:
    """Many frames: memory from the first fifth of them on."""
    with robot(*PIXELS) as one, filming(one, size.rate) as film:
        client, levels = one.client, []
        client.wait(client.answers)
        for name in objects()[:2]:
            teach(one, film, name)
        began = monotonic()
        for part in range(6):
            client.pass_over(size.frames // 5 if part else 1)
            levels.append(_memory(one.listener.pid))
        seconds, state = monotonic() - began, client.ask("state")
    words = ", ".join(f"{level:.0f}" for level in levels)
    note = f"{words} MB at the start and after each fifth; {size.frames / seconds:.0f} frames/s"
    note += f", {state['dropped']} older ones dropped"
    what = f"memory that the last four fifths of {size.frames} frames add"
    yield Measurement(what, levels[-1] - levels[1], "MB", 5, note=note)


def _memory(pid: int) -> float:
    """Return how many MB a process holds."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


PARTS: dict[str, Callable[[Size], Iterable[Measurement]]] = {"live": live, "soak": soak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a little of everything")
    parser.add_argument("--camera", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--rate", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.camera is not None:
        camera(arguments.camera, arguments.rate)
        return
    if unknown := set(arguments.parts) - PARTS.keys():
        parser.error(f"no such part: {', '.join(unknown)}")
    size = QUICK if arguments.quick else Size()
    parts = [partial(PARTS[name], size) for name in arguments.parts or PARTS]
    print(table(TITLE, [found for part in parts for found in part()]))
    print(", ".join(f"{name} {value}" for name, value in machine().items()))


if __name__ == "__main__":
    main()
