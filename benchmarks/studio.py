"""What the studio bears: its start, the price of a frame, fifty clients, ten thousand frames.

`--quick` does a little of everything, to see that it works; its numbers mean nothing.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

import httpx
import numpy as np
from tests.studio.browser.film import frames, objects
from tests.studio.clients import Client, Look, client
from tests.studio.pictures import jpeg, picture
from tests.studio.process import Studio, studio

from benchmarks.common import Measurement, table
from newfound.common.threads import cores
from newfound.features import EfficientNetLite0
from newfound.features.images import as_rgb
from newfound.paper.timing import machine

TITLE = "Studio: what a service on this machine bears"
PIXELS = ("serve", "--extractor", "pixels:size=8")


class Size(NamedTuple):
    """How much is done."""

    starts: int = 5
    looks: int = 200  # of one client alone
    clients: int = 50
    teachers: int = 5
    rate: float = 5.0  # frames a second that each client shows
    lessons: float = 2.0  # and lessons a second that each teacher gives, at most
    seconds: float = 60.0
    frames: int = 10_000
    network: bool = True  # or pixels
    requests: int = 5_000


QUICK = Size(1, 5, 4, 2, 5.0, 5.0, 2.0, 400, False, 60)


def film() -> list[bytes]:
    """Return pictures as the page sends them: squares of 224 x 224 of a film."""
    return [jpeg(frame) for name in objects()[:3] for frame in frames(name, 0)]


def starts(size: Size) -> Iterator[Measurement]:
    """From the command to the first answer, and to the first lesson that is recognised."""
    image = film()[0]

    async def first_lesson(served: Studio) -> None:
        async with client(served.live) as one:
            await one.teach(image, "mug")
            assert (await one.look(image)).answer["label"] == "mug"

    answered, recognised = [], []
    for _ in range(size.starts):
        with tempfile.TemporaryDirectory() as folder:
            served, began = Studio(Path(folder) / "kitchen.newfound"), perf_counter()
            try:
                answered.append(served.start())
                asyncio.run(first_lesson(served))
                recognised.append(perf_counter() - began)
            finally:
                if served.process is not None:
                    served.kill()
    yield Measurement("start, to the first answer", median(answered), "s", 5.0)
    note = f"longest of {size.starts}: {max(recognised):.1f} s"
    yield Measurement(
        "start, to the first lesson recognised", median(recognised), "s", 15.0, note=note
    )


async def _looks(one: Client, images: list[bytes], how_many: int) -> list[Look]:
    return [await one.look(images[number % len(images)]) for number in range(how_many)]


def frame(size: Size, served: Studio) -> Iterator[Measurement]:
    """A frame through the WebSocket, beside the bare network in this process, in turns."""
    images, network = film(), EfficientNetLite0()
    batch = np.empty((1, *network.prepare.shape), dtype=np.float32)
    network.prepare(as_rgb(images[0], smallest=network.smallest), out=batch[0])

    async def turns() -> Iterator[tuple[float, float, float]]:
        """Return seconds of the network and of a look, and seconds of a core for the network."""
        found = []
        async with client(served.live) as one:
            for number in range(size.looks):
                began, busy = perf_counter(), process_time()
                network.run(batch)
                bare, busy = perf_counter() - began, process_time() - busy
                look = await one.look(images[number % len(images)])
                found.append((bare, look.seconds, busy))
        return zip(*found, strict=True)

    before = served.busy()
    bare, through, alone = map(median, asyncio.run(turns()))
    busy = (served.busy() - before) / size.looks
    note = f"{1e3 * through:.1f} ms; the network alone {1e3 * bare:.1f} ms"
    what = "a frame through the WebSocket, to the network alone"
    yield Measurement(what, through / bare, "ratio", 1.3, note=note)
    note = f"{1e3 * busy:.1f} ms; the network alone {1e3 * alone:.1f} ms"
    yield Measurement("the same, as time of a core", busy / alone, "ratio", 1.3, note=note)


class Load(NamedTuple):
    """What clients saw."""

    looks: list[Look]
    dropped: int
    refused: int
    lessons: int  # acknowledged
    seconds: float


async def _show(served: Studio, images: list[bytes], size: Size, start: int) -> Client:
    """Show frames at a steady rate, whether answers come or not."""
    loop = asyncio.get_running_loop()
    async with client(served.live) as one:
        began = loop.time() + start / size.clients / size.rate  # not all in one moment
        for number in range(int(size.seconds * size.rate)):
            await asyncio.sleep(began + number / size.rate - loop.time())
            await one.send(images[(start + number) % len(images)])
        await one.ping()
        return one


async def _teach(served: Studio, size: Size, teacher: int) -> int:
    """Teach pictures that nobody taught before, and return how many were acknowledged."""
    loop, done = asyncio.get_running_loop(), 0
    async with client(served.live) as one:
        end = loop.time() + size.seconds
        for number in count():
            began = loop.time()
            if began >= end:
                return done
            image = picture(teacher, 10_000 * teacher + number, 224)
            key = f"lesson-{teacher}-{number}"
            done += bool((await one.teach(image, f"thing {teacher}", key))["examples"])
            await asyncio.sleep(began + 1 / size.lessons - loop.time())
    return done


async def _together(served: Studio, size: Size) -> Load:
    images, began = film(), perf_counter()
    teaching = [asyncio.create_task(_teach(served, size, each)) for each in range(size.teachers)]
    showing = [
        asyncio.create_task(_show(served, images, size, each)) for each in range(size.clients)
    ]
    lessons = sum([await each for each in teaching])
    clients = [await each for each in showing]
    return Load(
        [look for one in clients for look in one.looks],
        sum(one.dropped for one in clients),
        sum(len(one.errors) for one in clients),
        lessons,
        perf_counter() - began,
    )


def _state(served: Studio) -> tuple[int, int]:
    """Return the journal's position, and how many examples there are."""
    state = httpx.get(f"{served.url}/api/state", timeout=60).json()
    return state["position"], sum(one["count"] for one in state["classes"])


