"""The recogniser: images in, answers out. What every front door calls."""

import copy
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.common.arrays import Labels, Rows, take
from newfound.common.errors import InputError, NotTaughtError, UnreadableImageError
from newfound.common.files import DIGEST_BYTES, digest_of
from newfound.common.interrupts import uninterrupted
from newfound.estimators.learner import CHOOSING, Learner
from newfound.estimators.loading import as_estimator, estimators, learner_of
from newfound.features.identity import Identity
from newfound.recognition import lesson, sources
from newfound.recognition.evaluation import Evaluation
from newfound.recognition.extractors import DEFAULT, common_identity, extractor_for, is_given
from newfound.recognition.labels import LabelNames, check_label
from newfound.recognition.sources import Example, Problem, Sources, Wanted
from newfound.recognition.taught import TaughtImages
from newfound.storage import format as file_format
from newfound.sums.labels import as_labels, check_same_type
from newfound.sums.rows import as_rows

if TYPE_CHECKING:
    from newfound.estimators.classifier import IncrementalRidgeClassifier
    from newfound.features.extractor import Extractor
    from newfound.features.images import Source

# How far vectors of one image may differ, relative to their length, from machine to machine.
SAME_IMAGE = 1e-4
# So large a part of what is known must be new before a question brings the choice up to date.
RENEW_SHARE = 0.25
# The probability of being unknown above which an image is called that, unless someone says
# otherwise; and what files call another one. (`unknown_above` in older files is a bound on novelty,
# and is passed over.)
UNKNOWN_ABOVE, STORED_BOUND = 0.5, "called_unknown_above"

NO_LABELS = np.array([], dtype=np.str_)


class Answer(NamedTuple):
    """What a recogniser says of one image."""

    label: Any  # the best guess, also where it is not known
    score: float  # its probability, as far as the model can tell
    novelty: float  # how unlike everything taught, from 0 to 1
    unknown: float  # the probability that it is of no class that was taught
    known: bool  # whether `unknown` is not above the bound
    top: list[tuple[Any, float]]  # best guesses with their scores, best first


