"""What evidence over a track gains: accuracy of video answers with it and without.

Washington RGB-D, frames of each object in the order in which the turntable showed them, 30 numbers
a second, about six of which were kept. The half-life was picked on trial 0, which is left out here,
and of the objects so is its height. The cosine is a round number, picked where views of all objects
part: from 0.65 to 0.75, 0.2 to 0.8 % of steps and 97 to 99 % of exchanges begin a new track.
"""

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Measurement, show_parts
from benchmarks.streams import washington
from newfound.datasets.rgbd import Frames
from newfound.features.root import take_root
from newfound.recognition.evidence import HALF_LIFE, SAME_ABOVE, Evidence, unit
from newfound.recognition.inbox import MOST_FRAMES
from newfound.recognition.knowledge import Answer
from newfound.recognition.recogniser import Recogniser
from newfound.robot.asking import Asking

TITLE = "Evidence over a track"
TRIALS = (1, 2, 4)
HALF_LIVES = (0.25, HALF_LIFE, 1.0, 2.0)
RATE = 30.0
# Tracks asked about in a trial, and seconds between two that follow each other.
TRACKS, BETWEEN = 150, 0.2
# Objects whose views are compared.
VIEWED = 150


class Track(NamedTuple):
    """One object, as a camera saw it: what is said of each frame, and what is true."""

    truth: str
    answers: list[Answer]
    times: NDArray[np.float64]
    vectors: NDArray[np.floating]


# Data --------------------------------------------------------------------------------------------


def categories(frames: Frames, trial: int, shown: int) -> list[Track]:
    """Categories, each shown so many times; asked about objects that were never seen."""
    is_asked = np.isin(frames.objects, list(frames.trials[trial]))
    return _tracks(frames, frames.categories, is_asked, trial, shown)


def objects(frames: Frames, trial: int, shown: int) -> list[Track]:
    """Objects, each shown so many times at two of three heights; asked about at the third."""
    is_asked = frames.sequences == (1, 2, 4)[trial % 3]
    return _tracks(frames, frames.objects, is_asked, trial, shown)


