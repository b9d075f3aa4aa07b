"""Random edits of a recogniser with a journal, a naive oracle of what they do, and a comparison."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from newfound.recognition import replay
from newfound.recognition.journalled import JournalledRecogniser
from newfound.recognition.recogniser import Recogniser

WIDTH = 6
LABELS = ("cup", "mug", "jug", "pot")


def open_at(path: Path, **options: Any) -> JournalledRecogniser:
    return JournalledRecogniser(path, None, **options)


def digest(number: int) -> bytes:
    return number.to_bytes(16, "big")


def row(number: int, label: str) -> Any:
    """A row of float64, so that weights can be compared to the last digits."""
    rng = np.random.default_rng([number, *label.encode()])
    centre = np.random.default_rng(list(label.encode())).normal(size=WIDTH)
    return 3 * centre + rng.normal(size=WIDTH)


class Oracle:
    """What examples show, by the plainest means: whole states, one after the other."""

    def __init__(self) -> None:
        self.past: list[dict[int, str]] = []
        self.now: dict[int, str] = {}
        self.future: list[dict[int, str]] = []

    def become(self, then: dict[int, str]) -> None:
        self.past.append(self.now)
        self.now, self.future = then, []

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.now.values())


def edit(recogniser: JournalledRecogniser, oracle: Oracle, number: int, key: str) -> str:
    """Make the edit of a number, which depends on what there is, in both; return its name."""
    rng = np.random.default_rng(number)
    ids, classes = sorted(oracle.now), sorted(oracle.counts)
    name = str(rng.choice(NAMES, p=CHANCES))
    is_possible = {
        "delete": bool(ids),
        "move": bool(ids),
        "rename": bool(classes),
        "drop": bool(classes),
        "join": len(classes) > 1,
        "undo": bool(oracle.past),
        "redo": bool(oracle.future),
    }
    name = name if is_possible.get(name, True) else "teach"
    EDITS[name](recogniser, oracle, rng, number, key)
    return name


def _teach(r: JournalledRecogniser, o: Oracle, rng: Any, number: int, key: str) -> None:
    label = str(rng.choice(LABELS))
    made = r.teach_one(row(number, label), label, digest(number), key=key)
    o.become({**o.now, made.examples[0]: label})


def _some(o: Oracle, rng: Any) -> list[int]:
    ids = sorted(o.now)
    found: list[int] = rng.choice(
        ids, size=min(len(ids), rng.integers(1, 4)), replace=False
    ).tolist()
    return found


def _delete(r: JournalledRecogniser, o: Oracle, rng: Any, number: int, key: str) -> None:
    some = _some(o, rng)
    r.delete(some, key=key)
    o.become({each: label for each, label in o.now.items() if each not in some})


def _move(r: JournalledRecogniser, o: Oracle, rng: Any, number: int, key: str) -> None:
    label = str(rng.choice(LABELS))
    some = [each for each in _some(o, rng) if o.now[each] != label]
    if not some:
        _teach(r, o, rng, number, key)
        return
    r.move(some, label, key=key)
    o.become({**o.now, **dict.fromkeys(some, label)})


def _rename(r: JournalledRecogniser, o: Oracle, rng: Any, number: int, key: str) -> None:
    old, new = str(rng.choice(sorted(o.counts))), f"new {number}"
    r.rename_class(old, new, key=key)
    o.become({each: new if label == old else label for each, label in o.now.items()})


def _join(r: JournalledRecogniser, o: Oracle, rng: Any, number: int, key: str) -> None:
    old, new = rng.choice(sorted(o.counts), size=2, replace=False).tolist()
    r.rename_class(old, new, join=True, key=key)
    o.become({each: new if label == old else label for each, label in o.now.items()})


def _drop(r: JournalledRecogniser, o: Oracle, rng: Any, number: int, key: str) -> None:
    old = str(rng.choice(sorted(o.counts)))
    r.delete_class(old, key=key)
    o.become({each: label for each, label in o.now.items() if label != old})


def _undo(r: JournalledRecogniser, o: Oracle, rng: Any, number: int, key: str) -> None:
    r.undo(key=key)
    o.future.append(o.now)
    o.now = o.past.pop()


def _redo(r: JournalledRecogniser, o: Oracle, rng: Any, number: int, key: str) -> None:
    r.redo(key=key)
    o.past.append(o.now)
    o.now = o.future.pop()


EDITS = {
    "teach": _teach,
    "delete": _delete,
    "move": _move,
    "rename": _rename,
    "join": _join,
    "drop": _drop,
    "undo": _undo,
    "redo": _redo,
}
NAMES = tuple(EDITS)
CHANCES = (0.52, 0.1, 0.1, 0.04, 0.02, 0.02, 0.12, 0.08)


def assert_is(recogniser: JournalledRecogniser, oracle: Oracle) -> None:
    """Assert that model, memory and list of examples are what the oracle says."""
    assert recogniser.counts == oracle.counts
    listed = {each.id: each.label for each in recogniser.kept(limit=10**6)}
    assert listed == oracle.now
    remembered = {label: len(known) for label, known in recogniser.taught.digests.items() if known}
    assert remembered == oracle.counts


def assert_same(one: Recogniser, other: Recogniser, tolerance: float = 1e-10) -> None:
    """Assert that two know the same, with the same parameters and weights."""
    assert one.counts == other.counts
    if one.is_taught:
        a, b = one.model, other.model
        np.testing.assert_allclose(a.coef_, b.coef_, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(a.penalty_, b.penalty_, rtol=tolerance)
        np.testing.assert_allclose(a.recoding_, b.recoding_, rtol=tolerance, atol=tolerance)


def assert_replays(recogniser: JournalledRecogniser) -> None:
    """Assert that the journal, read from its beginning, leads to this model."""
    again = replay.rebuilt(recogniser.journal, replay.Replica(extractor=None))
    assert_same(recogniser, again)
