"""How a model shows itself in a notebook: from its sums alone, without solving anything."""

from collections.abc import Iterable
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


class Representation:
    """Mixin for estimators, ahead of BaseEstimator: it can be shown without being asked.

    scikit-learn reads every attribute of a model to show it, alone or in a pipeline, and to list
    its names. Among ours are weights, for which everything that is waiting would be solved.
    """

    # Of the estimator: properties, so that they cannot have a type here.
    classes_: Any
    class_count_: Any
    n_samples_seen_: Any
    n_features_in_: Any

    def __dir__(self) -> Iterable[str]:
        return object.__dir__(self)

    def _get_fitted_attr_html(self, doc_link: str = "") -> Learned:
        """Return what scikit-learn puts below the parameters of a fitted model.

        Examples
        --------
        >>> from newfound import IncrementalRidgeClassifier
        >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0], [1.1]], ["cup", "mug", "mug"])
        >>> model._get_fitted_attr_html()
        {'examples': '3', 'features': '1', 'classes': '2: cup (1), mug (2)'}
        """
        labels, counts = self.classes_.tolist(), self.class_count_.tolist()
        shown = [
            f"{_short(str(label))} ({count})"
            for label, count in zip(labels[:SHOWN], counts[:SHOWN], strict=True)
        ]
        more = [f"{len(labels) - SHOWN} more"] if len(labels) > SHOWN else []
        return Learned(
            examples=str(self.n_samples_seen_),
            features=str(self.n_features_in_),
            classes=f"{len(labels)}: {', '.join(shown + more)}",
        )


def _short(text: str) -> str:
    return text if len(text) <= LETTERS else f"{text[:LETTERS]}…"
