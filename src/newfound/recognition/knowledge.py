"""What a recogniser knows: a learner of vectors, and which images they were made of."""

import copy
import os
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.common.arrays import Labels, Rows
from newfound.common.errors import InputError
from newfound.common.files import DIGEST_BYTES, digest_of, moment
from newfound.common.interrupts import uninterrupted
from newfound.estimators.loading import as_estimator
from newfound.features.identity import Identity
from newfound.learner.learner import CHOOSING, Learner
from newfound.learner.loading import learner_of
from newfound.recognition.beginning import USUAL, Beginning
from newfound.recognition.extractors import common_identity
from newfound.recognition.labels import LabelNames
from newfound.recognition.sources import NewExample, stack
from newfound.recognition.taught import TaughtImages
from newfound.solvers.rounding import warn_of_rounding
from newfound.storage import format as file_format
from newfound.storage.table import Arrays, Sizes
from newfound.sums.labels import as_labels, check_same_type
from newfound.sums.names import check_names
from newfound.sums.rows import as_rows

if TYPE_CHECKING:
    from newfound.estimators.classifier import IncrementalRidgeClassifier

# How far vectors of one image may differ, relative to their length, from machine to machine.
SAME_IMAGE = 1e-4
# So large a part of what is known must be new before the choice of parameters is renewed.
RENEW_SHARE = 0.25
# The probability of being unknown above which an image is called that, unless someone says
# otherwise; and what files call another one.
UNKNOWN_ABOVE, STORED_BOUND = 0.5, "memory.called_unknown_above"

NO_LABELS = np.array([], dtype=np.str_)


class Answer(NamedTuple):
    """What a recogniser says of one image."""

    label: Any  # the best guess, also where it is not known
    score: float  # its probability, as far as the model can tell
    novelty: float  # how unlike everything taught, from 0 to 1
    unknown: float  # the probability that it is of no class that was taught
    known: bool  # whether `unknown` is not above the bound
    top: list[tuple[Any, float]]  # best guesses with their scores, best first


