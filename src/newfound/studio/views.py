"""What a recogniser knows and says, as messages hold it: plain values that JSON can write."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from newfound import __version__

if TYPE_CHECKING:
    from newfound.features.identity import Identity
    from newfound.recognition.inbox import Question
    from newfound.recognition.journal import Kept
    from newfound.recognition.journalled import Edit, JournalledRecogniser
    from newfound.recognition.recogniser import Answer

# Guesses that an answer holds.
TOP = 20


def state_of(recogniser: "JournalledRecogniser", extractor: "Identity | None") -> dict[str, Any]:
    """Return all that a page shows beside answers.

    Where others teach meanwhile, parts may be of one moment and of the next. After each change
    another state is told, so the last one is right.
    """
    journal = recogniser.journal
    counts, kept = recogniser.counts, journal.counts()
    return {
        "model": model_name(recogniser),
        "position": recogniser.position,
        "classes": [
            {"label": str(label), "count": int(count), "kept": kept.get(label, 0)}
            for label, count in counts.items()
        ],
        "undo": recogniser.undoable,
        "redo": recogniser.redoable,
        "cannot_tell_unknown": recogniser.cannot_tell_unknown,
        "unknown_above": recogniser.unknown_above,
        "extractor": None if extractor is None else str(extractor),
        "bin": journal.deleted,
        "questions": journal.inbox.count,
        "keep_vectors": journal.keep_vectors,
        "keep_thumbnails": journal.keep_thumbnails,
        "version": __version__,
    }


def model_name(recogniser: "JournalledRecogniser") -> str:
    """Return what the model's file is called, without where it is."""
    return "" if recogniser.path is None else recogniser.path.name


def questions_of(questions: "Iterable[Question]") -> list[dict[str, Any]]:
    """Return what nobody has named yet."""
    return [question._asdict() for question in questions]


def answer_of(answer: "Answer | None", seconds: float, position: int) -> dict[str, Any]:
    """Return an answer; None: nothing was taught, so it is of no class."""
    common = {"milliseconds": round(1000 * seconds, 2), "position": position}
    if answer is None:
        nothing = {"score": 0.0, "unknown": 1.0, "novelty": 1.0, "top": []}
        return {"label": None, "known": False, **nothing, **common}
    return {
        "label": str(answer.label),
        "known": answer.known,
        "score": round(answer.score, 6),
        "unknown": round(answer.unknown, 6),
        "novelty": round(answer.novelty, 6),
        "top": [
            {"label": str(label), "score": round(score, 6)} for label, score in answer.top[:TOP]
        ],
        **common,
    }


def done_of(edit: "Edit", seconds: float) -> dict[str, Any]:
    """Return what an edit did."""
    return {
        "position": edit.position,
        "repeated": edit.repeated,
        "what": edit.what,
        "examples": list(edit.examples),
        "milliseconds": round(1000 * seconds, 2),
    }


def examples_of(kept: "Iterable[Kept]") -> list[dict[str, Any]]:
    """Return examples that are kept."""
    return [
        {
            "id": each.id,
            "label": str(each.label),
            "time": each.time,
            "source": each.source,
            "thumbnail": each.has_thumbnail,
            "vector": each.has_vector,
        }
        for each in kept
    ]
