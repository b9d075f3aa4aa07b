"""The recogniser: images in, answers out. What every front door calls."""

import os
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from newfound.common.errors import InputError
from newfound.features.identity import Identity
from newfound.recognition import lesson, sources
from newfound.recognition.beginning import Beginning
from newfound.recognition.edits import Edits
from newfound.recognition.evaluation import Evaluation, evaluate
from newfound.recognition.extractors import DEFAULT, ExtractorChoice
from newfound.recognition.knowledge import (
    Answer,
    Knowledge,
    checked_bound,
    checked_digests,
    new_knowledge,
    why_none_is_unknown,
)
from newfound.recognition.reading import examples
from newfound.recognition.sources import NewExample
from newfound.recognition.taught import TaughtImages
from newfound.storage import format as file_format

if TYPE_CHECKING:
    from newfound.estimators.classifier import IncrementalRidgeClassifier
    from newfound.features.extractor import Extractor
    from newfound.features.images import Source


class Recogniser:
    """Teach it images and ask it what other images show.

    It holds a classifier, remembers which images it was taught under which label, and knows when
    to say "unknown". Images are paths, the bytes of image files, PIL images or uint8 arrays of
    shape (h, w) or (h, w, 3). Any number of threads may ask while others teach. Pickles and
    copies hold all but the network, which they load again when they are shown an image.

    How far rare classes are raised, how large the penalty is and how sure answers may be are
    chosen from what was taught, and anew by `save` and `refresh`, and by `teach` and `forget` if a
    quarter of what is known came or went since the last time. Asking changes nothing.

    Parameters
    ----------
    path : str or path-like, optional
        The model's file. If it is there, it is opened; otherwise the recogniser is new, and
        `save` writes it there.
    extractor : str, Extractor or None, default="efficientnet-lite0"
        What turns images into vectors: a name as on the command line, such as "pixels:size=8", an
        object of `newfound.features`, or None for vectors only. A model that is opened brings its
        own, so the default means that one. The network is loaded when the first image comes.
    model : IncrementalRidgeClassifier, optional
        The classifier of a new recogniser. By default one that chooses its parameters itself.
    class_sums : bool, default=True
        Whether a new one holds sums of each class. Without, its file is smaller, but no class can
        be forgotten as a whole.
    layer : bool, default=False
        Whether a new one has the layer of `IncrementalClassifier`: for pixels and other vectors.

    Attributes
    ----------
    model : IncrementalRidgeClassifier
        The classifier. Only who asks for it waits for scikit-learn to be imported.
    taught : TaughtImages
        Which images it was taught under which label.
    identity : Identity or None
        What made the vectors it was taught, where that is known.
    unknown_above : float
        The probability of being unknown, from 0 to 1, above which an image is called that: 0.5,
        unless you set another. With 1, none is. It is saved with the model.
    path : Path or None

    Raises
    ------
    ModelFileError
        If the file is not a model, or damaged.
    WrongExtractorError
        If the model in the file was taught vectors of another extractor than the one given.

    Examples
    --------
    >>> from newfound import Recogniser
    >>> recogniser = Recogniser(extractor="pixels:size=4")
    >>> night, day = (np.full((8, 8), level, dtype=np.uint8) for level in (0, 255))
    >>> recogniser.teach([night, night // 2 + 9], "night")
    Taught(taught=2, known=0, problems=[])
    >>> recogniser.teach(day, "day").taught
    1
    >>> recogniser.look(day).label
    'day'
    """

    # For other rooms. knowledge: what it knows, of vectors. edits: what changes that.
    # eyes: what turns images into vectors.

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        extractor: "str | os.PathLike[str] | Extractor | None" = DEFAULT,
        *,
        model: "IncrementalRidgeClassifier | None" = None,
        class_sums: bool = True,
        layer: bool = False,
    ) -> None:
        self.knowledge = new_knowledge(Beginning(class_sums, layer), model)
        self.path = None if path is None else Path(path)
        self.edits: Edits = self.knowledge
        self.eyes = ExtractorChoice(extractor)
        if self.path is not None and self.path.exists():
            become(self, Knowledge.of_state(file_format.read(self.path), self.path))

    @property
    def model(self) -> "IncrementalRidgeClassifier":
        """The classifier, as scikit-learn knows it: what either is taught, the other knows."""
        return self.knowledge.model

    @property
    def lock(self) -> Any:
        """Hold it to ask or change several things as one: a reentrant lock, the same for ever."""
        return self.knowledge.lock

    @property
    def taught(self) -> TaughtImages:
        """Which images it was taught under which label."""
        return self.knowledge.taught

    @property
    def identity(self) -> Identity | None:
        """What made the vectors it was taught, where that is known."""
        return self.knowledge.identity

    @property
    def is_taught(self) -> bool:
        """Whether it was taught anything."""
        return self.knowledge.is_taught

    @property
    def holds_class_sums(self) -> bool:
        """Whether it holds sums of each class; otherwise none can be forgotten as a whole."""
        with self.lock:
            return not self.is_taught or self.knowledge.learner.engine.memory.sums.per_class

    @property
    def counts(self) -> dict[Any, int]:
        """How many images it knows of each class."""
        return self.knowledge.counts

    @property
    def classes(self) -> list[Any]:
        """The labels it knows, sorted."""
        return list(self.counts)

    @property
    def unknown_above(self) -> float:
        """The probability of being unknown above which an image is called that."""
        return self.knowledge.unknown_above

    @unknown_above.setter
    def unknown_above(self, bound: float) -> None:
        self.knowledge.unknown_above = checked_bound(bound)

    @property
    def cannot_tell_unknown(self) -> str | None:
        """Why no image is called unknown yet, in words; None: it can tell what is."""
        return why_none_is_unknown(self.knowledge)

    @property
    def extractor(self) -> "Extractor":
        """What turns images into vectors. It is loaded when it is first needed."""
        return self.eyes.extractor(self.identity)

    def use(self, extractor: "str | os.PathLike[str] | Extractor | None") -> None:
        """Turn images into vectors with this extractor from now on.

        Parameters
        ----------
        extractor : str, Extractor or None
            As for the constructor; for a model of an ONNX file, where that is.

        Raises
        ------
        WrongExtractorError
            If the model was taught vectors of another one.

        Examples
        --------
        >>> Recogniser(extractor=None).use("pixels:size=4")
        """
        self.eyes.use(extractor, self.identity)

    def label(self, text: Any) -> Any:
        """Return the label that a text stands for, of a class that is known or of a new one.

        It may differ in how accents are written. Where labels are numbers or booleans, a new label
        is one too, if the text is.

        Parameters
        ----------
        text : str

        Returns
        -------
        str, bool, int or float

        Raises
        ------
        InputError
            If it could mean several.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], [1, 2])
        >>> recogniser.label("2"), recogniser.label("3"), recogniser.label("mug")
        (2, 3, 'mug')
        """
        return self.knowledge.label(text)

    def teach(
        self,
        images: "Source | Iterable[Source]",
        label: Any = None,
        *,
        labels: Literal["first", "path"] = "first",
        again: bool = False,
        cluster: str | None = None,
    ) -> lesson.Taught:
        """Learn images.

        A single image is worked into what answers the next question, so that frames can be taught
        and asked in turn. After several, the next question solves for all of them.

        Parameters
        ----------
        images : image, folder, npz file of vectors, or iterable of these
        label : str, bool or int, optional
            What they show. Folders need none: a folder of images is a class of its name, and a
            folder of such folders holds several. Nor do files of vectors that have labels.
        labels : "first" or "path", default="first"
            Whether an image in `photos/a/b` is labelled "a" or "a/b".
        again : bool, default=False
            Whether to teach images again that were taught under that label before. An image is
            known by the bytes of its file, or by its pixels where there is no file.
        cluster : str, optional
            The address of a Dask scheduler, or "local" for a process on each core of this machine:
            workers read files and turn them into vectors, which are learned here. Processes of
            "local" import the script that starts them, which therefore has to call this under
            ``if __name__ == "__main__":``.

        Returns
        -------
        Taught
            How many images were taught and were known already, and what could not be used and why.

        Raises
        ------
        UnreadableImageError
            If a single image is given and cannot be used.
        InputError
            If there are no images, or no label says what they show.
        WrongExtractorError
            If vectors are of another extractor than those taught before.

        Examples
        --------
        >>> recogniser = Recogniser(extractor="pixels:size=4")
        >>> night = np.zeros((8, 8), dtype=np.uint8)
        >>> recogniser.teach(night, "night")
        Taught(taught=1, known=0, problems=[])
        >>> recogniser.teach([night, night + 9, np.zeros((1, 1), np.uint8)], "night")
        Taught(taught=1, known=1, problems=[Problem(name='image 2', reason='1 x 1 pixels, ...')])
        """
        given, is_one = sources.as_list(images)
        found = sources.find(given, label, labels)
        is_one = is_one and len(found) == 1
        taught = lesson.Lesson(self, again, at_once=is_one)
        if cluster is None:
            deque(taught.run(found), maxlen=0)
        else:
            from newfound.recognition.cluster import connected
            from newfound.recognition.remote import teach

            with connected(cluster) as client:
                deque(teach(taught, found, client), maxlen=0)
        if is_one:
            lesson.raise_problem(taught.problems)
        self.edits.refresh_if_due()
        return taught.report

    def look(
        self,
        images: "Source | Iterable[Source]",
        *,
        top: int = 1,
        unknown_above: float | None = None,
    ) -> Any:
        """Say what images show.

        Parameters
        ----------
        images : image or iterable of images
        top : int, default=1
            How many guesses to return for each.
        unknown_above : float, optional
            The probability of being unknown above which an image is called that. By default the
            recogniser's own bound.

        Returns
        -------
        Answer, or list of Answer
            One for one image, a list for several.

        Raises
        ------
        UnreadableImageError
            If any of them cannot be used.
        NotFittedError
            If nothing was taught.

        Examples
        --------
        >>> recogniser = Recogniser(extractor="pixels:size=4")
        >>> night, day = (np.full((8, 8), level, dtype=np.uint8) for level in (0, 255))
        >>> _ = recogniser.teach(night, "night"), recogniser.teach(day, "day")
        >>> recogniser.look(night).label, len(recogniser.look([night, day]))
        ('night', 2)
        """
        given, is_one = sources.as_list(images)
        extractor = self.extractor
        vectors = np.asarray(extractor(given))
        if not len(vectors):
            return []
        answers = self.look_at_vectors(vectors, top, unknown_above, extractor.identity)
        return answers[0] if is_one else answers

    def forget(
        self,
        images: "Source | Iterable[Source]",
        label: Any = None,
        *,
        labels: Literal["first", "path"] = "first",
    ) -> lesson.Forgotten:
        """Take images back, exactly as if they had never been taught.

        Parameters
        ----------
        images : image, folder, npz file of vectors, or iterable of these
        label : str, bool or int, optional
            What they were taught as; folders tell, as in `teach`.
        labels : "first" or "path", default="first"
            As in `teach`.

        Returns
        -------
        Forgotten
            How many images were forgotten, and which were not and why: those that cannot be
            read, and those that were not taught under that label.

        Raises
        ------
        NotTaughtError
            If a single image is given that was not taught under that label.
        UnreadableImageError
            If a single image is given and cannot be used.

        Examples
        --------
        >>> recogniser = Recogniser(extractor="pixels:size=4")
        >>> night = np.zeros((8, 8), dtype=np.uint8)
        >>> _ = recogniser.teach([night, night + 9], "night")
        >>> recogniser.forget(night, "night").forgotten
        1
        >>> recogniser.forget(night, "night")
        Traceback (most recent call last):
        newfound.NotTaughtError: image 0: was not taught as night
        """
        given, is_one = sources.as_list(images)
        found = sources.find(given, label, labels)
        done = lesson.forget(self, examples(self, found))
        if is_one and len(found) == 1:
            lesson.raise_problem(done.problems)
        self.edits.refresh_if_due()
        return done

    def forget_class(self, label: Any) -> None:
        """Take back all that was taught with a label.

        Parameters
        ----------
        label : str, bool or int

        Raises
        ------
        InputError
            If there is no such class, or the model holds no sums of each class.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> recogniser.forget_class("cup")
        >>> recogniser.classes
        ['mug']
        """
        self.edits.forget_class(self.label(label))

    def rename(self, old: Any, new: Any) -> None:
        """Give a class another label; a class that has it already takes it in.

        Parameters
        ----------
        old, new : str, bool or int

        Raises
        ------
        InputError
            If there is no class `old`, or `new` is not a label like the others.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> recogniser.rename("cup", "beaker")
        >>> recogniser.counts
        {'beaker': 1, 'mug': 1}
        """
        self.edits.rename(self.label(old), new)

    def merge(self, other: "Recogniser") -> int:
        """Learn all that another was taught, which is not changed.

        Parameters
        ----------
        other : Recogniser

        Returns
        -------
        int
            Number of images both were taught under one label: they count twice.

        Raises
        ------
        WrongExtractorError, InputError
            If they do not go together.

        Examples
        --------
        >>> one, other = Recogniser(extractor=None), Recogniser(extractor=None)
        >>> one.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> other.teach_vectors([[0.0], [2.0]], ["cup", "jug"])
        >>> one.merge(other), one.counts
        (1, {'cup': 2, 'jug': 1, 'mug': 1})
        """
        if not isinstance(other, Recogniser):
            raise InputError(f"can only merge with a Recogniser, got {type(other).__name__}")
        return self.edits.merge(other.knowledge)

    def evaluate(
        self,
        images: "Source | Iterable[Source]",
        label: Any = None,
        *,
        labels: Literal["first", "path"] = "first",
        unknown: "Source | Iterable[Source]" = (),
        unknown_above: float | None = None,
    ) -> Evaluation:
        """Measure how often the best guess is right, and how well it tells what is unknown.

        Parameters
        ----------
        images : image, folder, npz file of vectors, or iterable of these
        label : str, bool or int, optional
            What they show; folders tell, as in `teach`.
        labels : "first" or "path", default="first"
            As in `teach`.
        unknown : image, folder, npz file of vectors, or iterable of these, optional
            Images of things that were never taught, whatever they are. Those among `images` whose
            class was never taught are taken for such, too.
        unknown_above : float, optional
            As for `look`.

        Returns
        -------
        Evaluation

        Raises
        ------
        InputError
            If there are no images.
        UnreadableImageError
            If none of them can be used.

        Examples
        --------
        >>> recogniser = Recogniser(extractor="pixels:size=4")
        >>> night, day = (np.full((8, 8), level, dtype=np.uint8) for level in (0, 255))
        >>> _ = recogniser.teach(night, "night"), recogniser.teach(day, "day")
        >>> recogniser.evaluate([night, day], "night").accuracy
        0.5
        """
        found = sources.find(sources.as_list(images)[0], label, labels)
        strangers: Iterable[sources.Example] = ()
        if given := sources.as_list(unknown)[0]:
            strangers = examples(self, sources.find(given, need_labels=False))
        result = evaluate(self, examples(self, found), strangers, unknown_above)
        if not result.n:
            lesson.raise_problem(result.unreadable)
        return result

    def teach_vectors(
        self,
        vectors: ArrayLike,
        labels: Sequence[Any],
        digests: Sequence[bytes] | None = None,
        extractor: Identity | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        """Learn vectors, also if they were taught before.

        Parameters
        ----------
        vectors : array-like of shape (m, d)
        labels : sequence of str, bool or int
            One for each.
        digests : sequence of bytes, optional
            What the images are known by, 16 bytes each. By default those of the numbers.
        extractor : Identity, optional
            What made the vectors, where that is known.
        at_once : bool, default=False
            Work them into what answers the next question, as frame by frame; otherwise it is
            solved anew then, as after a long lesson.

        Raises
        ------
        WrongExtractorError, InputError
            If something does not fit together. Then nothing is changed.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> len(recogniser.taught)
        2
        """
        new, labels = self._as_examples(vectors, labels, digests, extractor)
        self.edits.teach(new, labels, at_once=at_once)

    def look_at_vectors(
        self,
        vectors: ArrayLike,
        top: int = 1,
        unknown_above: float | None = None,
        extractor: Identity | None = None,
    ) -> list[Answer]:
        """Say what vectors show.

        Parameters
        ----------
        vectors : array-like of shape (m, d)
        top : int, default=1
            How many guesses to return.
        unknown_above : float, optional
            As for `look`.
        extractor : Identity, optional
            What made the vectors, where that is known.

        Returns
        -------
        list of Answer

        Raises
        ------
        WrongExtractorError
            If the vectors taught are of another one.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> recogniser.look_at_vectors([[0.9]], top=2)[0].label
        'mug'
        """
        return self.knowledge.look(vectors, top, unknown_above, extractor)

    def forget_vectors(
        self,
        vectors: ArrayLike,
        labels: Sequence[Any],
        digests: Sequence[bytes] | None = None,
        extractor: Identity | None = None,
    ) -> None:
        """Take back vectors, as if they had never been taught.

        Parameters
        ----------
        vectors : array-like of shape (m, d)
        labels : sequence of str, bool or int
            What they were taught as.
        digests, extractor : optional
            As for `teach_vectors`.

        Raises
        ------
        NotTaughtError
            If they cannot have been taught. Then nothing is changed.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> recogniser.forget_vectors([[0.0]], ["cup"])
        >>> recogniser.classes
        ['mug']
        """
        new, labels = self._as_examples(vectors, labels, digests, extractor)
        if new:
            self.edits.forget(new, labels)

    def _as_examples(
        self,
        vectors: ArrayLike,
        labels: Sequence[Any],
        digests: Sequence[bytes] | None,
        extractor: Identity | None,
    ) -> tuple[list[NewExample], list[Any]]:
        """Return vectors (m, d) as examples, and a label for each, or raise ValueError."""
        X, y = self.knowledge.checked(vectors, labels)
        marks = checked_digests(X, digests)
        return [NewExample(*pair, extractor) for pair in zip(X, marks, strict=True)], y.tolist()

    def refresh(self) -> None:
        """Bring the choice of parameters, and how sure answers may be, up to date now.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> centres = 9 * np.eye(4)
        >>> rows = np.tile(centres[:3], (20, 1)) + np.random.default_rng(0).normal(size=(60, 4))
        >>> recogniser.teach_vectors(rows, ["cup", "mug", "pot"] * 20)
        >>> recogniser.refresh()
        >>> [answer.known for answer in recogniser.look_at_vectors(centres)]
        [True, True, True, False]
        """
        self.edits.refresh()

    def save(self, path: str | os.PathLike[str] | None = None, *, refresh: bool = True) -> None:
        """Write all of it to one file, whole or not at all; `newfound.load` reads the model.

        A model loaded that way and saved again does not remember its images. What is written is
        the recogniser of one moment; others may teach and ask while the file is made. If several
        save to one path at once, the last to begin wins.

        Parameters
        ----------
        path : str or path-like, optional
            By default the file that it was opened with.
        refresh : bool, default=True
            Whether to bring the choice of parameters, and how sure answers may be, up to date
            first, if something was taught or forgotten.

        Raises
        ------
        InputError
            If there is no path.
        NotFittedError
            If nothing was taught.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     recogniser = Recogniser(os.path.join(folder, "m.newfound"), extractor=None)
        ...     recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        ...     recogniser.save()
        ...     Recogniser(recogniser.path).classes
        ['cup', 'mug']
        """
        path = self.path if path is None else path
        if path is None:
            raise InputError("say where to save it: it was made without a path")
        self.edits.save(path, refresh=refresh)


def become(recogniser: Recogniser, knowledge: Knowledge) -> None:
    """Let a recogniser know what a file holds, which is used up."""
    recogniser.knowledge.replace(knowledge)
    recogniser.unknown_above = knowledge.unknown_above
    recogniser.eyes.check(recogniser.identity)
