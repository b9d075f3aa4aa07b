"""How much reading, checking, decoding and learning add to the time of the bare network."""

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import skimage

from benchmarks.common import Measurement, show
from newfound.common.extras import imported_from
from newfound.features import EfficientNetLite0, take_root
from newfound.features.efficientnet import graph
from newfound.features.onnx import runtime
from newfound.paper.timing import time_call
from newfound.recognition.lesson import Lesson
from newfound.recognition.recogniser import Recogniser
from newfound.recognition.sources import ImageFile, Sources, read

with imported_from("vision"):
    from PIL import Image

TITLE = "Images: what teaching adds to the bare network"
BATCH, BATCHES, REPEATS = 16, 18, 5
BLOCK = 16  # rows that `newfound teach` learns at a time
PHOTOS = ("chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png", "astronaut.png")


def bare(network: EfficientNetLite0) -> tuple[float, float]:
    """Return the network's seconds an image: each batch on all cores, and one batch on each."""
    batch = np.random.default_rng(0).normal(size=(BATCH, 3, 224, 224)).astype(np.float32)
    together = runtime().InferenceSession(graph(), providers=["CPUExecutionProvider"])

    def in_turn() -> None:
        for _ in range(BATCHES):
            together.run(["features"], {"images": batch})

    def side_by_side() -> None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(network.run, [batch] * BATCHES))

    return time_call(in_turn) / BATCH / BATCHES, time_call(side_by_side) / BATCH / BATCHES


def lesson(network: EfficientNetLite0, files: list[Path], recogniser: Recogniser) -> float:
    """Return seconds an image from its file to what is learned."""
    images = [ImageFile(path, path.parent.name) for path in files]
    found = Sources(True, [*images], [], Counter(), [])
    taking = Lesson(recogniser, again=True)

    def teach() -> None:
        for example in read(found, network):
            taking.add(example)
        taking.learn()

    return time_call(teach) / len(files)


def jpegs(folder: Path, how_many: int) -> list[Path]:
    """Write JPEGs of 640 x 480, parts of photos that come with scikit-image."""
    data, rng = Path(skimage.__file__).parent / "data", np.random.default_rng(0)
    paths = []
    for number in range(how_many):
        photo = Image.open(data / PHOTOS[number % len(PHOTOS)]).convert("RGB")
        width = rng.uniform(0.6, 1.0) * min(photo.width, photo.height * 4 / 3)
        box = (0, 0, width, 0.75 * width)
        path = folder / PHOTOS[number % len(PHOTOS)] / f"{number}.jpg"
        path.parent.mkdir(exist_ok=True)
        photo.resize((640, 480), Image.Resampling.BICUBIC, box=box).save(path, quality=90)
        paths.append(path)
    return paths


def recogniser_of(classes: int, each: int) -> Recogniser:
    """Return a recogniser that was taught so many classes."""
    recogniser, rng = Recogniser(), np.random.default_rng(0)
    identity = EfficientNetLite0().identity
    for number in range(classes):
        rows = np.abs(rng.normal(0, 0.5, (each, 1280)) + rng.normal(0, 1, 1280)).astype(np.float32)
        rows = take_root(rows)
        digests = [rng.bytes(16) for _ in rows]
        recogniser.teach_vectors(rows, [f"{number}"] * each, digests, identity)
    recogniser.refresh()
    return recogniser


def measure() -> Iterator[Measurement]:
    network = EfficientNetLite0()
    with tempfile.TemporaryDirectory() as folder:
        sets = {"JPEGs of 640 x 480": jpegs(Path(folder), BATCH * BATCHES)}
        crops = Path(os.environ.get("NEWFOUND_DATA", "")) / "washington-rgbd" / "rgbd-dataset"
        if crops.is_dir():
            sets["crops of Washington RGB-D"] = sorted(crops.rglob("*.png"))
        bare(network)
        for name, files in sets.items():
            # Each repeat measures all three, since the machine has faster and slower minutes.
            times = [(*bare(network), lesson(network, files, Recogniser())) for _ in range(REPEATS)]
            together, apart, whole = (1e3 * median(column) for column in zip(*times, strict=True))
            ratios = [taught / min(one, other) for one, other, taught in times]
            note = (
                f"{whole:.2f} ms; bare {together:.2f} (batch on all cores), {apart:.2f} (on each)"
            )
            yield Measurement(
                f"teaching {name}, to the bare network", median(ratios), "ratio", 1.2, note=note
            )

        eight = sets["JPEGs of 640 x 480"][:8]
        sizes = {
            (12, 16): recogniser_of(12, 16),
            (51, 100): recogniser_of(51, 100),
            (51, 800): recogniser_of(51, 800),
        }
        empty = median(lesson(network, eight, Recogniser()) for _ in range(REPEATS))
        for (classes, each), recogniser in sizes.items():
            seconds = median(lesson(network, eight, recogniser) for _ in range(REPEATS))
            refresh, saved = time_call(recogniser.refresh), Path(folder) / "m.newfound"
            save = time_call(partial(recogniser.save, saved))
            load = time_call(partial(Recogniser, saved))
            yield Measurement(
                f"an image for a model of {classes} classes of {each}, to one for an empty model",
                seconds / empty,
                note=f"{1e3 * seconds:.1f} ms; once a lesson: load {load:.2f} s, "
                f"choose {refresh:.2f} s, save {save:.2f} s",
            )


if __name__ == "__main__":
    show(TITLE, measure())
