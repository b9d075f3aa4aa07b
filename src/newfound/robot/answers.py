"""What is said of an image that came from a robot: plain values that JSON can write."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Answer

# Guesses that an answer holds.
TOP = 20
# What a model that was taught nothing says of everything.
NOTHING: Mapping[str, Any] = {
    "label": None,
    "known": False,
    "score": 0.0,
    "unknown": 1.0,
    "novelty": 1.0,
    "top": [],
}


def answer_of(answer: "Answer | None") -> dict[str, Any]:
    """Return an answer; None: nothing was taught, so it is of no class.

    Examples
    --------
    >>> answer_of(None)["known"]
    False
    """
    if answer is None:
        return dict(NOTHING)
    return {
        "label": str(answer.label),
        "known": answer.known,
        "score": round(answer.score, 6),
        "unknown": round(answer.unknown, 6),
        "novelty": round(answer.novelty, 6),
        "top": [
            {"label": str(label), "score": round(score, 6)} for label, score in answer.top[:TOP]
        ],
    }


def stamp_of(nanoseconds: int | None) -> dict[str, int] | None:
    """Return a time as ROS writes it: exact, which a number with a fraction is not.

    Examples
    --------
    >>> stamp_of(1_700_000_000_123_456_789)
    {'sec': 1700000000, 'nanosec': 123456789}
    """
    if nanoseconds is None:
        return None
    sec, nanosec = divmod(nanoseconds, 10**9)
    return {"sec": sec, "nanosec": nanosec}


def results_of(answer: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return an answer as a Classification has it: none for what is unknown.

    The scores are probabilities among all things: what is likely of no class has small ones.

    Examples
    --------
    >>> results_of({"known": True, "unknown": 0.25, "top": [{"label": "mug", "score": 0.8}]})
    [('mug', 0.6)]
    >>> results_of(NOTHING)
    []
    """
    if not answer["known"]:
        return []
    certain = 1.0 - answer["unknown"]
    return [(guess["label"], round(certain * guess["score"], 6)) for guess in answer["top"]]
