"""A model, and what it remembers of the images it was taught: what the command line works with."""

import copy
import os
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

from newfound.common.arrays import Labels
from newfound.common.errors import InvalidInputError
from newfound.common.files import DIGEST_BYTES
from newfound.common.interrupts import uninterrupted
from newfound.estimators.classifier import IncrementalRidgeClassifier
from newfound.estimators.classifier_cv import IncrementalRidgeClassifierCV
from newfound.estimators.loading import model_of
from newfound.features.vectors import Vectors
from newfound.heads.simplex import project_on_simplex
from newfound.recognition.taught import Memory
from newfound.storage import format as file_format
from newfound.sums.labels import as_labels

# Of views of what is known, so large a part is to be called known; fewer examples held back than
# this say nothing about that.
KNOWN_SHARE, LEAST_HELD = 0.95, 4
# How many of them are looked at.
MOST_HELD = 1000
# How far vectors of one image may differ, relative to their length, from machine to machine.
SAME_IMAGE = 1e-4


class Answer(NamedTuple):
    """What a recogniser says of one image."""

    label: Any  # the best guess, also where it is not known
    score: float  # its probability, as far as the model can tell
    novelty: float
    known: bool  # whether the image is enough like what was taught
    top: list[tuple[Any, float]]  # best guesses with their scores, best first


class _Names(NamedTuple):
    """Labels by how they are written: exactly, and with accents composed."""

    labels: Labels
    exact: dict[str, Any]
    similar: dict[str, dict[str, Any]]

    def brought_to(self, labels: Labels) -> "_Names":
        """Return the names of other labels. Classes that came are added, at no cost of others."""
        held = len(self.labels)
        grown = held <= len(labels) and np.array_equal(labels[:held], self.labels)
        start, exact, similar = (held, self.exact, self.similar) if grown else (0, {}, {})
        for label in labels[start:].tolist():
            text = str(label)
            exact[text] = label
            similar.setdefault(unicodedata.normalize("NFC", text), {})[text] = label
        return _Names(labels, exact, similar)


