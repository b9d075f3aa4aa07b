"""A recogniser that writes down every edit before it is acknowledged, and can take edits back."""

import copy
import errno
import functools
import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.common.errors import (
    InputError,
    ModelFileError,
    UnreadableImageError,
)
from newfound.common.files import digest_of
from newfound.common.interrupts import uninterrupted
from newfound.estimators.learner import Learner
from newfound.features.identity import Identity
from newfound.recognition import replay
from newfound.recognition.actions import describe
from newfound.recognition.beside import journal_file
from newfound.recognition.extractors import DEFAULT
from newfound.recognition.inbox import MOST_FRAMES, Question
from newfound.recognition.journal import (
    Change,
    Entry,
    Journal,
    JournalError,
    Kept,
    NewExample,
    NoSuchExampleError,
)
from newfound.recognition.labels import check_label
from newfound.recognition.recogniser import Recogniser, checked_digests
from newfound.recognition.sources import Example, stack
from newfound.recognition.taught import TaughtImages
from newfound.recognition.undo import forget as forget_undo
from newfound.storage import format as file_format
from newfound.sums.labels import as_labels

if TYPE_CHECKING:
    from newfound.features.extractor import Extractor

# What snapshots call the journal that they are of, and how far they are.
STORED_ID, STORED_POSITION = "id", "position"
# Of each class, so many examples are asked what they are confused with, and so many in all.
ASKED_PER_CLASS, ASKED = 40, 1000


class ClassExistsError(InputError):
    """A class is to have the name of another; they can be joined."""


class NothingToUndoError(InputError):
    """There is nothing to undo, or to redo."""


class Edit(NamedTuple):
    """What became of an edit."""

    position: int  # of the journal's last entry, after it
    repeated: bool  # its key was seen before: nothing was done again
    what: str  # in words
    examples: list[int]  # that it made or changed


Method = TypeVar("Method", bound=Callable[..., Edit])


def _once(edit: Method) -> Method:
    """Let an edit be made while nobody else edits, and once for each key."""

    @functools.wraps(edit)
    def once(
        self: "JournalledRecogniser", *values: Any, key: str | None = None, **options: Any
    ) -> Edit:
        with self._edit():
            made = self._made_before(key)
            return edit(self, *values, key=key, **options) if made is None else made

    return cast(Method, once)


