"""What a recogniser knows and says, as messages hold it: plain values that JSON can write."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from newfound import __version__
from newfound.recognition.answer_values import answer_values

if TYPE_CHECKING:
    from newfound.features.identity import Identity
    from newfound.recognition.editor import Editor
    from newfound.recognition.example_table import Kept
    from newfound.recognition.history import Edit
    from newfound.recognition.knowledge import Answer


def state_of(editor: "Editor", extractor: "Identity | None") -> dict[str, Any]:
    """Return all that a page shows beside answers.

    Where others teach meanwhile, parts may be of one moment and of the next. After each change
    another state is told, so the last one is right.
    """
    recogniser, history, journal = editor.recogniser, editor.history, editor.journal
    counts, kept = recogniser.counts, journal.examples.counts()
    return {
        "model": editor.path.name,
        "position": history.position,
        "classes": [
            {"label": str(label), "count": int(count), "kept": kept.get(label, 0)}
            for label, count in counts.items()
        ],
        "undo": history.undoable,
        "redo": history.redoable,
        "cannot_tell_unknown": recogniser.cannot_tell_unknown,
        "unknown_above": recogniser.unknown_above,
        "extractor": None if extractor is None else str(extractor),
        "bin": journal.deleted,
        "questions": journal.inbox.count,
        "keep_vectors": journal.keep_vectors,
        "keep_thumbnails": journal.keep_thumbnails,
        "version": __version__,
    }


def answer_of(answer: "Answer | None", seconds: float, position: int) -> dict[str, Any]:
    """Return an answer, how long it took, and after which edit it was given."""
    return {**answer_values(answer), "milliseconds": round(1000 * seconds, 2), "position": position}


def done_of(edit: "Edit", seconds: float) -> dict[str, Any]:
    """Return what an edit did."""
    return {**edit._asdict(), "milliseconds": round(1000 * seconds, 2)}


def examples_of(kept: "Iterable[Kept]") -> list[dict[str, Any]]:
    """Return examples that are kept."""
    return [
        {
            "id": example.id,
            "label": str(example.label),
            "time": example.time,
            "source": example.source,
            "thumbnail": example.has_thumbnail,
            "vector": example.has_vector,
        }
        for example in kept
    ]
