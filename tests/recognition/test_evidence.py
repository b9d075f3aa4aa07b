"""Evidence over a track is a weighted mean of answers, and stretches are where it agrees."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.common.errors import InputError
from newfound.recognition.evidence import Evidence, stretches
from newfound.recognition.knowledge import Answer

LABELS = ("cup", "jug", "mug", "pot")
chance = st.floats(0.0, 1.0)


def said(scores: dict[Any, float], unknown: float = 0.0, novelty: float = 0.0) -> Answer:
    top = sorted(scores.items(), key=lambda guess: -guess[1])
    return Answer(*top[0], novelty, unknown, unknown <= 0.5, top)


def naive(track: list[tuple[Answer, float]], half_life: float) -> dict[str, float]:
    """The mean of all answers of a track, each with its weight; under "?", of being unknown."""
    now = track[-1][1]
    weights = [2.0 ** (-(now - time) / half_life) for _, time in track]
    found = {
        label: math.fsum(
            weight * dict(answer.top).get(label, 0.0)
            for weight, (answer, _) in zip(weights, track, strict=True)
        )
        for label in LABELS
    }
    unknown = math.fsum(w * answer.unknown for w, (answer, _) in zip(weights, track, strict=True))
    return {each: total / sum(weights) for each, total in {**found, "?": unknown}.items()}


frames = st.tuples(
    st.dictionaries(st.sampled_from(LABELS), chance, min_size=1), chance, st.floats(0.0, 3.0)
)


@given(st.lists(frames, min_size=1, max_size=12), st.floats(0.1, 5.0), chance)
def test_evidence_is_the_mean_of_all_answers_with_their_weights(
    given_frames: list[Any], half_life: float, bound: float
) -> None:
    evidence, track, now = Evidence(half_life), [], 0.0
    for scores, unknown, passed in given_frames:
        now += passed
        track.append((said(scores, unknown), now))
        answer = evidence.add(*track[-1], unknown_above=bound)
    expected = naive(track, half_life)
    assert answer.unknown == pytest.approx(expected.pop("?"), abs=1e-9)
    assert answer.known == (answer.unknown <= bound)
    found = dict(answer.top)
    assert {label: found.get(label, 0.0) for label in LABELS} == pytest.approx(expected, abs=1e-5)
    assert answer.score == max(found.values())
    assert answer.top == sorted(answer.top, key=lambda guess: -guess[1])


def test_one_bad_frame_does_not_change_the_answer_and_another_thing_soon_does() -> None:
    evidence = Evidence(half_life=1.0)
    mug, cup = said({"mug": 0.9, "cup": 0.1}), said({"mug": 0.1, "cup": 0.9})
    labels = [
        evidence.add(cup if frame == 30 or frame >= 60 else mug, frame / 15, 0.5).label
        for frame in range(90)
    ]
    assert set(labels[:60]) == {"mug"}
    # Cups weigh more once 2 ** -(age of the first) is below one half: after one half-life.
    assert labels[60:74] == ["mug"] * 14
    assert set(labels[75:]) == {"cup"}


def test_back_in_time_after_a_long_pause_or_reset_only_the_newest_frame_counts() -> None:
    mug, cup = said({"mug": 0.9, "cup": 0.1}, 0.9, 0.8), said({"mug": 0.4, "cup": 0.6}, 0.1, 0.2)
    for later in (-1.0, 1e6):
        evidence = Evidence(half_life=1.0)
        evidence.add(mug, 0.0, 0.5)
        assert evidence.add(cup, later, 0.5) == cup
    evidence.reset()
    assert evidence.add(mug, 5.0, 0.5) == mug
    alone = Evidence(half_life=0)
    alone.add(mug, 0.0, 0.5)
    assert alone.add(cup, 0.0, 0.5) == cup


def test_what_looks_like_another_thing_begins_a_new_track() -> None:
    mug, cup = said({"mug": 0.9, "cup": 0.1}), said({"mug": 0.4, "cup": 0.6})
    angles = {"near": math.acos(0.71), "far": math.acos(0.69)}
    labels = {}
    for how, angle in angles.items():
        evidence = Evidence(half_life=1.0)
        evidence.add(mug, 0.0, 0.5, [2.0, 0.0])
        labels[how] = evidence.add(cup, 0.1, 0.5, [math.cos(angle), math.sin(angle)]).label
    assert labels == {"near": "mug", "far": "cup"}
    evidence.add(mug, 0.2, 0.5)  # of which no vector is known, nor of the next one's width
    assert evidence.add(mug, 0.3, 0.5, [1.0, 0.0, 0.0]).label == "mug"
    evidence.add(mug, 0.2, 0.5, [1.0, 0.0])
    assert evidence.add(cup, 0.3, 0.5, [-1.0, 0.0, 0.0]).label == "mug"


def test_classes_come_and_go_and_what_is_held_does_not_grow() -> None:
    evidence = Evidence(half_life=0.1)
    for frame in range(10_000):
        answer = evidence.add(said({f"thing {frame}": 1.0}), frame / 10, 0.5)
    assert answer.label == "thing 9999"
    assert len(answer.top) < 25  # older ones have less than a millionth, which is 2 ** -20


@pytest.mark.parametrize("half_life", [-1.0, math.nan, math.inf])
def test_a_half_life_is_a_number_of_seconds(half_life: float) -> None:
    with pytest.raises(InputError, match="seconds from 0"):
        Evidence(half_life)


def test_frames_that_agree_are_one_stretch_and_unknown_ones_agree() -> None:
    mug, cup = said({"mug": 0.8, "cup": 0.2}), said({"cup": 0.6, "mug": 0.4})
    not_mug, not_cup = said({"mug": 0.5}, 0.9), said({"cup": 0.7}, 0.9)
    track = [mug, mug, not_mug, not_cup, not_mug, cup, mug]
    found = list(stretches((answer, float(time)) for time, answer in enumerate(track)))
    assert [(each.start, each.end, each.label, each.known, each.frames) for each in found] == [
        (0.0, 1.0, "mug", True, 2),
        (2.0, 4.0, "mug", False, 3),
        (5.0, 5.0, "cup", True, 1),
        (6.0, 6.0, "mug", True, 1),
    ]
    assert [each.score for each in found] == pytest.approx([0.8, 1.0 / 3, 0.6, 0.8])
    assert list(stretches([])) == []