class Recogniser:
    """A classifier that knows which images it was taught, and when to say "unknown".

    Any number of threads may ask while others teach.

    Parameters
    ----------
    model : IncrementalRidgeClassifier, optional
        By default a new one that chooses its parameters itself.
    lean : bool, default=False
        Do not hold sums per class: a smaller file, but no class can be forgotten as a whole.

    Examples
    --------
    >>> from newfound.features import Pixels
    >>> pixels, recogniser = Pixels(size=4), Recogniser()
    >>> black, white = (np.full((8, 8), level, dtype=np.uint8) for level in (0, 255))
    >>> recogniser.teach(pixels([black, white]), ["night", "day"], [b"0" * 16, b"1" * 16])
    >>> recogniser.answers(pixels([white]))[0].label
    'day'
    >>> recogniser.memory.count("day", b"1" * 16)
    1
    """

    # model: the classifier.
    # memory: which images it was taught under which label.
    # unknown_above: novelty beyond which an image is called unknown; None: none is.
    # _names: the classes by how they are written; renewed when the classes are not those.

    def __init__(
        self, model: IncrementalRidgeClassifier | None = None, *, lean: bool = False
    ) -> None:
        if model is None:
            model = IncrementalRidgeClassifierCV(class_weight=None if lean else {})
        self.model = model
        self.memory = Memory()
        self.unknown_above: float | None = None
        self._names = _Names(np.array([]), {}, {})

    @property
    def is_taught(self) -> bool:
        """Whether it was taught anything."""
        return self.model.__sklearn_is_fitted__()

    def label(self, text: str) -> Any:
        """Return the label that a text stands for, of a class that is known or of a new one.

        The text is a class's label as it is written, or differs in how its accents are. Where
        labels are numbers or booleans, a new label is one too, if the text is.

        Raises
        ------
        ValueError
            If it could mean several classes.
        """
        composed = unicodedata.normalize("NFC", text)
        if not self.is_taught:
            return composed
        with self.model.lock:
            labels = self.model.sums_.labels
            if self._names.labels is not labels:  # the sums replace labels, and never change them
                self._names = self._names.brought_to(labels)
            if text in self._names.exact:
                return self._names.exact[text]
            meant = list(self._names.similar.get(composed, {}).values())
        if len(meant) > 1:
            raise InvalidInputError(
                f"{text} could mean {len(meant)} classes that differ in how accents are written: "
                f"{', '.join(map(ascii, meant))}; write one of them exactly"
            )
        return meant[0] if meant else _from_text(composed, labels.dtype.kind)

    def teach(self, vectors: Vectors, labels: Sequence[Any], digests: Sequence[bytes]) -> None:
        """Learn vectors (m, d) with these labels, from images with these digests."""
        y, marks = as_labels(labels), _checked_digests(digests, len(vectors))
        with self.model.lock, uninterrupted():
            self.model.store(vectors, y)
            self.unknown_above = None  # until all is settled anew
            for label, digest in zip(y.tolist(), marks, strict=True):
                self.memory.add(label, digest)

    def forget(self, vectors: Vectors, labels: Sequence[Any], digests: Sequence[bytes]) -> None:
        """Take back vectors (m, d) that were taught with these labels."""
        y, marks = as_labels(labels), _checked_digests(digests, len(vectors))
        with self.model.lock, uninterrupted():
            pairs = zip(vectors, y.tolist(), strict=True)
            rows = [self._as_taught(row, label) for row, label in pairs]
            before = self.model.n_samples_seen_
            try:
                self.model.forget(Vectors(np.array(rows), vectors.extractor), y)
            finally:  # also where its warnings are errors
                if not self.is_taught or self.model.n_samples_seen_ < before:
                    for label, digest in zip(y.tolist(), marks, strict=True):
                        self.memory.remove(label, digest)

    def forget_class(self, label: Any) -> None:
        """Take back all that was taught with a label."""
        with self.model.lock, uninterrupted():
            self.model.forget_class(label)
            self.memory.drop(label)

    def rename(self, old: Any, new: Any) -> None:
        """Give a class another label; one that has it already takes it in."""
        with self.model.lock, uninterrupted():
            self.model.rename_class(old, new)
            if old != new:
                self.memory.rename(old, new)

    def merge(self, other: "Recogniser") -> int:
        """Learn all that another was taught; return how many images both were: they count twice."""
        other = copy.deepcopy(other)  # which may go on learning, and may be merging this one
        with self.model.lock, uninterrupted():
            self.model.merge(other.model)
            return self.memory.merge(other.memory)

    def __getstate__(self) -> dict[str, Any]:
        with self.model.lock:
            return copy.deepcopy(self.__dict__)

    def settle(self) -> None:
        """Bring the choice of parameters and the bound of the unknown up to date."""
        with self.model.lock:
            self.unknown_above = None
            if not isinstance(self.model, IncrementalRidgeClassifierCV) or not self.is_taught:
                return
            self.model.reconsider()
            held, _ = self.model.holdout_
            if len(held) >= LEAST_HELD:
                evenly = np.linspace(0, len(held) - 1, min(len(held), MOST_HELD)).astype(np.intp)
                self.unknown_above = bound_of_known(self.model.novelty(held[evenly]))

    def answers(
        self, vectors: Vectors, top: int = 1, unknown_above: float | None = None
    ) -> list[Answer]:
        """Return what each row of `vectors` is taken for.

        Parameters
        ----------
        vectors : Vectors of shape (m, d)
        top : int, default=1
            How many guesses to return.
        unknown_above : float, optional
            Novelty beyond which an image is not known. By default what was found out with examples
            held back.
        """
        with self.model.lock:
            bound = self.unknown_above if unknown_above is None else unknown_above
            labels = self.model.classes_.tolist()
            raw, novelty = self.model.scores(vectors), self.model.novelty(vectors)
        order = np.argsort(-raw, axis=1, kind="stable")[:, :top]
        scores = project_on_simplex(raw)
        answers = []
        for best, row, strange in zip(
            order.tolist(), scores.tolist(), novelty.tolist(), strict=True
        ):
            guesses = [(labels[place], row[place]) for place in best]
            known = bound is None or strange <= bound
            answers.append(Answer(*guesses[0], strange, known, guesses))
        return answers

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write model and memory to one file, whole or not at all; `newfound.load` reads the model.

        A model loaded that way and saved again has no memory of images.
        """
        with self.model.lock:
            state = self.model.to_state()
            memory = self.memory.packed(state.sums.labels.tolist())
            if self.unknown_above is not None:
                memory["unknown_above"] = np.array([self.unknown_above])
                _novelty(memory["unknown_above"])  # what could not be read is not written
            file_format.write(path, state.keeping("memory", memory))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Recogniser":
        """Read what `save` wrote, or any other model: one that remembers no images."""
        state = file_format.read(path)
        recogniser = cls(model_of(state, path))
        memory = state.kept_by("memory")
        if not memory:
            return recogniser
        labels = state.sums.labels.tolist()
        try:
            recogniser.memory = Memory.unpacked(memory, labels)
            if "unknown_above" in memory:
                recogniser.unknown_above = _novelty(memory["unknown_above"])
        except (ValueError, KeyError) as error:
            raise file_format.ModelFileError(f"{os.fspath(path)}: damaged: {error}") from error
        return recogniser

    def _as_taught(self, row: NDArray[np.floating], label: Any) -> NDArray[np.floating]:
        """Return a row as it was taught, if rows of its class are kept as they are.

        Networks may differ in the last bits from machine to machine, but what is kept is known
        by all of them.
        """
        row, kept = np.asarray(row), self.model.kept_rows(label)
        far = np.linalg.norm(kept - row, axis=1)
        if not len(far) or far.min() > SAME_IMAGE * np.linalg.norm(row):
            return row
        nearest: NDArray[np.floating] = kept[int(far.argmin())].astype(row.dtype)
        return nearest


def bound_of_known(novelty: NDArray[np.float64]) -> float:
    """Return the novelty that one more example like these would pass once in twenty times.

    Parameters
    ----------
    novelty : ndarray of shape (m,)
        Of m > 1 examples that were not learned. Their log odds, which are logarithms of
        leverages, are taken for normal: with few examples this is Student's bound for the next
        one, and far above the largest; with many it is their 95 % quantile.

    Examples
    --------
    >>> round(bound_of_known(np.array([0.5, 0.6, 0.4, 0.5])), 2)
    0.7
    """
    novelty = np.clip(novelty, np.finfo(float).tiny, np.nextafter(1.0, 0.0))
    odds = np.log(novelty) - np.log1p(-novelty)
    m, spread = len(odds), odds.std(ddof=1)
    bound = odds.mean() + stdtrit(m - 1, KNOWN_SHARE) * spread * np.sqrt(1 + 1 / m)
    return float(expit(bound))


def _from_text(text: str, kind: str) -> Any:
    """Return a new label for a model with labels of a numpy kind; the text if it is none such."""
    if kind == "b" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind in "iuf" and re.fullmatch(r"[+-]?\d{1,30}(\.0*)?", text):
        number = int(text.partition(".")[0])
        return float(number) if kind == "f" else number
    return text


def _checked_digests(digests: Sequence[bytes], needed: int) -> list[bytes]:
    if len(digests) != needed:
        raise InvalidInputError(f"{needed} vectors, but {len(digests)} digests")
    if any(len(digest) != DIGEST_BYTES for digest in digests):
        raise InvalidInputError(f"digests have {DIGEST_BYTES} bytes")
    return list(digests)


def _novelty(array: NDArray[Any]) -> float:
    if array.shape != (1,) or array.dtype != np.float64 or not 0 <= array[0] <= 1:
        raise InvalidInputError("its bound of the unknown is none")
    return float(array[0])
