"""Labels that cannot be taught, and models that have them all the same, as files of others may."""

from pathlib import Path
from typing import Any

import numpy as np

from newfound import IncrementalRidgeClassifier, Recogniser

# What is wrong with a label, and what an error says of it.
UNFIT = {
    "": "a class needs a name",
    " ": "begins or ends with white space",
    "mug ": "begins or ends with white space",
    "\u3000mug": "begins or ends with white space",
    "mug\u00a0": "begins or ends with white space",
    "a\x00b": r"U\+0000 \(a control character\)",
    "x\x1b[31m": r"U\+001B",
    "two\nlines": r"U\+000A",
    "two\u2028lines": "LINE SEPARATOR",
    "mug\u200b": "ZERO WIDTH SPACE",
    "\ufeffmug": "ZERO WIDTH NO-BREAK SPACE",
    "\u202egum": "RIGHT-TO-LEFT OVERRIDE",
    "co\u00adop": "SOFT HYPHEN",
    "\u0645\u06cc\u200c\u0634\u0648\u062f": "ZERO WIDTH NON-JOINER",
    "\U0001f469\u200d\U0001f373": "ZERO WIDTH JOINER",
    "\u2764\ufe0f": "VARIATION SELECTOR-16",
    "\u3164": "HANGUL FILLER",
    "a\u2065b": r"U\+2065 \(no name\)",
    "a\ufff0b": r"U\+FFF0",
    "a\U000e0fffb": r"U\+E0FFF",
    "a\ufffdb": r"U\+FFFD, in place of what could not be read",
    "\ud800": r"U\+D800",
    "cafe\u0301": r"write 'caf\\xe9'",
}
# Those that can be written to files, all but halves of surrogates.
STORED = [label for label in UNFIT if label != "\ud800"]
FIT = [
    "mug",
    "blue mug",
    "cup/2",
    "caf\u00e9",
    "\u8336\u676f",
    "\U0001f375",
    "a\u00a0b",
    "\u0e01\u0e33",
]


def relabel(path: Path, labels: dict[str, str]) -> None:
    """Give classes of a model's file other labels, whatever these are."""
    recogniser = Recogniser(path)
    for old, new in labels.items():
        recogniser.knowledge.rename(old, new, any_label=True)
    recogniser.save()


def with_label(label: Any, path: Path | None = None) -> IncrementalRidgeClassifier:
    """A model of classes "a" and `label`, whatever that is; saved, if there is a path for it."""
    rows = np.random.default_rng(0).normal(size=(6, 4))
    model = IncrementalRidgeClassifier(class_weight={}).fit(
        rows, ["a", "a", "a", "old", "old", "old"]
    )
    model.learner_.rename_class("old", label, any_label=True)
    if path is not None:
        model.save(path)
    return model