class Knowledge:
    """A learner, the images that it was taught, and what made vectors of them.

    All of it changes together, or not at all; any number of threads may ask meanwhile.

    Parameters
    ----------
    learner : Learner
    model : IncrementalRidgeClassifier, optional
        An estimator over it, if there is one already.

    Examples
    --------
    >>> knowledge = Knowledge(Learner())
    >>> rows = [NewExample(np.array([x]), bytes([x] * 16)) for x in (0, 1)]
    >>> knowledge.teach(rows, ["cup", "mug"])
    >>> knowledge.look([[0.9]])[0].label, knowledge.counts
    ('mug', {'cup': 1, 'mug': 1})
    """

    # unknown_above: the probability of being unknown above which an image is called that.
    # taught: which images were taught under which label. identity: what made the vectors.
    # changes: examples taught and forgotten since parameters were last chosen.
    # _plain: the learner. _model: an estimator over it, once somebody has asked for one.
    # _names: the classes by how they are written.

    def __init__(self, learner: Learner, model: "IncrementalRidgeClassifier | None" = None) -> None:
        self._plain, self._model = learner, model
        self.taught = TaughtImages()
        self.identity: Identity | None = None
        self.unknown_above = UNKNOWN_ABOVE
        self.changes = 0
        self._names = LabelNames()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self.copy())

    def __deepcopy__(self, memo: dict[int, Any]) -> "Knowledge":
        return self.copy()

    @property
    def learner(self) -> Learner:
        """What learns; with the parameters of `model` as they now are, if that was asked for."""
        return self._plain if self._model is None else self._model.learner_

    @property
    def model(self) -> "IncrementalRidgeClassifier":
        """The learner as scikit-learn knows it: what either is taught, the other knows."""
        if self._model is None:
            model: Any = as_estimator(self._plain)
            self._model = model
        return self._model

    @property
    def lock(self) -> Any:
        """Hold it to ask or change several things as one: a reentrant lock, the same for ever."""
        return self._plain.lock

    @property
    def is_taught(self) -> bool:
        """Whether anything was taught that is not forgotten."""
        return self._plain.is_fitted

    @property
    def width(self) -> int | None:
        """How many features its vectors have; None: nothing was taught."""
        with self.lock:
            return self._plain.learned.schema.width if self._plain.is_fitted else None

    @property
    def counts(self) -> dict[Any, int]:
        """How many images were taught of each class."""
        with self.lock:
            if not self.is_taught:
                return {}
            sums = self._plain.engine.memory.sums
            labels, order = sums.sorted_classes
            return dict(zip(labels.tolist(), sums.counts[order].tolist(), strict=True))

    # Labels and vectors that come in.

    def label(self, text: Any) -> Any:
        """Return the label that a text stands for, of a class that is known or of a new one."""
        if not isinstance(text, str):
            if text is not None:
                as_labels([text], "label")
            return text
        with self.lock:
            labels = self._plain.engine.memory.sums.labels if self._plain.is_fitted else NO_LABELS
            return self._names.find(text, labels)

    def check_labels(self, labels: Sequence[Any]) -> None:
        """Raise InputError if labels cannot all be those of one model, before any is learned."""
        with self.lock:
            meant = as_labels([self.label(label) for label in labels], "labels")
            known = self._plain.engine.memory.sums.labels if self.is_taught else meant[:0]
            check_same_type(known, meant)
            check_names(set(meant.tolist()).difference(known.tolist()))

    def checked(self, vectors: ArrayLike, labels: Sequence[Any]) -> tuple[Rows, Labels]:
        """Return vectors (m, d) and a label for each, or raise ValueError."""
        X, y = as_rows(vectors), as_labels(labels)
        if len(X) != len(y):
            raise InputError(f"{len(X)} vectors, but {len(y)} labels")
        width = self.width
        if width not in (None, X.shape[1]):
            raise InputError(f"vectors of {X.shape[1]} features, but this model was taught {width}")
        return X, y

    # What changes it: as `Edits` has it (edits.py), made at once. Examples were checked.

    keeps_thumbnails = False

    def teach(
        self,
        examples: Sequence[NewExample],
        labels: Sequence[Any],
        *,
        at_once: bool = False,
        any_label: bool = False,
    ) -> None:
        """Learn examples, at once if the next question shall not have to solve for them.

        With `any_label`, labels that could not be taught are taken, because they once were.
        """
        X, y, digests, made_by = _rows_of(examples, labels)
        with self.lock, uninterrupted():
            known = common_identity(self.identity, made_by, "these are those")
            self.learner.learn(X, y, defer=not at_once, any_label=any_label)
            self.identity = known
            for label, digest in zip(y.tolist(), digests, strict=True):
                self.taught.add(label, digest)
            self._note_changes(len(X))

    def forget(self, examples: Sequence[NewExample], labels: Sequence[Any]) -> None:
        """Take back examples, as if they had never been taught."""
        X, y, digests, made_by = _rows_of(examples, labels)
        pairs = list(zip(y.tolist(), digests, strict=True))
        with self.lock, uninterrupted():
            common_identity(self.identity, made_by, "these are those")
            self.taught.check(pairs)
            memory = self.learner.engine.memory
            rows = zip(X, y.tolist(), strict=True)
            taught = [_as_taught(row, memory.rows_of(label)) for row, label in rows]
            error = self.learner.forget(np.array(taught), y)
            for label, digest in pairs:
                self.taught.remove(label, digest)
            self._note_changes(len(X))
        warn_of_rounding(error, stacklevel=3)

    def forget_class(self, label: Any) -> None:
        """Take back all that was taught with a label."""
        with self.lock, uninterrupted():
            before = self.counts.get(label, 0)
            self.learner.forget_class(label)
            self.taught.drop(label)
            self._note_changes(before)

    def rename(self, old: Any, new: Any, *, any_label: bool = False) -> None:
        """Give a class another label, as in `teach`; a class that has it already takes it in."""
        with self.lock, uninterrupted():
            before = self.counts.get(old, 0)
            self.learner.rename_class(old, new, any_label)
            if old != new:
                self.taught.rename(old, new)
            self._note_changes(before)

    def merge(self, other: "Knowledge") -> int:
        """Learn all that another was taught; return how many images both were."""
        other = other.copy()  # which may go on learning, and may be merging this one
        with self.lock, uninterrupted():
            known = common_identity(self.identity, other.identity, "the other was taught those")
            self.learner.merge(other.learner)
            self.identity = known
            self._note_changes(sum(other.counts.values()))
            return self.taught.merge(other.taught)

    def _note_changes(self, examples: int) -> None:
        self.changes += max(1, examples)
        if not self._plain.is_fitted:
            self.identity = None

    # Its parameters, which are chosen from what was taught.

    @property
    def is_due(self) -> bool:
        """Whether so much came or went that parameters should be chosen anew."""
        total = self._plain.engine.memory.sums.total if self._plain.is_fitted else 0
        return total > 0 and self.changes >= RENEW_SHARE * total

    def reconsider(self, *, aside: bool = False) -> None:
        """Choose parameters now; if aside, on a copy, so that nobody who asks waits for it."""
        if self.is_taught:
            self.learner.reconsider(aside=aside)
        self.changes = 0

    def refresh(self) -> None:
        """Choose parameters now."""
        with self.lock:
            self.reconsider()

    def refresh_if_due(self) -> None:
        """Choose parameters if a good part of what is known came or went since the last time."""
        with self.lock:
            if self.is_due:
                self.reconsider()

    # Questions.

    def look(
        self,
        vectors: ArrayLike,
        top: int = 1,
        unknown_above: float | None = None,
        made_by: Identity | None = None,
    ) -> list[Answer]:
        """Say what vectors (m, d) show."""
        X = as_rows(vectors)
        if type(top) is not int or top < 1:
            raise InputError(f"top must be a whole number from 1, got {top!r}")
        bound = self.unknown_above if unknown_above is None else checked_bound(unknown_above)
        with self.lock:
            common_identity(self.identity, made_by, "these are those")
            looked = self.learner.predict(X, "look", leverage=True, unknown=True)
        labels = looked.labels.tolist()
        # By scores: probabilities may be too small, or too near to 1, to tell guesses apart.
        order = np.argsort(-looked.recoded, axis=1, kind="stable")[:, :top]
        columns = order, looked.probabilities, looked.novelty, looked.unknown
        answers = []
        for best, row, novelty, unknown in zip(*map(np.ndarray.tolist, columns), strict=True):
            guesses = [(labels[index], row[index]) for index in best]
            answers.append(Answer(*guesses[0], novelty, unknown, unknown <= bound, guesses))
        return answers

    # Copies, and files.

    def copy(self) -> "Knowledge":
        """Return another that knows the same."""
        with self.lock:
            return self._beside(copy.deepcopy(self.learner))

    def freeze(self) -> "tuple[Knowledge, int]":
        """Return a copy that has derived nothing, and its moment; later ones have larger ones."""
        with self.lock:
            return self._beside(self.learner.copy()), moment()

    def _beside(self, learner: Learner) -> "Knowledge":
        """Return what knows beside a copy of the learner all else that is known."""
        other = Knowledge(learner)
        other.taught, other.identity = self.taught.copy(), self.identity
        other.changes, other.unknown_above = self.changes, self.unknown_above
        return other

    def replace(self, other: "Knowledge") -> None:
        """Become what another is, which is used up, but for the bound of the unknown."""
        with self.lock:
            self.learner.replace(other.learner)
            self._model = None
            self.taught, self.identity = other.taught, other.identity
            self.changes = other.changes

    def save(self, path: str | os.PathLike[str], *, refresh: bool) -> None:
        """Write all that is known to a file; choose parameters before, if anything changed."""
        if not refresh:
            self.learner.finish_pending()
        with self.lock:
            if refresh and self.changes:
                self.reconsider()
            then, when = self.freeze()
        file_format.write(path, then.to_state(), when)

    def to_state(self) -> file_format.State:
        """Return it as the storage room writes it."""
        state = self.learner.to_state()._replace(extractor=self.identity)
        arrays = self.taught.to_arrays(state.sums.labels.tolist())
        if self.unknown_above != UNKNOWN_ABOVE:
            arrays[STORED_BOUND] = np.array([self.unknown_above])
        return state.keeping(arrays)

    @classmethod
    def of_state(cls, state: file_format.State, path: str | os.PathLike[str]) -> "Knowledge":
        """Return what a file of this path holds, or raise ModelFileError."""
        knowledge, arrays = cls(learner_of(state, path)), state.arrays
        knowledge.identity = state.extractor
        try:
            if "memory.class" in arrays:
                labels = state.sums.labels.tolist()
                knowledge.taught = TaughtImages.from_arrays(arrays, labels)
            knowledge.unknown_above = _bound_in(arrays)
        except InputError as error:
            raise file_format.ModelFileError(f"{os.fspath(path)}: damaged: {error}") from error
        return knowledge


