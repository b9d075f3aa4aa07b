"""Answers as plain values that JSON can write: what the studio and robots send."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from newfound.recognition.knowledge import Answer

# Guesses that an answer holds.
TOP = 20
# The answer of a model that was taught nothing, whatever it is asked.
NOTHING: Mapping[str, Any] = {
    "label": None,
    "known": False,
    "score": 0.0,
    "unknown": 1.0,
    "novelty": 1.0,
    "top": [],
}


def answer_values(answer: "Answer | None") -> dict[str, Any]:
    """Return an answer as values; None: nothing was taught, so it is of no class.

    Examples
    --------
    >>> answer_values(None)["known"]
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