def lost(acknowledged: int, entries: int, kept: int, restarted: int) -> int:
    """Return how many lessons are missing somewhere, or there twice."""
    return max(abs(acknowledged - there) for there in (entries, kept, restarted))


def load(size: Size, served: Studio) -> Iterator[Measurement]:
    """Many clients look while some teach; then the power is cut, and what was taught is counted."""

    async def alone() -> list[float]:
        async with client(served.live) as one:
            return [look.seconds for look in await _looks(one, film(), size.looks)]

    single = float(np.percentile(asyncio.run(alone()), 95))
    before = _state(served)
    memory = served.memory()
    found = asyncio.run(_together(served, size))
    grown = served.memory() - memory
    entries, kept = (now - then for now, then in zip(_state(served), before, strict=True))
    served.kill()
    served.start()
    restarted = _state(served)[1] - before[1]
    many = f"{size.clients} clients, {size.rate:g} frames/s each, {size.teachers} teach"
    slowest = float(np.percentile([look.waited for look in found.looks], 95))
    newest = float(np.percentile([look.seconds for look in found.looks], 95))
    answered = len(found.looks) / found.seconds
    # Everybody waits for everybody else's frame and lesson, and each core does one at a time.
    turn = single * (size.clients + size.teachers) / cores()
    note = (
        f"{answered:.0f} answers/s, {found.lessons} lessons, {found.dropped} older frames dropped"
    )
    yield Measurement(f"errors: {many}, {size.seconds:g} s", found.refused, "", 0, note=note)
    wrong = lost(found.lessons, entries, kept, restarted)
    note = f"{entries} entries in the journal, {restarted} examples after SIGKILL"
    yield Measurement("lessons lost of those acknowledged", wrong, "", 0, note=note)
    note = (
        f"{1e3 * slowest:.0f} ms from the first frame that was not answered, {1e3 * newest:.0f} ms "
        f"from the newest; alone {1e3 * single:.0f} ms, times {size.clients + size.teachers} who "
        f"wait for {cores()} cores"
    )
    what = "95th percentile of a look, to one's turn"
    yield Measurement(what, slowest / turn, "ratio", 3, note=note)
    yield Measurement("memory that this adds", grown / 2**20, "MB")