def new_knowledge(
    beginning: Beginning = USUAL, model: "IncrementalRidgeClassifier | None" = None
) -> Knowledge:
    """Return what is known before anything is taught: by a learner that chooses, unless by a model.

    >>> new_knowledge(Beginning(layer=True)).learner.settings.layer
    'auto'
    """
    if model is not None:
        return Knowledge(model.learner_, model)
    settings = CHOOSING._replace(
        class_weight={} if beginning.class_sums else None,
        layer="auto" if beginning.layer else None,
    )
    kind = "IncrementalClassifier" if beginning.layer else "IncrementalRidgeClassifierCV"
    return Knowledge(Learner(settings, kind=kind))


def drop_layer(knowledge: Knowledge) -> None:
    """Let it know, from now on, exactly what it would know had it never had a layer."""
    with knowledge.lock:
        other = knowledge.copy()
        other.learner.configure(other.learner.settings._replace(layer=None))
        knowledge.replace(other)


def why_none_is_unknown(knowledge: Knowledge) -> str | None:
    """Return why no image is called unknown yet, in words; None: it can tell what is."""
    with knowledge.lock:
        if knowledge.is_taught and knowledge.learner.engine.calibration.bound is not None:
            return None
        if sum(count > 1 for count in knowledge.counts.values()) < 2:
            return "that takes two classes with two images each"
        return "what was taught so far does not tell known things from unknown ones"


