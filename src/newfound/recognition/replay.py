"""From a journal to a model: what an entry does to a recogniser, and what takes it back.

Whoever writes an entry and whoever reads it later does the same by the same functions, so that a
journal read from its beginning leads to the model that wrote it.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np

from newfound.recognition.journal import Change, Entry, Journal
from newfound.recognition.recogniser import Recogniser
from newfound.storage import format as file_format

# Rows are learned in blocks of so many, so that others may ask between two. What is one block is
# worked into what answers at once; after several, the next question solves for all.
BLOCK = 64
# What files call the number of changes since parameters were chosen, among what journals keep.
STORED_CHANGES = "changes"


class Replica(Recogniser):
    """A recogniser whose edits come one at a time: it chooses parameters on a copy.

    So nobody who asks waits for that, and the choice is the same whenever entries are read.
    """

    def settle(self, *, now: bool = False) -> None:
        """Work out now what the next question would have to wait for.

        Parameters
        ----------
        now : bool, default=False
            As for `Recogniser.settle`.
        """
        if now or self._is_due():  # without holding the lock
            self._reconsider()
        else:
            super().settle()

    def _reconsider(self) -> None:
        self.changes = 0
        if self.is_taught:
            self._learner.reconsider_apart()


def apply(recogniser: Recogniser, journal: Journal, entry: Entry) -> None:
    """Do to a recogniser what an entry says.

    Parameters
    ----------
    recogniser : Recogniser
        What all entries before it led to.
    journal : Journal
        Where the vectors are.
    entry : Entry
    """
    if entry.kind == "state" or entry.detail.get("rebuilt"):
        become(recogniser, journal.state_of(entry.id))
    elif entry.kind in ("undo", "redo"):
        _turn(recogniser, journal, entry)
    elif entry.kind == "change":
        change(recogniser, journal, entry.rows)
    else:
        _apply_to_classes(recogniser, entry.kind, entry.detail)


def removes(entry: Entry) -> bool:
    """Tell whether an entry takes anything out of a model: that takes longer than a lesson."""
    return entry.kind != "change" or any(before is not None for _, before, _ in entry.rows)


def redone(journal: Journal, entries: Sequence[Entry]) -> bytes:
    """Return the model that entries lead to, after one of which a whole model is kept."""
    start = max(index for index, entry in enumerate(entries) if journal.has_state(entry.id))
    model = Replica(extractor=None)
    become(model, journal.state_of(entries[start].id))
    for entry in entries[start + 1 :]:
        apply(model, journal, entry)
    return whole(model)


def _turn(recogniser: Recogniser, journal: Journal, entry: Entry) -> None:
    """Undo or redo the entries that an entry names; examples, as one."""
    entries = [journal.entry(number) for number in entry.detail["of"]]
    ids = [number for number, _, _ in entry.rows]
    if all(each.kind == "change" for each in entries) and len(set(ids)) == len(ids):
        change(recogniser, journal, entry.rows)
        return
    for each in reversed(entries) if entry.kind == "undo" else entries:
        (take_back if entry.kind == "undo" else apply)(recogniser, journal, each)


def _apply_to_classes(recogniser: Recogniser, kind: str, detail: dict[str, Any]) -> None:
    if kind == "rename":
        _rename(recogniser, detail["old"], detail["new"], joined=detail["joined"])
        return
    if kind == "drop":
        Recogniser.forget_class(recogniser, detail["label"])
    recogniser.settle(now=True)


def _rename(recogniser: Recogniser, old: Any, new: Any, joined: bool) -> None:
    changes = recogniser.changes
    Recogniser.rename(recogniser, old, new)
    if not joined:
        recogniser.changes = changes  # parameters are as good under another name
    recogniser.settle(now=joined)


def can_take_back(entry: Entry) -> bool:
    """Tell whether an entry can be turned round; otherwise a model is made again without it."""
    if entry.kind == "rename":
        return not entry.detail["joined"] or bool(entry.detail["whole"])
    return entry.kind == "change" or (entry.kind == "drop" and bool(entry.detail["whole"]))


def take_back(recogniser: Recogniser, journal: Journal, entry: Entry) -> None:
    """Do to a recogniser the opposite of what an entry says, which can be turned round."""
    if entry.kind == "rename" and not entry.detail["joined"]:
        _rename(recogniser, entry.detail["new"], entry.detail["old"], joined=False)
    else:
        change(recogniser, journal, inverse(entry.rows))


def inverse(rows: Sequence[Change]) -> list[Change]:
    """Return the changes that take changes back."""
    return [(number, after, before) for number, before, after in rows]


def change(recogniser: Recogniser, journal: Journal, rows: Sequence[Change]) -> None:
    """Let a recogniser know examples under other labels, exactly.

    First they are taught, then forgotten: who moves the only example there is does not begin anew.
    """
    for start in range(0, len(rows), BLOCK):
        some = rows[start : start + BLOCK]
        found = journal.vectors([number for number, _, _ in some])
        vectors = np.stack([each.vector for each in found])
        digests = [each.digest for each in found]
        made_by = next((each.extractor for each in found if each.extractor is not None), None)
        come = [index for index, row in enumerate(some) if row[2] is not None]
        gone = [index for index, row in enumerate(some) if row[1] is not None]
        if come:
            labels = [some[index][2] for index in come]
            marks = [digests[index] for index in come]
            Recogniser.teach_vectors(
                recogniser, vectors[come], labels, marks, made_by, at_once=len(rows) <= BLOCK
            )
        if gone:
            labels = [some[index][1] for index in gone]
            marks = [digests[index] for index in gone]
            Recogniser.forget_vectors(recogniser, vectors[gone], labels, marks, made_by)
    # Who would be asked first after something went has the witnesses vote; here nobody waits for
    # it, and it does not depend on who asks when.
    recogniser.settle(now=any(before is not None for _, before, _ in rows))


def rebuilt(journal: Journal, blank: Recogniser, until: int | None = None) -> Recogniser:
    """Return the model that a journal leads to, from its beginning or from a whole model on.

    Parameters
    ----------
    journal : Journal
    blank : Recogniser
        What a model is before the first entry; it becomes the one that is returned.
    until : int, optional
        The last entry that counts. By default the last there is.

    Returns
    -------
    Recogniser
    """
    start = journal.last_state(until)
    if start:
        become(blank, journal.state_of(start))
    for entry in journal.entries(start, until):
        apply(blank, journal, entry)
    return blank


def whole(recogniser: Recogniser) -> bytes:
    """Return a model as a journal keeps it; nothing, if it knows nothing."""
    if not recogniser.is_taught:
        return b""
    with recogniser.lock:
        state, changes = recogniser.freeze().to_state(), recogniser.changes
    kept: dict[str, Any] = {STORED_CHANGES: np.array([changes])}
    return bytes(file_format.to_bytes(state.keeping("journal", kept), "the model"))


def become(recogniser: Recogniser, model: bytes) -> None:
    """Let a recogniser be the model that `whole` returned, or nothing was returned of."""
    if not model:
        recogniser.become(None, "")
        return
    state = file_format.from_bytes(BytesIO(model), "the journal")
    recogniser.become(state, "the journal")
    recogniser.changes = stored_changes(state)


def stored_changes(state: file_format.State) -> int:
    """Return how many changes there were since parameters were chosen, where a file says so."""
    kept = state.kept_by("journal").get(STORED_CHANGES)
    return 0 if kept is None or kept.shape != (1,) else int(kept[0])
