"""From what people write to the label of a class."""

import re
import unicodedata
from typing import Any

import numpy as np

from newfound.common.arrays import Labels
from newfound.common.errors import InputError
from newfound.common.limits import LONGEST_LABEL
from newfound.sums.labels import as_labels


def check_label(text: Any) -> None:
    """Raise InputError if a text, a number or a boolean cannot name a class.

    Examples
    --------
    >>> check_label("")
    Traceback (most recent call last):
    newfound.InputError: a class needs a name
    """
    if not isinstance(text, str):
        as_labels([text], "label")
        return
    if not text:
        raise InputError("a class needs a name")
    longest = max(len(text), len(unicodedata.normalize("NFC", text)))
    if longest > LONGEST_LABEL:
        raise InputError(f"a label of {longest} characters; a label may have {LONGEST_LABEL}")


class LabelNames:
    """The labels of a model by how they are written: exactly, and with accents composed.

    Examples
    --------
    >>> names, labels = LabelNames(), np.array([1, 2])
    >>> names.find("2", labels), names.find("7.0", labels), names.find("mug", labels)
    (2, 7, 'mug')
    """

    # labels: those that are listed. exact, similar: by the text as it is, and composed.

    def __init__(self) -> None:
        self.labels: Labels = np.array([])
        self.exact: dict[str, Any] = {}
        self.similar: dict[str, dict[str, Any]] = {}

    def find(self, text: str, labels: Labels) -> Any:
        """Return the label that a text stands for, among `labels` or a new one beside them.

        Raises
        ------
        InputError
            If it could mean several of them.
        """
        if self.labels is not labels:  # sums replace their labels, and never change them
            self._list(labels)
        if text in self.exact:
            return self.exact[text]
        composed = unicodedata.normalize("NFC", text)
        meant = list(self.similar.get(composed, {}).values())
        if len(meant) > 1:
            raise InputError(
                f"{text} could mean {len(meant)} classes that differ in how accents are written: "
                f"{', '.join(map(ascii, meant))}; write one of them exactly"
            )
        return meant[0] if meant else _new_label(composed, labels.dtype.kind)

    def _list(self, labels: Labels) -> None:
        """List other labels. Where classes were added, those listed before cost nothing."""
        n = len(self.labels)
        if n > len(labels) or not np.array_equal(labels[:n], self.labels):
            self.exact, self.similar, n = {}, {}, 0
        for label in labels[n:].tolist():
            text = str(label)
            self.exact[text] = label
            self.similar.setdefault(unicodedata.normalize("NFC", text), {})[text] = label
        self.labels = labels


def _new_label(text: str, kind: str) -> Any:
    """Return a new label for a model with labels of a numpy kind; the text if it is none such."""
    if kind == "b" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind in "iuf" and re.fullmatch(r"[+-]?\d{1,30}(\.0*)?", text):
        number = int(text.partition(".")[0])
        return float(number) if kind == "f" else number
    return text