def strangers(frames: Frames, trial: int, shown: int) -> list[Track]:
    """The same as categories, of which only the first half, in a random order, is taught."""
    names = np.random.default_rng(trial).permutation(np.unique(frames.categories))
    is_known = np.isin(frames.categories, names[: len(names) // 2])
    labels = np.where(is_known, frames.categories, "")
    is_asked = np.isin(frames.objects, list(frames.trials[trial]))
    return _tracks(frames, labels, is_asked, trial, shown)


def _tracks(
    frames: Frames, labels: NDArray[Any], is_asked: NDArray[np.bool_], trial: int, shown: int
) -> list[Track]:
    rng = np.random.default_rng([trial, shown])
    recogniser = Recogniser(extractor=None)
    known = [label for label in np.unique(labels) if label]
    some = [rng.permutation(np.flatnonzero((labels == t) & ~is_asked))[:shown] for t in known]
    taught = np.concatenate(some)
    recogniser.teach_vectors(frames.X[taught], labels[taught].tolist())
    recogniser.refresh()
    keys = np.char.add(frames.objects, frames.sequences.astype(str))
    found = []
    for key in rng.permutation(np.unique(keys[is_asked]))[:TRACKS]:
        rows = _in_order(frames, keys == key)
        answers = recogniser.look_at_vectors(frames.X[rows], top=len(known))
        times = (frames.numbers[rows] - frames.numbers[rows[0]]) / RATE
        found.append(Track(str(labels[rows[0]]), answers, times, frames.X[rows]))
    return found


def joined(tracks: list[Track]) -> list[Track]:
    """Return tracks with times as if one followed the other before the same camera."""
    found, start = [], 0.0
    for track in tracks:
        found.append(track._replace(times=track.times + start))
        start = found[-1].times[-1] + BETWEEN
    return found


# Smoothing ---------------------------------------------------------------------------------------


def smoothed(
    tracks: list[Track], half_life: float, follow: bool = False, look: bool = True
) -> list[list[Answer]]:
    """Return what evidence says of each track, alone or with what is left of the one before."""
    evidence, found = Evidence(half_life), []
    for track in tracks:
        if not follow:
            evidence.reset()
        rows = track.vectors if look else [None] * len(track.answers)
        given = zip(track.answers, track.times, rows, strict=True)
        found.append([evidence.add(said, float(at), 0.5, row) for said, at, row in given])
    return found


def logarithms(tracks: list[Track], half_life: float) -> list[list[Answer]]:
    """Return the same for the product of probabilities, which others take, instead of the mean."""

    def log(answer: Answer) -> Answer:
        return answer._replace(top=[(t, float(np.log(max(p, 1e-12)))) for t, p in answer.top])

    logs = [track._replace(answers=list(map(log, track.answers))) for track in tracks]
    return smoothed(logs, half_life)


def right(tracks: list[Track], answers: list[list[Answer]]) -> NDArray[np.float64]:
    """Return which part of each track's frames is answered right."""
    pairs = zip(tracks, answers, strict=True)
    return np.array(
        [np.mean([said.label == track.truth for said in each]) for track, each in pairs]
    )


def delay(tracks: list[Track], answers: list[list[Answer]]) -> float:
    """Return seconds until the first right answer, over tracks that have any."""
    found = []
    for track, each in zip(tracks, answers, strict=True):
        when = [at for at, said in zip(track.times, each, strict=True) if said.label == track.truth]
        found += [when[0] - track.times[0]] if when else []
    return float(np.mean(found))


# Measurements ------------------------------------------------------------------------------------


def gain(make: Any, name: str, shown: int) -> Iterator[Measurement]:
    """How many more frames are right, by half-life; of all, and of the class that gains least."""
    frames = _frames()
    trials = [make(frames, trial, shown) for trial in TRIALS]
    plain = [right(tracks, [track.answers for track in tracks]) for tracks in trials]
    yield Measurement(f"{name}, {shown} shown: frame by frame", 100 * _mean(plain), "%")
    for half_life in HALF_LIVES:
        answers = [smoothed(tracks, half_life) for tracks in trials]
        parts = [right(*pair) for pair in zip(trials, answers, strict=True)]
        note = f"{100 * (_mean(parts) - _mean(plain)):+.1f}; {_by_class(trials, plain, parts)}"
        what = f"  half-life {half_life:g} s"
        yield Measurement(what, 100 * _mean(parts), "%", note=note)
    products = [right(tracks, logarithms(tracks, HALF_LIFE)) for tracks in trials]
    yield Measurement(f"  product of probabilities, {HALF_LIFE:g} s", 100 * _mean(products), "%")
    yield from after_exchanges([joined(tracks) for tracks in trials])


def after_exchanges(trials: list[list[Track]]) -> Iterator[Measurement]:
    """Tracks one after the other: how many frames are right, and how soon after an exchange."""
    for half_life, look in ((0.0, False), (HALF_LIFE, False), (HALF_LIFE, True)):
        answers = [smoothed(tracks, half_life, follow=True, look=look) for tracks in trials]
        pairs = list(zip(trials, answers, strict=True))
        how = "with vectors" if look else "by time alone" if half_life else "frame by frame"
        note = f"right after {np.mean([delay(*pair) for pair in pairs]):.2f} s"
        accuracy = _mean([right(*pair) for pair in pairs])
        yield Measurement(f"  things exchanged at once: {how}", 100 * accuracy, "%", note=note)


def unknown() -> Iterator[Measurement]:
    """How often tracks of what was never taught are called unknown, and known ones are."""
    frames = _frames()
    trials = [strangers(frames, trial, 20) for trial in TRIALS]
    for half_life in (0.0, HALF_LIFE):
        how = f"half-life {half_life:g} s" if half_life else "frame by frame"
        for is_known in (False, True):
            called = [
                np.mean([not said.known for said in answers])
                for tracks in trials
                for track, answers in zip(tracks, smoothed(tracks, half_life), strict=True)
                if bool(track.truth) == is_known
            ]
            of = "known" if is_known else "never taught"
            yield Measurement(f"{of}, called unknown, {how}", 100 * float(np.mean(called)), "%")


def views() -> Iterator[Measurement]:
    """How often views are taken for the same thing: by two frames in a row, and by a question."""
    frames, rng = _frames(), np.random.default_rng(1)
    tracks = {
        (name, height): _in_order(frames, (frames.objects == name) & (frames.sequences == height))
        for name in rng.permutation(np.unique(frames.objects))[:VIEWED]
        for height in (1, 2)
    }
    steps = [unit(a) @ unit(b) for rows in tracks.values() for a, b in pairwise(frames.X[rows])]
    ends = [frames.X[rows[[0, -1]]] for (_, height), rows in tracks.items() if height == 1]
    exchanges = [unit(a[1]) @ unit(b[0]) for a, b in pairwise(ends)]
    for what, cosines in (("steps of a turntable", steps), ("exchanges of a thing", exchanges)):
        far = 100 * float(np.mean(np.array(cosines) < SAME_ABOVE))
        yield Measurement(f"{what} that begin a new track", far, "%")
    found: dict[str, list[bool]] = {"the same turn": [], "another height": [], "other objects": []}
    for (name, height), rows in tracks.items():
        asking, times = Asking(), frames.numbers[rows] - frames.numbers[rows[0]]
        asking.remember(frames.X[rows[times <= RATE][:MOST_FRAMES]])
        others = rng.choice(np.flatnonzero(frames.objects != name), 50)
        kinds = rows[times > RATE], tracks[name, 3 - height], others
        for seen, kind in zip(found.values(), kinds, strict=True):
            seen += map(asking.is_asked, frames.X[kind])
    for kind, seen in found.items():
        what = f"views of {kind} taken for what was asked about in a first second"
        yield Measurement(what, 100 * float(np.mean(seen)), "%")


def _in_order(frames: Frames, where: NDArray[np.bool_]) -> NDArray[np.intp]:
    rows = np.flatnonzero(where)
    return rows[np.argsort(frames.numbers[rows])]


def _frames() -> Frames:
    frames = washington()
    if frames is None:
        raise SystemExit("this needs Washington RGB-D under NEWFOUND_DATA")
    return frames._replace(X=take_root(frames.X).astype(np.float32))


def _mean(parts: list[NDArray[np.float64]]) -> float:
    return float(np.mean(np.concatenate(parts)))


def _by_class(trials: list[list[Track]], plain: Any, parts: Any) -> str:
    """Return in words how classes fare: the one that loses most, and how many lose anything."""
    truth = np.array([track.truth for tracks in trials for track in tracks])
    gains = np.concatenate(parts) - np.concatenate(plain)
    by_class = np.array([gains[truth == label].mean() for label in np.unique(truth)])
    lose = int((by_class < 0).sum())
    return f"worst class {100 * by_class.min():+.1f}, {lose} of {len(by_class)} lose"


PARTS = {
    "categories": lambda: gain(categories, "categories of new objects", 20),
    "objects": lambda: gain(objects, "objects at a new height", 5),
    "unknown": unknown,
    "views": views,
}


def measure() -> Iterator[Measurement]:
    """Everything, where the data is at hand."""
    if washington() is not None:
        yield from chain.from_iterable(part() for part in PARTS.values())


if __name__ == "__main__":
    show_parts(TITLE, PARTS)