class JournalledRecogniser(replay.Replica):
    """A recogniser with a journal beside its file.

    Everything taught and every edit is in the journal before a method returns. The file is a
    snapshot of it. A recogniser opened again is the snapshot and whatever came after, so that a
    process may be killed at any moment. Examples can be listed, deleted and moved, classes
    renamed, joined and deleted, and all of it undone and redone, exactly.

    Edits are made one at a time, whoever asks for them. Who looks does not wait for them.

    Parameters
    ----------
    path : str or path-like
        The model's file; the journal is beside it. Either is made if it is not there.
    extractor : str, Extractor or None, default="efficientnet-lite0"
        As for `Recogniser`.
    lean : bool, default=False
        As for `Recogniser`.
    keep_vectors, keep_thumbnails : int, optional
        Of how many examples to keep vectors and pictures, from now on. By default as many as was
        said last, at first 20,000 and 10,000. Those of the oldest go first. Who has no vector any
        more stays known, but cannot be deleted or moved alone.
    read_only : bool, default=False
        Whether only to look: the journal is not written to, and nothing can be taught.

    Attributes
    ----------
    action : str or None
        If set, edits in a row that have it are undone as one.

    Raises
    ------
    JournalError
        If the journal cannot be used.
    ModelFileError
        If the file is no model, or damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kitchen = JournalledRecogniser(Path(folder) / "kitchen.newfound", extractor=None)
    ...     kitchen.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
    ...     kitchen.delete([1]).what
    ...     kitchen.undo().what
    ...     kitchen.counts
    ...     kitchen.close()
    'deleted 1 example of cup'
    'undid: deleted 1 example of cup'
    {'cup': 1, 'mug': 1}
    """

    # journal: every edit. action: what edits belong to.
    # _editing: held by the one thread that edits. _marks: what the snapshot says of the journal.
    # _words: what can be undone and redone.
    # _is_astray: it knows something that is not in the journal; then it takes no more edits.
    # _unwritten: what was learned that is no entry yet, in words: sums from elsewhere.

    def __init__(
        self,
        path: str | os.PathLike[str],
        extractor: "str | os.PathLike[str] | Extractor | None" = DEFAULT,
        *,
        lean: bool = False,
        keep_vectors: int | None = None,
        keep_thumbnails: int | None = None,
        read_only: bool = False,
    ) -> None:
        for name, value in ("keep_vectors", keep_vectors), ("keep_thumbnails", keep_thumbnails):
            if value is not None and (type(value) is not int or value < 0):
                raise InputError(f"{name} must be a whole number from 0, got {value!r}")
        self._editing = threading.RLock()
        self._marks: Mapping[str, NDArray[Any]] = {}
        self.action: str | None = None
        self._unwritten: str | None = None
        self._is_astray = False
        super().__init__(path, extractor, lean=lean)
        self.journal = Journal(
            journal_file(path),
            keep_vectors=keep_vectors,
            keep_thumbnails=keep_thumbnails,
            read_only=read_only,
        )
        try:
            self._catch_up(lean)
        except BaseException:
            self.journal.close()
            raise

    def _open(self, path: Path) -> None:
        """Become what the snapshot holds; one that is damaged is made again from the journal."""
        try:
            super()._open(path)
        except ModelFileError as error:
            if not journal_file(path).exists():
                raise
            warnings.warn(f"{error}; it is made again from its journal", stacklevel=3)

    def become(self, state: file_format.State | None, path: str | os.PathLike[str]) -> None:
        """Become what a file held, as `Recogniser.become` does; nothing of it is written down."""
        super().become(state, path)
        self._marks = {} if state is None else state.kept_by("journal")
        if state is not None:
            self.changes = replay.stored_changes(state)

    def _catch_up(self, lean: bool) -> None:
        """Do what the journal says and the snapshot does not know."""
        journal, position = self.journal, self._position_of_snapshot()
        if position is not None and position >= journal.last_state():
            for entry in journal.entries(position):
                replay.apply(self, journal, entry)
        elif position is not None or not self.is_taught:
            if not journal.last and not journal.read_only:
                with journal.write():
                    journal.set("lean", int(lean))
            self._rebuild()
        elif not journal.read_only:  # there was no journal, or someone put another model there
            self._take_in()
        self._tell()

    def _take_in(self) -> None:
        """Let the model in the file be what the journal goes on from."""
        is_first, mark = not self.journal.last, self._digest_of_file()
        self._write_state("began with a model" if is_first else "found another model")
        with self.journal.write():
            self.journal.note_found(mark, self.position)
            if is_first:  # nobody wants to undo that there was a model
                self.journal.raise_floor(self.position)
        self.snapshot()

    def _digest_of_file(self) -> bytes:
        assert self.path is not None
        return digest_of(self.path.read_bytes())

    def _position_of_snapshot(self) -> int | None:
        """Return up to which entry the snapshot knows the journal; None: it is none of it."""
        name, at = self._marks.get(STORED_ID), self._marks.get(STORED_POSITION)
        if name is None or at is None or name.tobytes() != self.journal.id or at.shape != (1,):
            mark, entry = self.journal.found
            # One that was taken in, and killed before the next snapshot.
            return entry if mark and self.is_taught and mark == self._digest_of_file() else None
        position = int(at[0])
        return position if 0 <= position <= self.journal.last else None

    @property
    def editing(self) -> Any:
        """Hold it to make several edits as one, while others may look: a reentrant lock."""
        return self._editing

    @property
    def keeps_thumbnails(self) -> bool:
        """Whether pictures of what it is taught are kept."""
        return self.journal.keep_thumbnails > 0

    @property
    def position(self) -> int:
        """Number of the journal's last entry."""
        return self.journal.last

    @property
    def undoable(self) -> str | None:
        """What `undo` would take back, in words; None: nothing."""
        return self._words[0]

    @property
    def redoable(self) -> str | None:
        """What `redo` would do again, in words; None: nothing."""
        return self._words[1]

    def _tell(self) -> None:
        self._words = self.journal.actions.undoable, self.journal.actions.redoable

    # Edits, by examples and by classes.

    @_once
    def teach_one(
        self,
        vector: ArrayLike,
        label: Any,
        digest: bytes,
        *,
        extractor: Identity | None = None,
        thumbnail: bytes | None = None,
        source: str = "",
        key: str | None = None,
        action: str | None = None,
    ) -> Edit:
        """Learn one example, unless its image was taught under that label before.

        Parameters
        ----------
        vector : array-like of shape (d,)
        label : str, bool or int
        digest : bytes
            What its image is known by, 16 bytes.
        extractor : Identity, optional
            What made the vector, where that is known.
        thumbnail : bytes, optional
            A small JPEG of it.
        source : str, optional
            Where it came from, in words.
        key : str, optional
            Made by whoever asks: an edit with a key that was seen before is not made again.
        action : str, optional
            Edits in a row with the same one are undone together.

        Returns
        -------
        Edit
            Without examples if it was known already.

        Raises
        ------
        WrongExtractorError, InputError
            As for `teach_vectors`.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kitchen = JournalledRecogniser(Path(folder) / "kitchen.newfound", extractor=None)
        ...     edit = kitchen.teach_one([0.0, 1.0], "mug", b"0" * 16)
        ...     again = kitchen.teach_one([0.0, 1.0], "mug", b"0" * 16)
        ...     kitchen.close()
        >>> edit
        Edit(position=1, repeated=False, what='taught mug', examples=[1])
        >>> again
        Edit(position=1, repeated=False, what='mug was taught this already', examples=[])
        """
        X = np.asarray(vector)[None]
        label = as_labels([self.label(label)]).tolist()[0]
        if self.taught.count(label, digest):
            return Edit(self.position, False, f"{label} was taught this already", [])
        new = [NewExample(X[0], digest, extractor, source, thumbnail)]
        return self._teach(X, [label], new, key, action)

    def teach_vectors(
        self,
        vectors: ArrayLike,
        labels: Sequence[Any],
        digests: Sequence[bytes] | None = None,
        extractor: Identity | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        """Learn vectors, also if they were taught before, as `Recogniser.teach_vectors` does.

        Parameters
        ----------
        vectors : array-like of shape (m, d)
        labels : sequence of str, bool or int
        digests : sequence of bytes, optional
        extractor : Identity, optional
        at_once : bool, default=False
            Has no part here: a few are worked into what answers at once, many are not.

        Raises
        ------
        WrongExtractorError, InputError
            As for `Recogniser.teach_vectors`.
        """
        X, y = self._checked(vectors, labels)
        marks = checked_digests(X, digests)
        if len(X):
            new = [NewExample(row, at, extractor) for row, at in zip(X, marks, strict=True)]
            with self._edit():
                self._teach(X, y.tolist(), new)

    def teach_examples(
        self, examples: Sequence[Example], labels: Sequence[Any], *, at_once: bool = False
    ) -> None:
        """Learn examples that are vectors by now, with pictures of those that are files.

        Parameters
        ----------
        examples : sequence of Example
        labels : sequence of str, bool or int
        at_once : bool, default=False
            As for `teach_vectors`.

        Raises
        ------
        WrongExtractorError, InputError
            As for `teach_vectors`.
        """
        X, y = self._checked(stack(examples)[0], labels)
        new = [
            NewExample(row, each.digest, each.extractor, each.name, self._picture(each))
            for row, each in zip(X, examples, strict=True)
        ]
        with self._edit():
            self._teach(X, y.tolist(), new)

    def _picture(self, example: Example) -> bytes | None:
        """Return a thumbnail of an example: its own, or of a file that is still the same."""
        if not example.of_image or not self.keeps_thumbnails:
            return None
        if example.thumbnail is not None:
            return example.thumbnail
        from newfound.features.images import read_file
        from newfound.recognition.thumbnails import thumbnail_of

        with suppress(UnreadableImageError):
            image = read_file(example.name)
            return thumbnail_of(image) if digest_of(image) == example.digest else None
        return None

    def _teach(
        self,
        X: NDArray[Any],
        labels: Sequence[Any],
        new: Sequence[NewExample],
        key: str | None = None,
        action: str | None = None,
    ) -> Edit:
        self._checked(X, labels)
        for label in set(labels):
            check_label(label)

        def write() -> Entry:
            ids = self.journal.add(new)
            rows = [[number, None, label] for number, label in zip(ids, labels, strict=True)]
            return self.journal.append("change", {"rows": rows}, action or self.action, key)

        return self._write(write)

    def delete(self, examples: Sequence[int], *, key: str | None = None) -> Edit:
        """Forget examples, exactly; they can be brought back until `forget_for_good`.

        Parameters
        ----------
        examples : sequence of int
            As `kept` lists them.
        key : str, optional
            As for `teach_one`.

        Returns
        -------
        Edit

        Raises
        ------
        NoSuchExampleError
            If one is not there, or no vector of it is kept any more.
        """
        return self._relabel(examples, None, key=key)

    def move(self, examples: Sequence[int], label: Any, *, key: str | None = None) -> Edit:
        """Let examples show something else.

        Parameters
        ----------
        examples : sequence of int
            As `kept` lists them.
        label : str, bool or int
        key : str, optional
            As for `teach_one`.

        Returns
        -------
        Edit

        Raises
        ------
        NoSuchExampleError
            As for `delete`.
        """
        check_label(label)
        return self._relabel(examples, label, key=key)

    @_once
    def _relabel(self, examples: Sequence[int], label: Any, *, key: str | None) -> Edit:
        label = self.label(label)
        rows: list[Change] = []
        for number in dict.fromkeys(examples):
            before = self.journal.example(number).label
            if before is None:
                raise NoSuchExampleError(f"example {number} was deleted")
            if before != label:
                rows.append((number, before, label))
        if not rows:
            raise InputError("there is nothing to change")
        self.journal.vectors([number for number, _, _ in rows])  # which must be there
        return self._write(lambda: self.journal.append("change", {"rows": rows}, self.action, key))

    def forget_vectors(
        self,
        vectors: ArrayLike,
        labels: Sequence[Any],
        digests: Sequence[bytes] | None = None,
        extractor: Identity | None = None,
    ) -> None:
        """Take back vectors, as `Recogniser.forget_vectors` does.

        Parameters
        ----------
        vectors : array-like of shape (m, d)
        labels : sequence of str, bool or int
        digests : sequence of bytes, optional
        extractor : Identity, optional

        Raises
        ------
        NotTaughtError
            If they cannot have been taught. Then nothing is changed.
        """
        X, y = self._checked(vectors, labels)
        marks = checked_digests(X, digests)
        if not len(X):
            return
        with self._edit():

            def write() -> Entry:
                rows: list[Change] = []
                used: set[int] = set()
                for row, label, mark in zip(X, y.tolist(), marks, strict=True):
                    known = [each for each in self.journal.find(label, mark) if each not in used]
                    # What was taught before there was a journal is written down to be forgotten,
                    # and so are vectors that were let go.
                    if known:
                        number = known[0]
                        self.journal.put_vector(number, row)
                    else:
                        number = self.journal.add([NewExample(row, mark, extractor)])[0]
                    used.add(number)
                    rows.append((number, label, None))
                return self.journal.append("change", {"rows": rows}, self.action)

            self._write(write)

    # Questions: examples that nobody has given a label yet.

    def ask(self, frames: Sequence[NewExample], source: str = "", guess: str | None = None) -> int:
        """Write down that something is not known, to be named later. Nothing is learned by it.

        Where 200 questions are open, the oldest is dismissed.

        Parameters
        ----------
        frames : sequence of NewExample
            Up to eight views of it.
        source : str, optional
            Where it came from, in words.
        guess : str, optional
            The nearest of what is known.

        Returns
        -------
        int
            The question's id.

        Raises
        ------
        InputError
            If there are no frames, or too many, or they cannot be of this model.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kitchen = JournalledRecogniser(Path(folder) / "kitchen.newfound", extractor=None)
        ...     question = kitchen.ask([NewExample(np.ones(2), b"0" * 16, None)], "camera")
        ...     kitchen.questions()[0].frames, kitchen.counts
        ...     kitchen.name(question, "mug").what
        ...     kitchen.questions(), kitchen.counts
        ...     kitchen.close()
        ([1], {})
        'taught mug'
        ([], {'mug': 1})
        """
        if not 1 <= len(frames) <= MOST_FRAMES:
            raise InputError(f"a question has 1 to {MOST_FRAMES} frames, got {len(frames)}")
        X, _ = self._checked([frame.vector for frame in frames], [""] * len(frames))
        checked_digests(X, [frame.digest for frame in frames])
        with self._edit(), self.journal.write():
            return self.journal.inbox.add(self.journal.add(frames), source, guess)

    def questions(self, before: int | None = None, limit: int = 50) -> list[Question]:
        """Return what nobody has named yet, newest first.

        Parameters
        ----------
        before : int, optional
            Only those with smaller ids.
        limit : int, default=50
            No more than these.

        Returns
        -------
        list of Question
        """
        return self.journal.inbox.open(before, limit)

    @_once
    def name(
        self, question: int, label: Any, *, key: str | None = None, action: str | None = None
    ) -> Edit:
        """Say what a question shows: its frames are learned. Undone, the question is open again.

        Parameters
        ----------
        question : int
            As `questions` lists them.
        label : str, bool or int
        key, action : str, optional
            As for `teach_one`.

        Returns
        -------
        Edit
            Without examples if all its images were taught under that label before.

        Raises
        ------
        NoSuchQuestionError
            If there is none such, or it was answered.
        WrongExtractorError, InputError
            As for `teach_vectors`.
        """
        check_label(label)
        label = as_labels([self.label(label)]).tolist()[0]
        frames = self.journal.inbox.find(question).frames
        found = zip(frames, self.journal.vectors(frames), strict=True)
        new = [(number, row) for number, row in found if not self.taught.count(label, row.digest)]
        if not new:
            self._dismiss(question)
            return Edit(self.position, False, f"{label} was taught this already", [])
        self._checked([row.vector for _, row in new], [label] * len(new))
        rows = [[number, None, label] for number, _ in new]
        detail = {"rows": rows, "question": question}
        return self._write(
            lambda: self.journal.append("change", detail, action or self.action, key)
        )

    def dismiss(self, question: int) -> Edit:
        """Let go of a question without an answer, and of its frames; this cannot be undone.

        Parameters
        ----------
        question : int

        Returns
        -------
        Edit
            Of nothing that was taught: the position is as it was.

        Raises
        ------
        NoSuchQuestionError
            As for `name`.
        """
        with self._edit():
            self.journal.inbox.find(question)
            self._dismiss(question)
            return Edit(self.position, False, f"dismissed question {question}", [])

    def _dismiss(self, question: int) -> None:
        with self.journal.write():
            self.journal.inbox.dismiss(question)

    @_once
    def delete_class(self, label: Any, *, key: str | None = None) -> Edit:
        """Forget all that was taught with a label.

        Parameters
        ----------
        label : str, bool or int
        key : str, optional
            As for `teach_one`.

        Returns
        -------
        Edit

        Raises
        ------
        InputError
            If there is no such class, or the model is lean.
        """
        label, counts = self.label(label), self.counts
        if label not in counts:
            raise InputError(f"there is no class {label}")
        if self.is_lean:
            raise InputError("this model is lean: it cannot forget a class at once")
        detail = {"label": label, "count": counts[label], **self._members(label, None)}
        return self._write(lambda: self._append("drop", detail, key))

    def forget_class(self, label: Any) -> None:
        """Take back all that was taught with a label, as `Recogniser.forget_class` does.

        Parameters
        ----------
        label : str, bool or int

        Raises
        ------
        InputError
            As for `delete_class`.
        """
        self.delete_class(label)

    @_once
    def rename_class(
        self, old: Any, new: Any, *, join: bool = False, key: str | None = None
    ) -> Edit:
        """Give a class another label, or join it with one that has it already.

        Parameters
        ----------
        old, new : str, bool or int
        join : bool, default=False
            Whether a class that has the new label takes the old one in.
        key : str, optional
            As for `teach_one`.

        Returns
        -------
        Edit

        Raises
        ------
        ClassExistsError
            If there is a class of that name, and they are not to be joined.
        InputError
            If there is no class `old`, or `new` is not a label like the others.
        """
        check_label(new)
        old, counts = self.label(old), self.counts
        if old not in counts:
            raise InputError(f"there is no class {old}")
        if old == new and type(old) is type(new):
            raise InputError(f"{old} is its name already")
        if new in counts and not join:
            raise ClassExistsError(f"there is a class {new} already: the two can be joined")
        detail = {"old": old, "new": new, "joined": new in counts, **self._members(old, new)}
        return self._write(lambda: self._append("rename", detail, key))

    def _append(self, kind: str, detail: dict[str, Any], key: str | None) -> Entry:
        """Write down an edit; before one that cannot be turned round, what there is, to go back."""
        entry = Entry(0, kind, "", detail)
        if not replay.can_take_back(entry) and self.position:
            self.journal.keep_state(self.position, replay.whole(self))
        return self.journal.append(kind, detail, self.action, key)

    def rename(self, old: Any, new: Any) -> None:
        """Give a class another label, as `Recogniser.rename` does.

        Parameters
        ----------
        old, new : str, bool or int

        Raises
        ------
        InputError
            If there is no class `old`, or `new` is not a label like the others.
        """
        self.rename_class(old, new, join=True)

    def _members(self, label: Any, after: Any) -> dict[str, Any]:
        """Return the examples of a class, and whether the class is these and no more."""
        ids = self.journal.ids_of(label)
        has_all = len(self.journal.ids_with_vectors(label)) == self.counts[label]
        return {"whole": has_all, "rows": [[number, label, after] for number in ids]}

    def merge(self, other: Recogniser) -> int:
        """Learn all that another was taught, as `Recogniser.merge` does.

        Only sums come from it: its examples cannot be listed. It is written down, as a whole
        model, when this one is saved, or edited in another way.

        Parameters
        ----------
        other : Recogniser

        Returns
        -------
        int
            How many images both were taught under one label: they count twice.

        Raises
        ------
        WrongExtractorError, InputError
            As for `Recogniser.merge`.
        """
        with self._editing:
            self._check_writable()
            both = super().merge(other)
            self._unwritten = "learned what another model knows"
            return both

    @_once
    def replace(
        self, model: "str | os.PathLike[str] | Recogniser", *, key: str | None = None
    ) -> Edit:
        """Become another model, of which only sums come.

        Parameters
        ----------
        model : str, path-like or Recogniser
            Its file, or itself.
        key : str, optional
            As for `teach_one`.

        Returns
        -------
        Edit

        Raises
        ------
        ModelFileError
            If it is no model. Then nothing is changed.
        """
        if not isinstance(model, Recogniser) and not Path(model).exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(model))
        other = model if isinstance(model, Recogniser) else Recogniser(model, None)
        return self._write_state("brought in another model", key, replay.whole(other))

    @_once
    def undo(self, *, key: str | None = None) -> Edit:
        """Take the last action back that was not taken back yet.

        Parameters
        ----------
        key : str, optional
            As for `teach_one`.

        Returns
        -------
        Edit

        Raises
        ------
        NothingToUndoError
        """
        if not self.journal.actions.done:
            raise NothingToUndoError("there is nothing to undo")
        action = self.journal.actions.done[-1]
        entries = [self.journal.entry(number) for number in action.ids]
        rows = [row for entry in reversed(entries) for row in replay.inverse(entry.rows)]
        turns = all(map(replay.can_take_back, entries))
        detail = {"of": action.ids, "rows": rows, "rebuilt": not turns}

        def write() -> Entry:
            entry = self.journal.append("undo", detail, None, key)
            if not turns:
                before = replay.rebuilt(self.journal, self._nothing(), action.ids[0] - 1)
                self.journal.keep_state(entry.id, replay.whole(before))
            return entry

        return self._write(write, f"undid: {action}")

    @_once
    def redo(self, *, key: str | None = None) -> Edit:
        """Do again what was undone last, if nothing else was done since.

        Parameters
        ----------
        key : str, optional
            As for `teach_one`.

        Returns
        -------
        Edit

        Raises
        ------
        NothingToUndoError
        """
        if not self.journal.actions.undone:
            raise NothingToUndoError("there is nothing to redo")
        action = self.journal.actions.undone[-1]
        entries = [self.journal.entry(number) for number in action.ids]
        rows = [row for entry in entries for row in entry.rows]
        is_whole = any(entry.kind == "state" for entry in entries)
        detail = {"of": action.ids, "rows": rows, "rebuilt": is_whole}

        def write() -> Entry:
            entry = self.journal.append("redo", detail, None, key)
            if is_whole:
                self.journal.keep_state(entry.id, replay.redone(self.journal, entries))
            return entry

        return self._write(write, f"did again: {action}")

    def refresh(self) -> None:
        """Bring the choice of parameters, and how sure answers may be, up to date now."""
        with self._edit():
            if self.is_taught:
                self._write(lambda: self.journal.append("refresh", {}))

    def _refresh_if_due(self) -> None:
        """Do nothing: each entry has seen to it."""

    def refresh_if_changed(self) -> None:
        """Do what `refresh` does, if anything was taught or forgotten since the last time."""
        if self.changes:
            self.refresh()

    def forget_for_good(self) -> Edit:
        """Let what was deleted leave the journal, too; nothing before this can be undone.

        The file is written anew, without what is gone, and so is the model's.

        Returns
        -------
        Edit
        """
        with self._edit():
            gone = self.journal.deleted
            is_gone = self._forget_past()
            self.snapshot()
            forget_undo(Path(os.path.realpath(self.path or "")))
            what = f"forgot {gone} deleted for good"
            if not is_gone:
                what += "; another program reads the journal, and until it ends they are in it"
            return Edit(self.position, False, what, [])

    def _forget_past(self) -> bool:
        """Let go of the past; return whether its traces are gone, too."""
        with self.journal.write():
            self.journal.forget_past(replay.whole(self))
        self._tell()
        return self.journal.shrink()

    # What is known of examples.

    def kept(self, label: Any = None, before: int | None = None, limit: int = 50) -> list[Kept]:
        """Return examples, newest first.

        Parameters
        ----------
        label : str, bool or int, optional
            By default of all classes.
        before : int, optional
            Only those with smaller ids.
        limit : int, default=50
            No more than these.

        Returns
        -------
        list of Kept
        """
        return self.journal.kept(None if label is None else self.label(label), before, limit)

    def example(self, number: int) -> Kept:
        """Return what is known of an example, or raise NoSuchExampleError.

        Parameters
        ----------
        number : int

        Returns
        -------
        Kept
        """
        return self.journal.example(number)

    def thumbnail(self, number: int) -> bytes | None:
        """Return a small JPEG of an example; None: none is kept.

        Parameters
        ----------
        number : int

        Returns
        -------
        bytes or None
        """
        return self.journal.thumbnail(number)

    def confusions(self) -> list[tuple[Any, Any, int]]:
        """Say what is confused with what: examples, had each alone not been taught.

        Returns
        -------
        list of (label, said, count)
            Of the newest of each class: what they are, what they would be called, how often.
        """
        found = Counter[tuple[Any, Any]]()
        counts = self.counts
        asked = min(ASKED_PER_CLASS, max(1, ASKED // max(1, len(counts))))
        for label in counts:
            with suppress(InputError):  # which someone else deletes just now
                rows = self.journal.vectors(self.journal.ids_with_vectors(label, asked))
                if rows:
                    said = self.left_out([row.vector for row in rows], [label] * len(rows))
                    found.update((label, each) for each in said)
        return [(label, said, count) for (label, said), count in found.items()]

    # The file.

    def save(self, path: str | os.PathLike[str] | None = None, *, refresh: bool = True) -> None:
        """Write the model; to its own file as `snapshot` does, elsewhere without the journal.

        Parameters
        ----------
        path : str or path-like, optional
        refresh : bool, default=True
            As for `Recogniser.save`.

        Raises
        ------
        NotFittedError
            If nothing was taught, and it is to be written elsewhere.
        """
        if path is not None and os.path.realpath(path) != os.path.realpath(self.path or ""):
            super().save(path, refresh=refresh)
            return
        if refresh:
            self.refresh_if_changed()
        self.snapshot()

    def snapshot(self) -> None:
        """Write the model's file, with how far it knows the journal; remove it if it is empty."""
        assert self.path is not None
        with self._editing:
            self._check_writable()
            self._write_what_is_left()
            position = self.position
            now = self.freeze() if self.is_taught else None
            changes = self.changes
        if now is None:
            Path(os.path.realpath(self.path)).unlink(missing_ok=True)
            return
        marks = {
            STORED_ID: np.frombuffer(self.journal.id, np.uint8),
            STORED_POSITION: np.array([position]),
            replay.STORED_CHANGES: np.array([changes]),
        }
        file_format.write(self.path, now.to_state().keeping("journal", marks), now.moment)

    def close(self) -> None:
        """Write the model's file, and close the journal."""
        with self._editing:
            try:
                if not self.journal.read_only:
                    self.snapshot()
            finally:
                self.journal.close()

    def detached(self) -> Recogniser:
        """Return a recogniser that knows the same and writes down nothing; this one is used up.

        Returns
        -------
        Recogniser
        """
        other = Recogniser(None, self._choice)
        other.path = self.path
        self._share(other, self._learner, self.taught)
        return other

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a recogniser with a journal is in one place only: open it there")

    # How edits are made.

    @contextmanager
    def _edit(self) -> Iterator[None]:
        """Let nobody else edit meanwhile."""
        with self._editing, uninterrupted():
            self._check_writable()
            self._write_what_is_left()
            yield

    def _made_before(self, key: str | None) -> Edit | None:
        """Return what became of an edit with a key, if it was made."""
        entry = None if key is None else self.journal.entry_of(key)
        if entry is None:
            return None
        return Edit(self.position, True, "done before", [number for number, _, _ in entry.rows])

    def _write(self, write: Callable[[], Entry], what: str | None = None) -> Edit:
        """Write an entry and do what it says: both, or neither."""
        before = self._learner.version
        try:
            with self.journal.write():
                entry = write()
                if replay.removes(entry):
                    self._apply_apart(entry)
                else:
                    replay.apply(self, self.journal, entry)
        except BaseException:
            if self._learner.version != before:
                self._is_astray = True
                self._rebuild()
                self._is_astray = False
            raise
        finally:
            self._tell()
        with suppress(JournalError):  # the edit is made, whatever becomes of the room it takes
            if self.journal.is_full:
                self._forget_past()
        what = what or describe(entry.kind, entry.detail)
        return Edit(self.position, False, what, [number for number, _, _ in entry.rows])

    def _apply_apart(self, entry: Entry) -> None:
        """Do what an entry says on a copy: who looks meanwhile sees the model as it was."""
        with self.lock:
            other = replay.Replica(extractor=None)
            self._share(other, copy.deepcopy(self._learner), self.taught.copy())
        replay.apply(other, self.journal, entry)
        self._take(other)

    def _share(self, other: Recogniser, learner: Learner, taught: TaughtImages) -> None:
        """Let another recogniser know what this one does."""
        other._learner, other.taught = learner, taught  # noqa: SLF001 - a recogniser, too
        other.identity, other.changes = self.identity, self.changes
        other.unknown_above = self.unknown_above

    def _take(self, other: Recogniser) -> None:
        """Become what another recogniser, which is used up, is."""
        with self.lock:
            self._learner, self.taught = other._learner, other.taught  # noqa: SLF001 - as above
            self.identity, self.changes = other.identity, other.changes

    def _write_state(self, what: str, key: str | None = None, model: bytes | None = None) -> Edit:
        """Write down a whole model, this one or another that it is to become."""
        data = replay.whole(self) if model is None else model
        rows = []
        if model is not None or what == "found another model":
            for label in self.journal.counts():
                rows += [[number, label, None] for number in self.journal.ids_of(label)]

        def write() -> Entry:
            entry = self.journal.append("state", {"what": what, "rows": rows}, self.action, key)
            self.journal.keep_state(entry.id, data)
            return entry

        return self._write(write)

    def _write_what_is_left(self) -> None:
        """Write down what was learned that is no entry yet."""
        if self._unwritten is not None:
            self._write_state(self._unwritten)
            self._unwritten = None

    def _check_writable(self) -> None:
        if self.journal.read_only:
            raise InputError("this recogniser was opened to look only")
        if self._is_astray:
            raise JournalError(
                f"{self.journal.path}: what was last learned could not be written down, nor taken "
                "back: open it again"
            )

    def _nothing(self) -> Recogniser:
        """Return what a model is before the first entry of the journal."""
        return replay.Replica(extractor=None, lean=self.journal.lean)

    def _rebuild(self) -> None:
        """Become what the journal says."""
        self._take(replay.rebuilt(self.journal, self._nothing()))