def memory(size: Size) -> Iterator[Measurement]:
    """Ten thousand frames: memory from the first fifth of them on."""
    images = [picture(0, number, 224) for number in range(50)]
    # A service takes so many messages a second from each.
    clients, rate = 10, 100.0

    async def show(served: Studio, how_many: int) -> None:
        loop = asyncio.get_running_loop()
        async with client(served.live) as one:
            began = loop.time()
            for number in range(how_many):
                await one.look(images[number % len(images)])
                await asyncio.sleep(began + number / rate - loop.time())

    async def part(served: Studio, how_many: int) -> None:
        await asyncio.gather(*[show(served, how_many // clients) for _ in range(clients)])

    async def teach(served: Studio) -> None:
        async with client(served.live) as one:
            for number in range(10):
                await one.teach(picture(number % 2, number), f"thing {number % 2}")

    with (
        tempfile.TemporaryDirectory() as folder,
        studio(Path(folder) / "kitchen.newfound", *(() if size.network else PIXELS)) as served,
    ):
        asyncio.run(teach(served))
        levels = [served.memory()]
        began = perf_counter()
        for _ in range(5):
            asyncio.run(part(served, size.frames // 5))
            levels.append(served.memory())
        seconds = perf_counter() - began
    words = ", ".join(f"{level / 2**20:.0f}" for level in levels)
    note = f"{words} MB at the start and after each fifth; {size.frames / seconds:.0f} frames/s"
    grown = (levels[-1] - levels[1]) / 2**20
    what = f"memory that the last four fifths of {size.frames} frames add"
    yield Measurement(what, grown, "MB", 5, note=note)


def requests(size: Size) -> Iterator[Measurement]:
    """Requests that schemathesis makes up from the OpenAPI."""
    from tests.studio.requests_made import storm, teach_some

    with (
        tempfile.TemporaryDirectory() as folder,
        studio(Path(folder) / "kitchen.newfound", *PIXELS) as served,
    ):
        teach_some(served.url)
        found = storm(served.url, size.requests)
    broken = sum(many for status, many in found.statuses.items() if status >= 500)
    note = ", ".join(f"{many} x {status}" for status, many in sorted(found.statuses.items()))
    what = f"errors of the service in {found.statuses.total()} requests of schemathesis"
    yield Measurement(what, broken, "", 0, note=note)
    yield Measurement("operations that break their OpenAPI's word", len(found.complaints), "", 0)


async def _taught(served: Studio) -> None:
    """Teach three things, so that looks have something to say."""
    async with client(served.live) as one:
        for name in objects()[:3]:
            for image in list(frames(name, 0))[::3]:
                await one.teach(jpeg(image), name)


def with_network(size: Size) -> Iterator[Measurement]:
    """Measure what a service with the network bears, one after the other."""
    with (
        tempfile.TemporaryDirectory() as folder,
        studio(Path(folder) / "kitchen.newfound") as served,
    ):
        asyncio.run(_taught(served))
        yield from frame(size, served)
        yield from load(size, served)


PARTS: dict[str, Callable[[Size], Iterable[Measurement]]] = {
    "starts": starts,
    "network": with_network,
    "memory": memory,
    "requests": requests,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a little of everything")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - PARTS.keys():
        parser.error(f"no such part: {', '.join(unknown)}")
    size = QUICK if arguments.quick else Size()
    parts = [partial(PARTS[name], size) for name in arguments.parts or PARTS]
    print(table(TITLE, [found for part in parts for found in part()]))
    print(", ".join(f"{name} {value}" for name, value in machine().items()))


if __name__ == "__main__":
    main()
