"""How a model shows itself in a notebook: from its sums alone, without solving anything."""

from html import escape
from typing import Any

# Classes that are shown by name, and letters of a name.
SHOWN, LETTERS = 20, 40


class Learned(dict[str, str]):
    """What was learned, by name; scikit-learn asks it for a table."""

    def _repr_html_inner(self) -> str:
        rows = "".join(
            f'<tr class="default"><td class="param">{escape(name)}</td><td>{escape(text)}</td></tr>'
            for name, text in self.items()
        )
        return (
            '<div class="estimator-table"><details><summary>Learned</summary>'
            f'<table class="parameters-table"><tbody>{rows}</tbody></table></details></div>'
        )


def learned_table(labels: list[Any], counts: list[int], examples: int, features: int) -> Learned:
    """Return what is shown of a model that was taught so many examples of each class.

    >>> learned_table(["cup", "mug"], [1, 2], examples=3, features=1)
    {'examples': '3', 'features': '1', 'classes': '2: cup (1), mug (2)'}
    """
    shown = [
        f"{_short(str(label))} ({count})"
        for label, count in zip(labels[:SHOWN], counts[:SHOWN], strict=True)
    ]
    more = [f"{len(labels) - SHOWN} more"] if len(labels) > SHOWN else []
    classes = f"{len(labels)}: {', '.join(shown + more)}"
    return Learned(examples=str(examples), features=str(features), classes=classes)


def _short(text: str) -> str:
    return text if len(text) <= LETTERS else f"{text[:LETTERS]}…"
