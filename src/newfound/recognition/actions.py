"""What can be undone and redone: entries of a journal, gathered into what people did."""

from collections import Counter
from typing import Any, NamedTuple

# So many actions can be undone.
MOST = 1000
# One tally an entry: what kind it is, and from which label to which.
Tally = tuple[str, Any, Any]


class Action(NamedTuple):
    """Entries that are undone together, and how many examples went which way."""

    name: str
    ids: list[int]
    tallies: Counter[Tally]

    def __str__(self) -> str:
        (kind, before, after), count = next(iter(self.tallies.items()), (("change", None, None), 0))
        if kind != "change":
            return _of_model(kind, before, after, count)
        if len(self.tallies) == 1:
            return _of_examples(before, after, count)
        labels = {after for _, _, after in self.tallies}
        if all(before is None for _, before, _ in self.tallies):
            return f"taught {self.tallies.total()} examples of {len(labels)} classes"
        return f"changed {self.tallies.total()} examples"


class Actions:
    """Two stacks: what was done, and what was undone of it.

    Examples
    --------
    >>> actions = Actions()
    >>> for number in 1, 2:
    ...     actions.note(number, "change", "a", {"rows": [[number, None, "mug"]]})
    >>> actions.undoable
    'taught mug (2)'
    >>> actions.note(3, "undo", "b", {"of": [1, 2]})
    >>> actions.undoable, actions.redoable
    (None, 'taught mug (2)')
    """

    def __init__(self) -> None:
        self.done: list[Action] = []
        self.undone: list[Action] = []

    @property
    def undoable(self) -> str | None:
        """What an undo would take back, in words; None: nothing."""
        return str(self.done[-1]) if self.done else None

    @property
    def redoable(self) -> str | None:
        """What a redo would do again, in words; None: nothing."""
        return str(self.undone[-1]) if self.undone else None

    def of(self, entry: int) -> list[int]:
        """Return the entries of the last action, if this one is among them."""
        return self.done[-1].ids if self.done and entry in self.done[-1].ids else []

    def note(self, number: int, kind: str, name: str, detail: dict[str, Any]) -> None:
        """Take an entry in."""
        if kind in ("undo", "redo"):
            source, target = self.done, self.undone
            if kind == "redo":
                source, target = target, source
            if source and source[-1].ids == detail["of"]:
                target.append(source.pop())
            else:  # of something that is let go: what came after it cannot be redone without it
                self.undone.clear()
        elif kind in ("change", "rename", "drop", "state"):
            self.undone.clear()
            if not self.done or self.done[-1].name != name:
                self.done.append(Action(name, [], Counter()))
            self.done[-1].ids.append(number)
            self.done[-1].tallies.update(_tallies(kind, detail))
            del self.done[:-MOST]

    def forget_until(self, floor: int) -> None:
        """Let go of what began with an entry up to this one.

        Of what was undone, the oldest stands on top: without it, nothing can be redone.
        """
        self.done = [action for action in self.done if action.ids[0] > floor]
        if any(action.ids[0] <= floor for action in self.undone):
            self.undone.clear()


def describe(kind: str, detail: dict[str, Any]) -> str:
    """Return in words what an entry does.

    >>> describe("change", {"rows": [[1, "mug", None]]})
    'deleted 1 example of mug'
    """
    return "chose anew" if kind == "refresh" else str(Action("", [], _tallies(kind, detail)))


def _tallies(kind: str, detail: dict[str, Any]) -> Counter[Tally]:
    if kind == "change":
        return Counter((kind, before, after) for _, before, after in detail["rows"])
    if kind == "rename":
        word = "join" if detail["joined"] else "rename"
        return Counter({(word, detail["old"], detail["new"]): 1})
    if kind == "drop":
        return Counter({(kind, detail["label"], None): detail["count"]})
    return Counter({(kind, detail["what"], None): 1})


def _of_examples(before: Any, after: Any, count: int) -> str:
    if before is None:
        return f"taught {after}" if count == 1 else f"taught {after} ({count})"
    some = "1 example" if count == 1 else f"{count} examples"
    if after is None:
        return f"deleted {some} of {before}"
    return f"moved {some} from {before} to {after}"


def _of_model(kind: str, before: Any, after: Any, count: int) -> str:
    if kind == "rename":
        return f"renamed {before} to {after}"
    if kind == "join":
        return f"joined {before} with {after}"
    if kind == "drop":
        return f"deleted the class {before} ({count})"
    return str(before)
