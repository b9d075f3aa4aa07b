"""Random edits of a recogniser with a journal, a naive oracle of what they do, and a comparison."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from newfound.recognition import replay
from newfound.recognition.editor import Editor
from newfound.recognition.history import Edit
from newfound.recognition.knowledge import Knowledge
from newfound.recognition.sources import NewExample

WIDTH = 6
LABELS = ("cup", "mug", "jug", "pot")


def open_at(path: Path, **options: Any) -> Editor:
    return Editor(path, None, **options)


def teach_one(
    editor: Editor, vector: Any, label: Any, digest: bytes, key: str | None = None, **more: Any
) -> Edit:
    """Teach an example, with an action or not; all else is what it comes with."""
    action = more.pop("action", None)
    example = NewExample(np.asarray(vector), digest, **more)
    return editor.teach_new(example, label, key=key, action=action)


def digest(number: int) -> bytes:
    return number.to_bytes(16, "big")


def row(number: int, label: str) -> Any:
    """A row of float64, so that weights can be compared to the last digits."""
    rng = np.random.default_rng([number, *label.encode()])
    centre = np.random.default_rng(list(label.encode())).normal(size=WIDTH)
    return 3 * centre + rng.normal(size=WIDTH)


class Oracle:
    """What examples show, by the plainest means: whole states, one after the other.

    Beside them, the frames of each question that was asked and not dismissed, by its source; with
    each state, which of these are answered.
    """

    def __init__(self) -> None:
        self.past: list[tuple[dict[int, str], frozenset[str]]] = []
        self.now: dict[int, str] = {}
        self.named: frozenset[str] = frozenset()
        self.future: list[tuple[dict[int, str], frozenset[str]]] = []
        self.asked: dict[str, list[int]] = {}

    def become(self, then: dict[int, str], named: frozenset[str] | None = None) -> None:
        self.past.append((self.now, self.named))
        self.now, self.future = then, []
        self.named = self.named if named is None else named

    @property
    def open(self) -> list[str]:
        return sorted(self.asked.keys() - self.named)

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.now.values())


def edit(editor: Editor, oracle: Oracle, number: int, key: str) -> str:
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
        "name": bool(oracle.open),
        "dismiss": bool(oracle.open),
    }
    name = name if is_possible.get(name, True) else "teach"
    EDITS[name](editor, oracle, rng, number, key)
    return name


def _teach(r: Editor, o: Oracle, rng: Any, number: int, key: str) -> None:
    label = str(rng.choice(LABELS))
    made = teach_one(r, row(number, label), label, digest(number), key=key)
    o.become({**o.now, made.examples[0]: label})


def _some(o: Oracle, rng: Any) -> list[int]:
    ids = sorted(o.now)
    found: list[int] = rng.choice(
        ids, size=min(len(ids), rng.integers(1, 4)), replace=False
    ).tolist()
    return found


def _delete(r: Editor, o: Oracle, rng: Any, number: int, key: str) -> None:
    some = _some(o, rng)
    r.delete(some, key=key)
    o.become({each: label for each, label in o.now.items() if each not in some})


def _move(r: Editor, o: Oracle, rng: Any, number: int, key: str) -> None:
    label = str(rng.choice(LABELS))
    some = [each for each in _some(o, rng) if o.now[each] != label]
    if not some:
        _teach(r, o, rng, number, key)
        return
    r.move(some, label, key=key)
    o.become({**o.now, **dict.fromkeys(some, label)})


def _rename(r: Editor, o: Oracle, rng: Any, number: int, key: str) -> None:
    old, new = str(rng.choice(sorted(o.counts))), f"new {number}"
    r.rename(old, new, key=key, join=False)
    o.become({each: new if label == old else label for each, label in o.now.items()})


def _join(r: Editor, o: Oracle, rng: Any, number: int, key: str) -> None:
    old, new = rng.choice(sorted(o.counts), size=2, replace=False).tolist()
    r.rename(old, new, join=True, key=key)
    o.become({each: new if label == old else label for each, label in o.now.items()})


def _drop(r: Editor, o: Oracle, rng: Any, number: int, key: str) -> None:
    old = str(rng.choice(sorted(o.counts)))
    r.forget_class(old, key=key)
    o.become({each: label for each, label in o.now.items() if label != old})


def _undo(r: Editor, o: Oracle, rng: Any, number: int, key: str) -> None:
    r.history.undo(key=key)
    o.future.append((o.now, o.named))
    o.now, o.named = o.past.pop()


def _redo(r: Editor, o: Oracle, rng: Any, number: int, key: str) -> None:
    r.history.redo(key=key)
    o.past.append((o.now, o.named))
    o.now, o.named = o.future.pop()


def _asked(r: Editor) -> dict[str, Any]:
    return {question.source: question for question in r.journal.inbox.open(limit=10**6)}


def _ask(r: Editor, o: Oracle, rng: Any, number: int, key: str) -> None:
    """Ask, unless that was done before it was killed; then teach, which has a key."""
    source, label = f"number {number}", str(rng.choice(LABELS))
    marks = [number + 10**9 * (1 + each) for each in range(rng.integers(1, 4))]
    if source not in _asked(r):
        frames = [NewExample(row(mark, label), digest(mark), None) for mark in marks]
        r.ask(frames, source)
    o.asked[source] = _asked(r)[source].frames
    _teach(r, o, rng, number, key)


def _name(r: Editor, o: Oracle, rng: Any, number: int, key: str) -> None:
    source, label = str(rng.choice(o.open)), str(rng.choice(LABELS))
    r.name(_asked(r)[source].id, label, key=key)
    o.become({**o.now, **dict.fromkeys(o.asked[source], label)}, o.named | {source})


def _dismiss(r: Editor, o: Oracle, rng: Any, number: int, key: str) -> None:
    source = str(rng.choice(o.open))
    if source in _asked(r):
        r.dismiss(_asked(r)[source].id)
    del o.asked[source]
    _teach(r, o, rng, number, key)


EDITS = {
    "teach": _teach,
    "delete": _delete,
    "move": _move,
    "rename": _rename,
    "join": _join,
    "drop": _drop,
    "undo": _undo,
    "redo": _redo,
    "ask": _ask,
    "name": _name,
    "dismiss": _dismiss,
}
NAMES = tuple(EDITS)
CHANCES = (0.4, 0.1, 0.1, 0.04, 0.02, 0.02, 0.12, 0.08, 0.06, 0.04, 0.02)


def assert_is(editor: Editor, oracle: Oracle, unsure: int = 0) -> None:
    """Assert that model, memory, examples and questions are what the oracle says.

    Of so many questions nobody knows: it was killed while it asked or dismissed them.
    """
    assert editor.recogniser.counts == oracle.counts
    listed = {each.id: each.label for each in editor.journal.examples.kept(limit=10**6)}
    assert listed == oracle.now
    remembered = {
        label: len(known) for label, known in editor.recogniser.taught.digests.items() if known
    }
    assert remembered == oracle.counts
    asked = {source: question.frames for source, question in _asked(editor).items()}
    assert len(asked.keys() ^ set(oracle.open)) <= unsure
    for source in asked.keys() & set(oracle.open):
        assert asked[source] == oracle.asked[source]


def assert_same(one: Knowledge, other: Knowledge, tolerance: float = 1e-10) -> None:
    """Assert that two know the same, with the same parameters and weights."""
    assert one.counts == other.counts
    if one.is_taught:
        a, b = one.model, other.model
        np.testing.assert_allclose(a.coef_, b.coef_, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(a.penalty_, b.penalty_, rtol=tolerance)
        np.testing.assert_allclose(a.recoding_, b.recoding_, rtol=tolerance, atol=tolerance)


def assert_replays(editor: Editor) -> None:
    """Assert that the journal, read from its beginning, leads to this model."""
    assert_same(editor.knowledge, replay.rebuilt(editor.journal, editor.history.blank()))