class Recogniser:
    """Teach it images and ask it what other images show.

    It holds a classifier, remembers which images it was taught under which label, and knows when
    to say "unknown". Images are paths, the bytes of image files, PIL images or uint8 arrays of
    shape (h, w) or (h, w, 3). Any number of threads may ask while others teach. Pickles and
    copies hold all but the network, which they load again when they are shown an image.

    How far rare classes are raised, how large the penalty is and how sure answers may be are
    chosen from what was taught. `save` brings that choice up to date. `teach` and `forget` do, too,
    if a quarter of what is known came or went since the last time, so that teaching frame by frame
    stays fast; `refresh` does it at once. Asking changes nothing.

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
    lean : bool, default=False
        Do not hold sums per class in a new one: a smaller file, but no class can be forgotten as
        a whole.

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
        Where `save` writes.

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

    # _learner: the classifier, without its face as long as nobody has asked for `model`.
    # _choice: the extractor that is wanted. _network: the one that was made, at the first image,
    #     behind the identity that it was made for.
    # changes: examples taught and forgotten since the choice was brought up to date.
    # _names: the classes by how they are written.

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        extractor: "str | os.PathLike[str] | Extractor | None" = DEFAULT,
        *,
        model: "IncrementalRidgeClassifier | None" = None,
        lean: bool = False,
    ) -> None:
        plain = Learner(CHOOSING._replace(class_weight=None if lean else {}))
        self._learner: Learner = plain if model is None else model
        self.path = None if path is None else Path(path)
        self.taught = TaughtImages()
        self.identity: Identity | None = None
        self.unknown_above = UNKNOWN_ABOVE
        self.changes = 0
        self._names = LabelNames()
        self._choice = extractor
        self._network: tuple[Identity | None, Extractor | None] = None, None
        if self.path is not None and self.path.exists():
            self._open(self.path)
            if self.identity is not None and is_given(extractor):
                self.use(extractor)

    @property
    def model(self) -> "IncrementalRidgeClassifier":
        """The classifier, as scikit-learn knows it: what either is taught, the other knows."""
        estimators()  # imported before anyone has to wait
        with self.lock:
            self._learner = model = as_estimator(self._learner)
            return model

    @model.setter
    def model(self, model: "IncrementalRidgeClassifier") -> None:
        self._learner = model

    @property
    def lock(self) -> Any:
        """Hold it to ask or change several things as one: a reentrant lock."""
        return self._learner.lock

    @property
    def editing(self) -> Any:
        """Hold it to make several edits as one: a reentrant lock."""
        return self.lock

    @property
    def is_taught(self) -> bool:
        """Whether it was taught anything."""
        return self._learner.is_taught

    @property
    def is_lean(self) -> bool:
        """Whether it was taught without sums per class: then no class can be forgotten at once."""
        with self.lock:
            return self.is_taught and not self._learner.sums_.per_class

    @property
    def keeps_thumbnails(self) -> bool:
        """Whether pictures of what it is taught are kept."""
        return False

    @property
    def width(self) -> int | None:
        """How many features its vectors have; None: it was taught nothing."""
        with self.lock:
            return self._learner.n_features_in_ if self.is_taught else None

    @property
    def counts(self) -> dict[Any, int]:
        """How many images it knows of each class."""
        with self.lock:
            learner = self._learner
            if not learner.is_taught:
                return {}
            labels, counts = learner.classes_.tolist(), learner.class_count_.tolist()
            return dict(zip(labels, counts, strict=True))

    @property
    def classes(self) -> list[Any]:
        """The labels it knows, sorted."""
        return list(self.counts)

    @property
    def unknown_above(self) -> float:
        """The probability of being unknown above which an image is called that."""
        return self._unknown_above

    @unknown_above.setter
    def unknown_above(self, bound: float) -> None:
        self._unknown_above = _checked_bound(bound)

    @property
    def cannot_tell_unknown(self) -> str | None:
        """Why no image is called unknown yet, in words; None: it can tell what is."""
        with self.lock:
            if self.is_taught and self._learner.calibration_.bound is not None:
                return None
            if sum(count > 1 for count in self.counts.values()) < 2:
                return "that takes two classes with two images each"
            return "what was taught so far does not tell known things from unknown ones"

    @property
    def extractor(self) -> "Extractor":
        """What turns images into vectors. It is loaded when it is first needed."""
        return self._extractor_for(self.identity)

    @property
    def choice(self) -> "str | os.PathLike[str] | Extractor | None":
        """The extractor that was asked for, as it was given; it may not be loaded yet."""
        return self._choice

    def use(self, extractor: "str | os.PathLike[str] | Extractor | None") -> None:
        """Turn images into vectors with this extractor from now on.

        Parameters
        ----------
        extractor : str, Extractor or None
            As for the constructor. For a model of an ONNX file, where that file is.

        Raises
        ------
        WrongExtractorError
            If the model was taught vectors of another one.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.use("pixels:size=4")
        >>> recogniser.extractor.width
        16
        """
        with self.lock:
            network = None if extractor is None else extractor_for(self.identity, extractor)
            self._choice, self._network = extractor, (self.identity, network)

    def label(self, text: Any) -> Any:
        """Return the label that a text stands for, of a class that is known or of a new one.

        The text is a class's label as it is written, or differs in how its accents are. Where
        labels are numbers or booleans, a new label is one too, if the text is.

        Parameters
        ----------
        text : str
            What is no text is returned as it is.

        Returns
        -------
        str, bool, int or float

        Raises
        ------
        InputError
            If it could mean several classes.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], [1, 2])
        >>> recogniser.label("2"), recogniser.label("3"), recogniser.label("mug")
        (2, 3, 'mug')
        """
        if not isinstance(text, str):
            if text is not None:
                check_label(text)
            return text
        with self.lock:
            labels = self._learner.sums_.labels if self.is_taught else NO_LABELS
            return self._names.find(text, labels)

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
        and asked in turn. After several images, the next question solves for all of them at once.

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
            workers read files, turn them into vectors and sum these. Nobody else may teach this
            recogniser meanwhile. Processes of "local" import the script that starts them, which
            therefore has to call this under ``if __name__ == "__main__":``.

        Returns
        -------
        Taught
            How many images were taught, how many were known already, and what could not be used
            and why. One image that cannot be used does not stop the others.

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
        given, is_one = _as_list(images)
        found = sources.find(given, label, labels)
        is_one = is_one and len(found) == 1
        self.check_labels(found)
        course = lesson.Lesson(self, again, at_once=is_one)
        if cluster is None:
            deque(course.run(found), maxlen=0)
        else:
            from newfound.recognition.cluster import connected
            from newfound.recognition.course import teach

            with connected(cluster) as client:
                deque(teach(course, found, client), maxlen=0)
        if is_one:
            _raise_problem(course.problems)
        self._refresh_if_due()
        return course.report

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
        >>> for image, label in (night, "night"), (day, "day"):
        ...     _ = recogniser.teach(image, label)
        >>> recogniser.look(night).label
        'night'
        >>> [answer.label for answer in recogniser.look([night, day])]
        ['night', 'day']
        """
        given, is_one = _as_list(images)
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
        given, is_one = _as_list(images)
        found = sources.find(given, label, labels)
        done = lesson.forget(self, self.examples(found))
        if is_one and len(found) == 1:
            _raise_problem(done.problems)
        self._refresh_if_due()
        return done

    def forget_class(self, label: Any) -> None:
        """Take back all that was taught with a label.

        Parameters
        ----------
        label : str, bool or int

        Raises
        ------
        InputError
            If there is no such class, or the model is lean and holds no sums per class.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> recogniser.forget_class("cup")
        >>> recogniser.classes
        ['mug']
        """
        with self.lock, uninterrupted():
            label = self.label(label)
            before = self.counts.get(label, 0)
            self._learner.forget_class(label)
            self.taught.drop(label)
            self._note_changes(before)

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
        with self.lock, uninterrupted():
            old = self.label(old)
            before = self.counts.get(old, 0)
            self._learner.rename_class(old, new)
            if old != new:
                self.taught.rename(old, new)
            self._note_changes(before)

    def merge(self, other: "Recogniser") -> int:
        """Learn all that another was taught, which is not changed.

        Parameters
        ----------
        other : Recogniser

        Returns
        -------
        int
            How many images both were taught under one label: they count twice.

        Raises
        ------
        WrongExtractorError
            If the two were taught vectors of different extractors.
        InputError
            If they do not go together for another reason, which the message says.

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
        with other.lock:  # which may go on learning, and may be merging this one
            held = other._learner, other.taught  # noqa: SLF001 - of another of this class
            learner, taught = copy.deepcopy(held)
            identity, examples = other.identity, sum(other.counts.values())
        with self.lock, uninterrupted():
            known = common_identity(self.identity, identity, "the other was taught those")
            self._learner.merge(learner)
            self.identity = known
            self._note_changes(examples)
            return self.taught.merge(taught)

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
            The probability of being unknown above which an image is called that. By default the
            recogniser's own bound.

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
        >>> for image, label in (night, "night"), (day, "day"):
        ...     _ = recogniser.teach(image, label)
        >>> recogniser.evaluate([night, night + 9, day], "night").accuracy.__round__(2)
        0.67
        """
        found = sources.find(_as_list(images)[0], label, labels)
        strangers: Iterable[Example] = ()
        if given := _as_list(unknown)[0]:
            strangers = self.examples(sources.find(given, need_labels=False))
        result = self.evaluate_examples(self.examples(found), strangers, unknown_above)
        if not result.n:
            _raise_problem(result.unreadable)
        return result

    def evaluate_examples(
        self,
        examples: Iterable[Example],
        unknown: Iterable[Example] = (),
        unknown_above: float | None = None,
    ) -> Evaluation:
        """Measure how often the best guess is right, and how well it tells what is unknown.

        Parameters
        ----------
        examples : iterable of Example
            With labels, as `examples` yields them.
        unknown : iterable of Example, optional
            Of things that were never taught; their labels play no part.
        unknown_above : float, optional
            As for `evaluate`.

        Returns
        -------
        Evaluation

        Raises
        ------
        NotFittedError
            If nothing was taught.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> one = Example("a.jpg", "mug", b"", np.array([0.9]), None)
        >>> recogniser.evaluate_examples([one]).accuracy
        1.0
        """
        bound = self.unknown_above if unknown_above is None else _checked_bound(unknown_above)
        problems = list[Problem]()
        result = Evaluation(Counter(), set(map(str, self.classes)), bound, unreadable=problems)
        for example, answer in self.look_at_examples(examples, problems):
            result.add(str(self.label(example.label)), str(answer.label), answer.unknown)
        for _, answer in self.look_at_examples(unknown, problems):
            result.of_unknown.append(answer.unknown)
        return result

    def examples(self, found: Sources, wanted: Wanted | None = None) -> Iterator[Example]:
        """Return an iterator over all that was found, turned into vectors.

        Parameters
        ----------
        found : Sources
            What `newfound.recognition.sources.find` found.
        wanted : callable, optional
            Given label, digest and number of an example, says whether its vector is needed. It is
            called in other threads.

        Returns
        -------
        iterator of Example

        Raises
        ------
        WrongExtractorError, InputError
            At once, before any work, if some vectors cannot be those of this model.

        Examples
        --------
        >>> recogniser = Recogniser(extractor="pixels:size=4")
        >>> found = sources.find([np.zeros((8, 8), dtype=np.uint8)], "night")
        >>> [(example.name, len(example.vector)) for example in recogniser.examples(found)]
        [('image 0', 16)]
        """
        return sources.read(found, self.extractor_for(found), wanted)

    def extractor_for(self, found: Sources) -> "Extractor | None":
        """Return what turns the images among all that was found into vectors.

        Parameters
        ----------
        found : Sources

        Returns
        -------
        Extractor or None
            None if there are no images.

        Raises
        ------
        WrongExtractorError, InputError
            If some vectors cannot be those of this model.

        Examples
        --------
        >>> found = sources.find([np.zeros((8, 8), dtype=np.uint8)], "night")
        >>> Recogniser(extractor="pixels:size=4").extractor_for(found).width
        16
        """
        known, whose = self.identity, "this model was taught vectors"
        for identity in found.extractors:
            known = common_identity(known, identity, "there are vectors", whose)
            whose = whose if self.identity else "some vectors are those"
        network, widths = None, found.widths
        if found.images:
            network = self._extractor_for(known)
            widths = widths | {network.width}
        if len(widths) > 1:
            sizes = " and of ".join(map(str, sorted(widths)))
            raise InputError(f"vectors of {sizes} features")
        if self.width is not None and widths - {self.width}:
            raise InputError(
                f"vectors of {widths.pop()} features, but this model was taught {self.width}"
            )
        return network

    def look_at_examples(
        self,
        examples: Iterable[Example],
        problems: list[Problem],
        top: int = 1,
        unknown_above: float | None = None,
        block: int = 64,
    ) -> Iterator[tuple[Example, Answer]]:
        """Yield examples with their answers; put what cannot be used in `problems`.

        Parameters
        ----------
        examples : iterable of Example
        problems : list of Problem
            Is added to.
        top : int, default=1
            How many guesses to return.
        unknown_above : float, optional
            The probability of being unknown above which an image is called that. By default the
            recogniser's own bound.
        block : int, default=64
            How many are looked at together. With 1, no answer waits for the next image.

        Yields
        ------
        (Example, Answer)

        Returns
        -------
        iterator of (Example, Answer)

        Raises
        ------
        WrongExtractorError
            If vectors are of another extractor than those taught.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> one = Example("a.jpg", None, b"", np.array([0.9]), None)
        >>> [answer.label for _, answer in recogniser.look_at_examples([one], [])]
        ['mug']
        """
        for some in sources.blocks(examples, problems, block):
            vectors, made_by = sources.stack(some)
            answers = self.look_at_vectors(vectors, top, unknown_above, made_by)
            yield from zip(some, answers, strict=True)

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
        WrongExtractorError
            If the vectors taught before are of another extractor.
        InputError
            If something does not fit together. Then nothing is changed.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> len(recogniser.taught)
        2
        """
        X, y = self._checked(vectors, labels)
        marks = checked_digests(X, digests)
        for label in set(y.tolist()) if y.dtype.kind == "U" else ():
            check_label(label)
        with self.lock, uninterrupted():
            known = common_identity(self.identity, extractor, "these are those")
            (self._learner.partial_fit if at_once else self._learner.store)(X, y)
            self.identity = known
            for label, digest in zip(y.tolist(), marks, strict=True):
                self.taught.add(label, digest)
            self._note_changes(len(X))

    def teach_examples(
        self, examples: Sequence[Example], labels: Sequence[Any], *, at_once: bool = False
    ) -> None:
        """Learn examples that are vectors by now, also if they were taught before.

        Parameters
        ----------
        examples : sequence of Example
        labels : sequence of str, bool or int
            What they show, whatever the examples say.
        at_once : bool, default=False
            As for `teach_vectors`.

        Raises
        ------
        WrongExtractorError, InputError
            As for `teach_vectors`.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> one = Example("a.jpg", None, b"0" * 16, np.array([0.9]), None)
        >>> recogniser.teach_examples([one], ["mug"])
        >>> recogniser.counts
        {'mug': 1}
        """
        vectors, made_by = sources.stack(examples)
        digests = [example.digest for example in examples]
        self.teach_vectors(vectors, labels, digests, made_by, at_once=at_once)

    def blank(self) -> "Recogniser":
        """Return one with the same parameters, for vectors only, that was taught nothing.

        Returns
        -------
        Recogniser

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> recogniser.blank().is_taught
        False
        """
        other = Recogniser(extractor=None)
        other._learner = self._learner.blank()
        return other

    def apart(
        self,
        vectors: ArrayLike,
        labels: Sequence[Any],
        digests: Sequence[bytes],
        extractor: Identity | None,
    ) -> "Recogniser":
        """Return one with the same parameters that was taught these vectors alone.

        Merged into another, it makes that the same as if it had been taught the vectors itself, on
        whatever machine this is done.

        Parameters
        ----------
        vectors : array-like of shape (m, d)
        labels : sequence of str, bool or int
            One for each.
        digests : sequence of bytes
            What the images are known by, 16 bytes each.
        extractor : Identity or None
            What made the vectors, where that is known.

        Returns
        -------
        Recogniser

        Raises
        ------
        InputError
            If something does not fit together.

        Examples
        --------
        >>> one = Recogniser(extractor=None)
        >>> one.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> other = one.blank().apart([[2.0]], ["mug"], [b"0" * 16], None)
        >>> one.merge(other), one.counts
        (0, {'cup': 1, 'mug': 2})
        """
        X, y = self._checked(vectors, labels)
        other = self.blank()
        other._learner = self._learner.apart(X, y)  # noqa: SLF001 - of this class
        other.identity = extractor
        for label, digest in zip(y.tolist(), checked_digests(X, digests), strict=True):
            other.taught.add(label, digest)
        return other

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
            The probability of being unknown above which an image is called that. By default the
            recogniser's own bound.
        extractor : Identity, optional
            What made the vectors, where that is known.

        Returns
        -------
        list of Answer

        Raises
        ------
        WrongExtractorError
            If the vectors taught are of another extractor.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> recogniser.look_at_vectors([[0.9]], top=2)[0].label
        'mug'
        """
        X = as_rows(vectors)
        if type(top) is not int or top < 1:
            raise InputError(f"top must be a whole number from 1, got {top!r}")
        bound = self.unknown_above if unknown_above is None else _checked_bound(unknown_above)
        with self.lock:
            common_identity(self.identity, extractor, "these are those")
            looked = self._learner.look(X)
        assert looked.unknown is not None
        labels = looked.labels.tolist()
        # By scores: probabilities may be too small, or too near to 1, to tell guesses apart.
        order = np.argsort(-looked.scores, axis=1, kind="stable")[:, :top]
        found = order, looked.probabilities, looked.novelty, looked.unknown
        answers = []
        for best, row, novelty, unknown in zip(*(each.tolist() for each in found), strict=True):
            guesses = [(labels[index], row[index]) for index in best]
            answers.append(Answer(*guesses[0], novelty, unknown, unknown <= bound, guesses))
        return answers

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
        digests : sequence of bytes, optional
            What the images are known by, 16 bytes each. By default those of the numbers.
        extractor : Identity, optional
            What made the vectors, where that is known.

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
        X, y = self._checked(vectors, labels)
        marks = checked_digests(X, digests)
        if not len(X):
            return
        with self.lock, uninterrupted():
            common_identity(self.identity, extractor, "these are those")
            self._check_remembered(zip(y.tolist(), marks, strict=True))
            pairs = zip(X, y.tolist(), strict=True)
            rows = np.array([self._as_taught(row, label) for row, label in pairs])
            before = self._learner.n_samples_seen_
            try:
                self._learner.forget(rows, y)
            finally:  # also where its warnings are errors
                if not self.is_taught or self._learner.n_samples_seen_ < before:
                    for label, digest in zip(y.tolist(), marks, strict=True):
                        self.taught.remove(label, digest)
                    self._note_changes(len(X))

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
        with self.lock:
            self._reconsider()

    def refresh_if_changed(self) -> None:
        """Do what `refresh` does, if anything was taught or forgotten since the last time.

        Examples
        --------
        >>> Recogniser(extractor=None).refresh_if_changed()
        """
        with self.lock:
            if self.changes:
                self.refresh()

    def settle(self, *, now: bool = False) -> None:
        """Work out now what the next question would have to wait for.

        Parameters
        ----------
        now : bool, default=False
            Whether to bring the choice of parameters up to date in any case; otherwise if a
            quarter of what is known came or went since the last time.

        Raises
        ------
        RuntimeError
            If it is asked by the handler of a signal, in the midst of a lesson.

        Examples
        --------
        >>> Recogniser(extractor=None).settle()
        """
        with self.lock:
            if now or self._is_due():
                self._reconsider()
            elif self.is_taught:
                _ = self._learner.calibration_

    def left_out(self, vectors: ArrayLike, labels: Sequence[Any]) -> list[Any]:
        """Return what it would say of vectors had each alone not been taught.

        Parameters
        ----------
        vectors : array-like of shape (m, d)
            That were taught.
        labels : sequence of str, bool or int
            What they were taught as.

        Returns
        -------
        list of labels

        Raises
        ------
        InputError
            If there is no such class, or something does not fit together.
        NotFittedError
            If nothing was taught.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [0.1], [1.0], [1.1]], ["cup", "cup", "mug", "mug"])
        >>> recogniser.left_out([[0.0], [1.1]], ["cup", "mug"])
        ['cup', 'mug']
        """
        X, y = self._checked(vectors, labels)
        found: list[Any] = self._learner.left_out(X, y).tolist()
        return found

    def save(self, path: str | os.PathLike[str] | None = None, *, refresh: bool = True) -> None:
        """Write all of it to one file, whole or not at all; `newfound.load` reads the model.

        A model loaded that way and saved again does not remember its images. What is written is
        the recogniser of one moment. Others wait only while it is brought up to date and copied
        in memory, and may teach and ask while the file is made. If several save to one path at
        once, the last to begin wins: a file is never replaced by one of an earlier moment.

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
        if not refresh:
            self._learner.finish_votes()
        with self.lock:
            if refresh:
                self.refresh_if_changed()
            now = self.freeze()
        file_format.write(path, now.to_state(), now.moment)

    def freeze(self) -> "FrozenRecogniser":
        """Return a copy of all that `save` writes, as it is at this moment.

        Returns
        -------
        FrozenRecogniser

        Raises
        ------
        NotFittedError
            If nothing was taught.

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> then = recogniser.freeze()
        >>> recogniser.forget_class("cup")
        >>> then.to_state().sums.labels.tolist()
        ['cup', 'mug']
        """
        with self.lock:
            frozen = self._learner.frozen()
            taught, bound = self.taught.copy(), self.unknown_above
            return FrozenRecogniser(frozen.learner, taught, self.identity, bound, frozen.moment)

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return copy.deepcopy({**self.__dict__, "_network": (None, None)})

    def _open(self, path: Path) -> None:
        """Become what `save` wrote, or a recogniser of any other model: one without images."""
        self.become(file_format.read(path), path)

    def become(self, state: file_format.State | None, path: str | os.PathLike[str]) -> None:
        """Become what a file held; with None, one that was taught nothing.

        Parameters
        ----------
        state : State or None
            What `newfound.storage.format` read.
        path : str or path-like
            Of the file, which errors name.

        Raises
        ------
        ModelFileError
            If it holds no model.

        Examples
        --------
        >>> one, other = Recogniser(extractor=None), Recogniser(extractor=None)
        >>> one.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
        >>> other.become(one.freeze().to_state(), "one")
        >>> other.counts
        {'cup': 1, 'mug': 1}
        """
        self.changes = 0
        if state is None:
            self._learner, self.taught, self.identity = self._learner.blank(), TaughtImages(), None
            return
        self._learner = learner_of(state, path)
        self.identity, kept = state.extractor, state.kept_by("memory")
        try:
            self.taught = TaughtImages()
            if kept:
                self.taught = TaughtImages.from_arrays(kept, state.sums.labels.tolist())
            self.unknown_above = _bound_in(kept)
        except InputError as error:
            raise file_format.ModelFileError(f"{os.fspath(path)}: damaged: {error}") from error

    def _extractor_for(self, known: Identity | None) -> "Extractor":
        """Return the extractor for images beside vectors that are known to be of this one."""
        with self.lock:
            made_for, network = self._network
            if network is None or (known != made_for and known != network.identity):
                network = extractor_for(known, self._choice)
                self._network = known, network
            return network

    def _checked(self, vectors: ArrayLike, labels: Sequence[Any]) -> tuple[Rows, Labels]:
        """Return vectors (m, d) and a label for each, or raise ValueError."""
        X, y = as_rows(vectors), as_labels(labels)
        if len(X) != len(y):
            raise InputError(f"{len(X)} vectors, but {len(y)} labels")
        if self.width not in (None, X.shape[1]):
            raise InputError(
                f"vectors of {X.shape[1]} features, but this model was taught {self.width}"
            )
        return X, y

    def check_labels(self, found: Sources) -> None:
        """Raise an error if labels cannot all be those of one model, before any is learned.

        Parameters
        ----------
        found : Sources

        Raises
        ------
        InputError

        Examples
        --------
        >>> recogniser = Recogniser(extractor=None)
        >>> recogniser.teach_vectors([[0.0], [1.0]], [1, 2])
        >>> recogniser.check_labels(sources.find(["a.jpg"], "mug"))
        Traceback (most recent call last):
        newfound.InputError: this model's labels are numbers, but 'mug' is not one of these
        """
        with self.lock:
            meant = as_labels([self.label(each) for each in found.labels], "labels")
            check_same_type(self._learner.sums_.labels if self.is_taught else meant[:0], meant)

    def _check_remembered(self, pairs: Iterable[tuple[Any, bytes]]) -> None:
        """Raise NotTaughtError if images are not remembered, in a recogniser that remembers any."""
        for (label, digest), wanted in Counter(pairs).items():
            if len(self.taught) and self.taught.count(label, digest) < wanted:
                raise NotTaughtError(f"an image with this digest was not taught as {label}")

    def _note_changes(self, examples: int) -> None:
        self.changes += max(1, examples)
        if not self.is_taught:
            self.identity = None

    def _refresh_if_due(self) -> None:
        """Bring everything up to date if a good part of what is known came or went since then."""
        with self.lock:
            if self._is_due():
                self.refresh()

    def _is_due(self) -> bool:
        return self.is_taught and self.changes >= RENEW_SHARE * self._learner.n_samples_seen_

    def _reconsider(self) -> None:
        self.changes = 0
        if self.is_taught:
            self._learner.reconsider()

    def _as_taught(self, row: NDArray[np.floating], label: Any) -> NDArray[np.floating]:
        """Return a row as it was taught, if rows of its class are kept as they are.

        Networks may differ in the last bits from machine to machine, but what is kept is known
        by all of them.
        """
        kept = self._learner.kept_rows(label)
        far = np.linalg.norm(kept - row, axis=1)  # finite, as rows are
        if not len(far) or far.min() > SAME_IMAGE * np.linalg.norm(row):
            return row
        nearest: NDArray[np.floating] = kept[int(far.argmin())].astype(row.dtype)
        return nearest


class FrozenRecogniser(NamedTuple):
    """All that a file holds of a recogniser, as it was at a moment."""

    learner: Learner
    taught: TaughtImages
    identity: Identity | None
    unknown_above: float
    moment: int  # later ones have larger numbers

    def to_state(self) -> file_format.State:
        """Return it as the storage room writes it."""
        state = self.learner.to_state()._replace(extractor=self.identity)
        kept = self.taught.to_arrays(state.sums.labels.tolist())
        if self.unknown_above != UNKNOWN_ABOVE:
            kept[STORED_BOUND] = np.array([self.unknown_above])
        return state.keeping("memory", kept)


def _as_list(images: Any) -> tuple[list[Any], bool]:
    """Return images as a list, and whether there was a single one, which is no list."""
    is_one = isinstance(images, str | bytes | os.PathLike) or (
        images.ndim < 4 if isinstance(images, np.ndarray) else hasattr(images, "tobytes")
    )
    if not is_one and not isinstance(images, Iterable):
        raise InputError(f"not an image, and no images, but a {type(images).__name__}")
    return ([images] if is_one else list(images)), is_one


def _raise_problem(problems: list[Problem]) -> None:
    for name, reason in problems:
        kind = NotTaughtError if reason.startswith("was not taught") else UnreadableImageError
        raise kind(f"{name}: {reason}")


def checked_digests(vectors: NDArray[Any], digests: Sequence[bytes] | None) -> list[bytes]:
    """Return a digest for each vector (m, d): those given, if they can be such, or of the numbers.

    >>> checked_digests(np.zeros((1, 2)), [b"short"])
    Traceback (most recent call last):
    newfound.InputError: digests have 16 bytes
    """
    if digests is None:
        return [digest_of(row.tobytes()) for row in vectors]
    if len(digests) != len(vectors):
        raise InputError(f"{len(vectors)} vectors, but {len(digests)} digests")
    if any(not isinstance(each, bytes) or len(each) != DIGEST_BYTES for each in digests):
        raise InputError(f"digests have {DIGEST_BYTES} bytes")
    return list(digests)


def _checked_bound(bound: Any) -> float:
    """Return a bound of the unknown, or raise InputError if it can be none."""
    if not isinstance(bound, Real) or not 0 <= float(bound) <= 1:
        raise InputError(f"unknown_above must be a number from 0 to 1, got {bound!r}")
    return float(bound)


def _bound_in(arrays: dict[str, NDArray[Any]]) -> float:
    """Return the bound of the unknown that was stored, or raise ValueError if it is none."""
    if STORED_BOUND not in arrays:
        return UNKNOWN_ABOVE
    return float(take(arrays, STORED_BOUND, np.float64, (1,), 0, 1)[0])