def _rows_of(
    examples: Sequence[NewExample], labels: Sequence[Any]
) -> tuple[Rows, Labels, list[bytes], Identity | None]:
    """Return vectors, labels, digests and extractor of examples."""
    X, made_by = stack(examples)
    return X, as_labels(labels), [example.digest for example in examples], made_by


def _as_taught(row: NDArray[np.floating], kept: Rows) -> NDArray[np.floating]:
    """Return a row as it was taught, if rows of its class (m, d) are kept as they are.

    Networks may differ in the last bits from machine to machine, but what is kept is known by all
    of them.
    """
    far = np.linalg.norm(kept - row, axis=1)  # finite, as rows are
    if not len(far) or far.min() > SAME_IMAGE * np.linalg.norm(row):
        return row
    nearest: NDArray[np.floating] = kept[int(far.argmin())].astype(row.dtype)
    return nearest


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
    if any(not isinstance(digest, bytes) or len(digest) != DIGEST_BYTES for digest in digests):
        raise InputError(f"digests have {DIGEST_BYTES} bytes")
    return list(digests)


def checked_bound(bound: Any) -> float:
    """Return a bound of the unknown, or raise InputError if it can be none."""
    if not isinstance(bound, Real) or not 0 <= float(bound) <= 1:
        raise InputError(f"unknown_above must be a number from 0 to 1, got {bound!r}")
    return float(bound)


def _bound_in(arrays: Arrays) -> float:
    """Return the bound of the unknown that was stored, or raise ValueError if it is none."""
    if STORED_BOUND not in arrays:
        return UNKNOWN_ABOVE
    return float(Sizes().take(arrays, STORED_BOUND)[0])
