"""From what people write to the label of a class."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from newfound.common.arrays import Labels
from newfound.common.errors import InputError
from newfound.sums.labels import as_labels
from newfound.sums.names import check_names, composed


def check_label(text: Any) -> None:
    """Raise InputError if what someone writes cannot name a new class; accents may be apart.

    Examples
    --------
    >>> check_label("mug ")
    Traceback (most recent call last):
    newfound.InputError: label 'mug ' begins or ends with white space: leave it out
    """
    label = composed(text) if isinstance(text, str) else text
    check_names(as_labels([label], "label").tolist())


def rename_labels(find: Callable[[Any], Any], old: Any, new: Any) -> tuple[Any, Any]:
    """Return the label of a class, and what it is to be called, as `find` knows them by texts.

    That may be the same name, its accents composed.

    Examples
    --------
    >>> rename_labels({"cafe": "cafe", "tea": "tea"}.get, "cafe", "tea")
    ('cafe', 'tea')
    """
    before, after = find(old), find(new)
    return before, composed(new) if before == after and isinstance(after, str) else after


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
        meant = list(self.similar.get(composed(text), {}).values())
        if len(meant) > 1:
            raise InputError(
                f"{text} could mean {len(meant)} classes that differ in how accents are written: "
                f"{', '.join(map(ascii, meant))}; write one of them exactly"
            )
        return meant[0] if meant else _new_label(composed(text), labels.dtype.kind)

    def _list(self, labels: Labels) -> None:
        """List other labels. Where classes were added, those listed before cost nothing."""
        n = len(self.labels)
        if n > len(labels) or not np.array_equal(labels[:n], self.labels):
            self.exact, self.similar, n = {}, {}, 0
        for label in labels[n:].tolist():
            text = str(label)
            self.exact[text] = label
            self.similar.setdefault(composed(text), {})[text] = label
        self.labels = labels


def _new_label(text: str, kind: str) -> Any:
    """Return a new label for a model with labels of a numpy kind; the text if it is none such."""
    if kind == "b" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind in "iuf" and re.fullmatch(r"[+-]?\d{1,30}(\.0*)?", text):
        number = int(text.partition(".")[0])
        return float(number) if kind == "f" else number
    return text
