"""The editor: a recogniser with a journal, in which every edit is before it is acknowledged."""

import errno
import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from newfound.common.errors import InputError
from newfound.common.files import clear_leftovers, moment, remove
from newfound.recognition import replay
from newfound.recognition.beginning import USUAL, Beginning
from newfound.recognition.beside import journal_file
from newfound.recognition.example_table import Change, NoSuchExampleError
from newfound.recognition.extractors import DEFAULT
from newfound.recognition.history import Edit
from newfound.recognition.inbox import MOST_FRAMES
from newfound.recognition.journal import Entry, Journal
from newfound.recognition.journal_history import FOUND, STILL_READ, JournalHistory
from newfound.recognition.knowledge import Knowledge, checked_digests
from newfound.recognition.recogniser import Recogniser, become
from newfound.recognition.snapshot import FileSnapshot, marks_of
from newfound.recognition.sources import NewExample
from newfound.recognition.undo import forget as forget_undo
from newfound.storage import format as file_format
from newfound.sums.labels import as_labels
from newfound.sums.names import check_names

if TYPE_CHECKING:
    from newfound.features.extractor import Extractor


class ClassExistsError(InputError):
    """A class is to have the name of another; they can be joined."""


Method = TypeVar("Method", bound=Callable[..., Edit])


def _once(edit: Method) -> Method:
    """Let an edit be made while nobody else edits, and once for each key."""

    @functools.wraps(edit)
    def once(self: "Editor", *values: Any, key: str | None = None, **options: Any) -> Edit:
        return self.history.once(key, lambda: edit(self, *values, key=key, **options))

    return cast(Method, once)


