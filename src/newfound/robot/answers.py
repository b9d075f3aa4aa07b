"""Answers as a robot's messages have them: the time, and results of a Classification."""

from collections.abc import Mapping
from typing import Any


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
    >>> results_of({"known": False, "unknown": 1.0, "top": []})
    []
    """
    if not answer["known"]:
        return []
    certain = 1.0 - answer["unknown"]
    return [(guess["label"], round(certain * guess["score"], 6)) for guess in answer["top"]]
