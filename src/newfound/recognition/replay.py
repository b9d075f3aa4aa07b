"""From a journal to a model: what an entry does to a recogniser's knowledge, and what undoes it.

Whoever writes an entry and whoever reads it later does the same by the same functions, so that a
journal read from its beginning leads to the model that wrote it. Labels are checked before they are
written; here all are taken, because a class that is brought back may have an old one.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np

from newfound.recognition.example_table import Change
from newfound.recognition.journal import Entry, Journal
from newfound.recognition.knowledge import Knowledge
from newfound.storage import format as file_format

# Rows are learned in blocks of so many, so that others may ask between two. What is one block is
# worked into what answers at once; after several, the next question solves for all.
BLOCK = 64
# What files call the number of changes since parameters were chosen, among what journals keep.
STORED_CHANGES = "journal.changes"


def apply(knowledge: Knowledge, journal: Journal, entry: Entry) -> None:
    """Do to a recogniser's knowledge what an entry says.

    Parameters
    ----------
    knowledge : Knowledge
        What all entries before it led to.
    journal : Journal
        Where the vectors are.
    entry : Entry
    """
    if entry.kind == "state" or entry.detail.get("rebuilt"):
        become(knowledge, journal.state_of(entry.id))
    elif entry.kind in ("undo", "redo"):
        _turn(knowledge, journal, entry)
    elif entry.kind == "change":
        change(knowledge, journal, entry.rows)
    elif entry.kind == "rename":
        _rename(knowledge, entry.detail["old"], entry.detail["new"], joined=entry.detail["joined"])
    else:
        if entry.kind == "drop":
            knowledge.forget_class(entry.detail["label"])
        settle(knowledge, now=True)


def removes(entry: Entry) -> bool:
    """Tell whether an entry takes anything out of a model: that takes longer than a lesson."""
    return entry.kind != "change" or any(before is not None for _, before, _ in entry.rows)


def undone(journal: Journal, blank: Knowledge, entries: Sequence[Entry]) -> bytes:
    """Return the model that was there before entries."""
    return whole(rebuilt(journal, blank, entries[0].id - 1))


def redone(journal: Journal, blank: Knowledge, entries: Sequence[Entry]) -> bytes:
    """Return the model that entries lead to, after one of which a whole model is kept."""
    kept = (journal.last_state(entry.id) == entry.id for entry in entries)
    start = max(index for index, is_kept in enumerate(kept) if is_kept)
    become(blank, journal.state_of(entries[start].id))
    for entry in entries[start + 1 :]:
        apply(blank, journal, entry)
    return whole(blank)


def _turn(knowledge: Knowledge, journal: Journal, entry: Entry) -> None:
    """Undo or redo the entries that an entry names; examples, as one."""
    entries = [journal.entry(number) for number in entry.detail["of"]]
    ids = [number for number, _, _ in entry.rows]
    if all(other.kind == "change" for other in entries) and len(set(ids)) == len(ids):
        change(knowledge, journal, entry.rows)
        return
    for other in reversed(entries) if entry.kind == "undo" else entries:
        (take_back if entry.kind == "undo" else apply)(knowledge, journal, other)


def _rename(knowledge: Knowledge, old: Any, new: Any, joined: bool) -> None:
    changes = knowledge.changes
    knowledge.rename(old, new, any_label=True)
    if not joined:
        knowledge.changes = changes  # parameters are as good under another name
    settle(knowledge, now=joined)


def can_take_back(entry: Entry) -> bool:
    """Tell whether an entry can be turned round; otherwise a model is made again without it."""
    if entry.kind == "rename":
        return not entry.detail["joined"] or bool(entry.detail["whole"])
    return entry.kind == "change" or (entry.kind == "drop" and bool(entry.detail["whole"]))


def take_back(knowledge: Knowledge, journal: Journal, entry: Entry) -> None:
    """Do the opposite of what an entry says, which can be turned round."""
    if entry.kind == "rename" and not entry.detail["joined"]:
        _rename(knowledge, entry.detail["new"], entry.detail["old"], joined=False)
    else:
        change(knowledge, journal, inverse(entry.rows))


def inverse(rows: Sequence[Change]) -> list[Change]:
    """Return the changes that take changes back."""
    return [(number, after, before) for number, before, after in rows]


def change(knowledge: Knowledge, journal: Journal, rows: Sequence[Change]) -> None:
    """Let examples be known under other labels, exactly.

    First they are taught, then forgotten: who moves the only example there is does not begin anew.
    """
    for start in range(0, len(rows), BLOCK):
        some = rows[start : start + BLOCK]
        examples = journal.examples.vectors([number for number, _, _ in some])
        for place in (2, 1):
            pairs = [
                (example, row[place])
                for example, row in zip(examples, some, strict=True)
                if row[place] is not None
            ]
            if pairs:
                moving, labels = map(list, zip(*pairs, strict=True))
                if place == 2:
                    at_once = len(rows) <= BLOCK
                    knowledge.teach(moving, labels, at_once=at_once, any_label=True)
                else:
                    knowledge.forget(moving, labels)
    # Who would be asked first after something went has parameters chosen anew; here nobody waits
    # for it, and it does not depend on who asks when.
    settle(knowledge, now=any(before is not None for _, before, _ in rows))


def settle(knowledge: Knowledge, *, now: bool) -> None:
    """Work out what the next question would have to wait for; choose parameters now, or if due.

    They are chosen on a copy, so that nobody who asks waits for it; entries come one at a time.
    """
    if now or knowledge.is_due:
        knowledge.reconsider(aside=True)
        return
    with knowledge.lock:
        if knowledge.is_taught:
            _ = knowledge.learner.engine.calibration


def rebuilt(journal: Journal, blank: Knowledge, until: int | None = None) -> Knowledge:
    """Return what a journal leads to, from its beginning or from a whole model on.

    Parameters
    ----------
    journal : Journal
    blank : Knowledge
        What there is before the first entry; it becomes what is returned.
    until : int, optional
        The last entry that counts. By default the last there is.

    Returns
    -------
    Knowledge
    """
    start = journal.last_state(until)
    if start:
        become(blank, journal.state_of(start))
    for entry in journal.entries(start, until):
        apply(blank, journal, entry)
    return blank


def whole(knowledge: Knowledge) -> bytes:
    """Return a model as a journal keeps it; nothing, if it knows nothing."""
    if not knowledge.is_taught:
        return b""
    then, _ = knowledge.freeze()
    state = then.to_state().keeping(changes_array(then.changes))
    return bytes(file_format.to_bytes(state, "the model"))


def become(knowledge: Knowledge, model: bytes) -> None:
    """Become the model that `whole` returned, or nothing was returned of."""
    other = Knowledge(knowledge.learner.blank())
    if model:
        state = file_format.from_bytes(BytesIO(model), "the journal")
        other = Knowledge.of_state(state, "the journal")
        other.changes = stored_changes(state)
    knowledge.replace(other)


def changes_array(changes: int) -> dict[str, Any]:
    """Return the number of changes since parameters were chosen, as files hold it."""
    return {STORED_CHANGES: np.array([changes])}


def stored_changes(state: file_format.State) -> int:
    """Return how many changes there were since parameters were chosen, where a file says so."""
    kept = state.arrays.get(STORED_CHANGES)
    return 0 if kept is None or kept.shape != (1,) else int(kept[0])