class Editor:
    """A recogniser, and the journal beside its file.

    Everything taught and every edit is in the journal before a method returns. The file is a
    snapshot of it. What is opened again is the snapshot and whatever came after, so that a process
    may be killed at any moment. Examples can be listed, deleted and moved, classes renamed, joined
    and deleted, and all of it undone and redone, exactly.

    Edits are made one at a time, whoever asks for them. Who looks does not wait for them.

    Parameters
    ----------
    path : str or path-like
        The model's file; the journal is beside it. Either is made if it is not there.
    extractor : str, Extractor or None, default="efficientnet-lite0"
        As for `Recogniser`.
    beginning : Beginning, optional
        What a new model is made with.
    keep_vectors, keep_thumbnails : int, optional
        Of how many examples to keep vectors and pictures, from now on. By default as many as was
        said last, at first 20,000 and 10,000. Those of the oldest go first. Who has no vector any
        more stays known, but cannot be deleted or moved alone.
    read_only : bool, default=False
        Whether only to look: the journal is not written to, and nothing can be taught.

    Attributes
    ----------
    recogniser : Recogniser
        Looks at images. What it is taught and told to forget is written down, too.
    history : JournalHistory
        Undoes and redoes.
    journal : Journal
        Lists examples and questions.

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
    ...     kitchen = Editor(Path(folder) / "kitchen.newfound", extractor=None)
    ...     kitchen.recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
    ...     kitchen.delete([1]).what
    ...     kitchen.history.undo().what
    ...     kitchen.recogniser.counts
    ...     kitchen.close()
    'deleted 1 example of cup'
    'undid: deleted 1 example of cup'
    {'cup': 1, 'mug': 1}
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        extractor: "str | os.PathLike[str] | Extractor | None" = DEFAULT,
        *,
        beginning: Beginning = USUAL,
        keep_vectors: int | None = None,
        keep_thumbnails: int | None = None,
        read_only: bool = False,
    ) -> None:
        kept = {"keep_vectors": keep_vectors, "keep_thumbnails": keep_thumbnails}
        for name, value in kept.items():
            if value is not None and (type(value) is not int or value < 0):
                raise InputError(f"{name} must be a whole number from 0, got {value!r}")
        self.path = Path(path)
        snapshot = FileSnapshot(self.path)
        self.recogniser = Recogniser(None, extractor, **beginning._asdict())
        self.recogniser.path, self.recogniser.edits = self.path, self
        self.knowledge = self.recogniser.knowledge
        if snapshot.knowledge is not None:
            become(self.recogniser, snapshot.knowledge)
        self.journal = Journal(journal_file(path), **kept, read_only=read_only)
        try:
            self.history = JournalHistory(self.recogniser.knowledge, self.journal)
            self._catch_up(snapshot, beginning)
        except BaseException:
            self.journal.close()
            raise

    def _catch_up(self, snapshot: FileSnapshot, beginning: Beginning) -> None:
        """Do what the journal says and the snapshot does not know."""
        journal, position = self.journal, snapshot.position(self.journal)
        if position is not None and position >= journal.last_state():
            self.history.catch_up(position)
        elif position is not None or snapshot.knowledge is None:
            if not journal.last and not journal.read_only:
                self.history.begin(beginning)
            self.history.rebuild()
        elif not journal.read_only:  # there was no journal, or someone put another model there
            self._take_in(snapshot)

    def _take_in(self, snapshot: FileSnapshot) -> None:
        """Let the model in the file be what the journal goes on from."""
        journal, is_first = self.journal, not self.journal.last
        self.history.write_model("began with a model" if is_first else FOUND)
        with journal.write():
            journal.note_found(snapshot.digest, journal.last)
            if is_first:  # nobody wants to undo that there was a model
                journal.raise_floor(journal.last)
        self.history.tell()
        self.snapshot()

    @property
    def lock(self) -> Any:
        """Hold it to make several edits as one, while others may look: a reentrant lock."""
        return self.history.lock

    @property
    def keeps_thumbnails(self) -> bool:
        """Whether pictures of what is taught are kept."""
        return self.journal.keep_thumbnails > 0

    # Edits, by examples and by classes.

    @_once
    def teach(
        self,
        examples: Sequence[NewExample],
        labels: Sequence[Any],
        *,
        at_once: bool = False,
        key: str | None = None,
        action: str | None = None,
    ) -> Edit:
        """Learn examples, also if they were taught before.

        Parameters
        ----------
        examples : sequence of NewExample
        labels : sequence of str, bool or int
            One for each.
        at_once : bool, default=False
            Has no part here: a few are worked into what answers at once, many are not.
        key : str, optional
            Made by whoever asks: an edit with a key that was seen before is not made again.
        action : str, optional
            Edits in a row with the same one are undone together.

        Returns
        -------
        Edit

        Raises
        ------
        WrongExtractorError, InputError
            As for `Recogniser.teach_vectors`.
        """
        y = self._checked(examples, labels)
        counts = self.recogniser.counts
        check_names(label for label in dict.fromkeys(y) if label not in counts)

        def write() -> Entry:
            ids = self.journal.examples.add(examples, self.journal.keep_thumbnails)
            rows = [[number, None, label] for number, label in zip(ids, y, strict=True)]
            return self.journal.append("change", {"rows": rows}, action or self.history.action, key)

        return self.history.write(write)

    def _checked(self, examples: Sequence[NewExample], labels: Sequence[Any]) -> list[Any]:
        """Return the label of each example, or raise ValueError if they cannot be learned."""
        X, y = self.knowledge.checked([example.vector for example in examples], labels)
        checked_digests(X, [example.digest for example in examples])
        meant: list[Any] = y.tolist()
        return meant

    @_once
    def teach_new(
        self, example: NewExample, label: Any, *, key: str | None = None, action: str | None = None
    ) -> Edit:
        """Learn one example, unless its image was taught under that label before.

        Parameters
        ----------
        example : NewExample
        label : str, bool or int
        key, action : str, optional
            As for `teach`.

        Returns
        -------
        Edit
            Without examples if it was known already.

        Raises
        ------
        WrongExtractorError, InputError
            As for `teach`.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> one = NewExample(np.array([0.0, 1.0]), b"0" * 16)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kitchen = Editor(Path(folder) / "kitchen.newfound", extractor=None)
        ...     edit, again = kitchen.teach_new(one, "mug"), kitchen.teach_new(one, "mug")
        ...     kitchen.close()
        >>> edit
        Edit(position=1, repeated=False, what='taught mug', examples=[1])
        >>> again
        Edit(position=1, repeated=False, what='mug was taught this already', examples=[])
        """
        meant = self._checked_label(label)
        if self.is_taught(example.digest, meant):
            return self.history.nothing(f"{meant} was taught this already")
        return self.teach([example], [meant], key=key, action=action)

    def is_taught(self, digest: bytes, label: Any) -> bool:
        """Tell whether an image with this digest was taught under a label."""
        meant = as_labels([self.recogniser.label(label)]).tolist()[0]
        return self.recogniser.taught.count(meant, digest) > 0

    @_once
    def forget(
        self, examples: Sequence[NewExample], labels: Sequence[Any], *, key: str | None = None
    ) -> Edit:
        """Take back examples, known by label and digest, as if they had never been taught.

        Parameters
        ----------
        examples : sequence of NewExample
        labels : sequence of str, bool or int
        key : str, optional
            As for `teach`.

        Returns
        -------
        Edit

        Raises
        ------
        NotTaughtError
            If they cannot have been taught. Then nothing is changed.
        """
        y = self._checked(examples, labels)
        table, keep = self.journal.examples, self.journal.keep_thumbnails

        def write() -> Entry:
            rows: list[Change] = []
            used: set[int] = set()
            for example, label in zip(examples, y, strict=True):
                known = [one for one in table.find(label, example.digest) if one not in used]
                # What was taught before there was a journal is written down to be forgotten, and
                # so are vectors that were let go.
                if known:
                    number = known[0]
                    table.put_vector(number, example.vector)
                else:
                    number = table.add([example], keep)[0]
                used.add(number)
                rows.append((number, label, None))
            return self.journal.append("change", {"rows": rows}, self.history.action, key)

        return self.history.write(write)

    def delete(self, examples: Sequence[int], *, key: str | None = None) -> Edit:
        """Forget examples, exactly; they can be brought back until `forget_for_good`.

        Parameters
        ----------
        examples : sequence of int
            As the journal lists them.
        key : str, optional
            As for `teach`.

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
            As the journal lists them.
        label : str, bool or int
        key : str, optional
            As for `teach`.

        Returns
        -------
        Edit

        Raises
        ------
        NoSuchExampleError
            As for `delete`.
        """
        as_labels([label], "label")
        return self._relabel(examples, label, key=key)

    def _checked_label(self, label: Any) -> Any:
        """Return the label that a text stands for, or raise ValueError if it cannot be taught."""
        self.knowledge.check_labels([label])
        return as_labels([self.recogniser.label(label)]).tolist()[0]

    @_once
    def _relabel(self, examples: Sequence[int], label: Any, *, key: str | None) -> Edit:
        journal, rows = self.journal, list[Change]()
        meant = None if label is None else self._checked_label(label)
        for number in dict.fromkeys(examples):
            before = journal.examples.example(number).label
            if before is None:
                raise NoSuchExampleError(f"example {number} was deleted")
            if before != meant:
                rows.append((number, before, meant))
        if not rows:
            raise InputError("there is nothing to change")
        journal.examples.vectors([number for number, _, _ in rows])  # which must be there
        return self.history.write(lambda: self.history.append("change", {"rows": rows}, key))

    @_once
    def forget_class(self, label: Any, *, key: str | None = None) -> Edit:
        """Forget all that was taught with a label.

        Parameters
        ----------
        label : str, bool or int
        key : str, optional
            As for `teach`.

        Returns
        -------
        Edit

        Raises
        ------
        InputError
            If there is no such class, or the model holds no sums of each class.
        """
        meant, counts = self._known(label)
        if not self.recogniser.holds_class_sums:
            raise InputError("this model holds no sums of each class: it cannot forget one at once")
        detail = {"label": meant, "count": counts[meant], **self._members(meant, None)}
        return self.history.write(lambda: self.history.append("drop", detail, key))

    @_once
    def rename(self, old: Any, new: Any, *, join: bool = True, key: str | None = None) -> Edit:
        """Give a class another label, or join it with one that has it already.

        Parameters
        ----------
        old, new : str, bool or int
        join : bool, default=True
            Whether a class that has the new label takes the old one in.
        key : str, optional
            As for `teach`.

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
        label = as_labels([new], "new").tolist()[0]
        meant, counts = self._known(old)
        if label not in counts:
            check_names([label])
        if meant == new and type(meant) is type(new):
            raise InputError(f"{meant} is its name already")
        joined = new in counts
        if joined and not join:
            raise ClassExistsError(f"there is a class {new} already: the two can be joined")
        detail = {"old": meant, "new": new, "joined": joined, **self._members(meant, new)}
        return self.history.write(lambda: self.history.append("rename", detail, key))

    def _known(self, label: Any) -> tuple[Any, dict[Any, int]]:
        """Return the label of a class that is there, and how many examples each class has."""
        meant, counts = self.recogniser.label(label), self.recogniser.counts
        if meant not in counts:
            raise InputError(f"there is no class {meant}")
        return meant, counts

    def _members(self, label: Any, after: Any) -> dict[str, Any]:
        """Return the examples of a class, and whether the class is these and no more."""
        table = self.journal.examples
        has_all = len(table.ids_of(label, with_vectors=True)) == self.recogniser.counts[label]
        rows = [[number, label, after] for number in sorted(table.ids_of(label))]
        return {"whole": has_all, "rows": rows}

    def merge(self, other: Knowledge) -> int:
        """Learn all that another was taught: only sums, so that examples cannot be listed.

        It is written down, as a whole model, before the next edit, or when this one is saved.

        Parameters
        ----------
        other : Knowledge

        Returns
        -------
        int
            How many images both were taught under one label: they count twice.

        Raises
        ------
        WrongExtractorError, InputError
            As for `Recogniser.merge`.
        """
        return self.history.merge(other)

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
            As for `teach`.

        Returns
        -------
        Edit

        Raises
        ------
        ModelFileError
            If it is no model. Then nothing is changed.
        """
        if not isinstance(model, Recogniser):
            if not Path(model).exists():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(model))
            model = Recogniser(model, None)
        data = replay.whole(model.knowledge)
        return self.history.write_model("brought in another model", data, key)

    def refresh(self) -> None:
        """Choose parameters, and how sure answers may be, now."""
        with self.history.edit():
            if self.recogniser.is_taught:
                self.history.write(lambda: self.journal.append("refresh", {}))

    def refresh_if_due(self) -> None:
        """Do nothing more: every entry that is applied has seen to it."""

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
        >>> import numpy as np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kitchen = Editor(Path(folder) / "kitchen.newfound", extractor=None)
        ...     question = kitchen.ask([NewExample(np.ones(2), b"0" * 16)], "camera")
        ...     kitchen.journal.inbox.open()[0].frames, kitchen.recogniser.counts
        ...     kitchen.name(question, "mug").what
        ...     kitchen.journal.inbox.open(), kitchen.recogniser.counts
        ...     kitchen.close()
        ([1], {})
        'taught mug'
        ([], {'mug': 1})
        """
        if not 1 <= len(frames) <= MOST_FRAMES:
            raise InputError(f"a question has 1 to {MOST_FRAMES} frames, got {len(frames)}")
        self._checked(frames, [""] * len(frames))
        journal = self.journal
        with self.history.edit():
            open_before = journal.inbox.count
            with journal.write():
                ids = journal.examples.add(frames, journal.keep_thumbnails)
                number = journal.inbox.add(ids, source, guess)
            if journal.inbox.count <= open_before:  # another made room, and is gone for good
                journal.checkpoint()
            return number

    @_once
    def name(
        self, question: int, label: Any, *, key: str | None = None, action: str | None = None
    ) -> Edit:
        """Say what a question shows: its frames are learned. Undone, the question is open again.

        Parameters
        ----------
        question : int
            As the journal's inbox lists them.
        label : str, bool or int
        key, action : str, optional
            As for `teach`.

        Returns
        -------
        Edit
            Without examples if all its images were taught under that label before.

        Raises
        ------
        NoSuchQuestionError
            If there is none such, or it was answered.
        WrongExtractorError, InputError
            As for `teach`.
        """
        journal, taught, meant = self.journal, self.recogniser.taught, self._checked_label(label)
        frames = journal.inbox.find(question).frames
        pairs = zip(frames, journal.examples.vectors(frames), strict=True)
        new = [(number, one) for number, one in pairs if not taught.count(meant, one.digest)]
        if not new:
            self.dismiss(question)
            return self.history.nothing(f"{meant} was taught this already")
        self._checked([one for _, one in new], [meant] * len(new))
        rows = [[number, None, meant] for number, _ in new]
        detail, group = {"rows": rows, "question": question}, action or self.history.action
        return self.history.write(lambda: journal.append("change", detail, group, key))

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
        with self.history.edit():
            self.journal.inbox.find(question)
            with self.journal.write():
                self.journal.inbox.dismiss(question)
            read = "" if self.journal.checkpoint() else STILL_READ
            return self.history.nothing(f"dismissed question {question}{read}")

    # The files.

    def forget_for_good(self) -> Edit:
        """Let what was deleted leave the journal, too; nothing before this can be undone.

        The file is written anew, without what is gone, and so is the model's.

        Returns
        -------
        Edit
        """
        with self.lock:
            edit = self.history.forget_past()
            self.snapshot()
            forget_undo(Path(os.path.realpath(self.path)))
            clear_leftovers(self.path, grace=0.0)
            return edit

    def save(self, path: str | os.PathLike[str], *, refresh: bool = True) -> None:
        """Write the model; to its own file as `snapshot` does, elsewhere without the journal.

        Parameters
        ----------
        path : str or path-like
        refresh : bool, default=True
            As for `Recogniser.save`.

        Raises
        ------
        NotFittedError
            If nothing was taught, and it is to be written elsewhere.
        """
        if refresh and self.knowledge.changes:
            self.refresh()
        if os.path.realpath(path) != os.path.realpath(self.path):
            self.knowledge.save(path, refresh=False)
        else:
            self.snapshot()

    def snapshot(self) -> None:
        """Write the model's file, with how far it knows the journal; remove it if it is empty."""
        with self.lock:
            self.history.check_writable()
            self.history.write_rest()
            frozen, now = self.knowledge.freeze() if self.recogniser.is_taught else None, moment()
            marks = marks_of(self.journal, self.knowledge.changes)
        if frozen is None:
            remove(self.path, now)
        else:
            then, when = frozen
            file_format.write(self.path, then.to_state().keeping(marks), when)

    def close(self) -> None:
        """Write the model's file, and close the journal."""
        with self.lock:
            try:
                if not self.journal.read_only:
                    self.snapshot()
            finally:
                self.journal.close()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a recogniser with a journal is in one place only: open it there")
