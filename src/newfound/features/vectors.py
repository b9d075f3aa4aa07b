"""Rows of features that know which extractor made them."""

from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from newfound.common.errors import InvalidInputError

# Numbers that say how images are prepared stay far below this.
LARGEST_NUMBER = 1e15


@dataclass(frozen=True)
class Identity:
    """What makes the vectors of two extractors comparable: all of it has to agree.

    Parameters
    ----------
    name : str
    weights : str
        SHA-256 of the network's weights, in hexadecimal; empty if there is no network.
    output : str
        Which of the network's tensors.
    preprocessing : dict
        How an image becomes what the network takes, in values that JSON can hold.

    Examples
    --------
    >>> print(Identity("pixels", preprocessing={"size": [8, 8]}))
    pixels (size=8/8)
    """

    name: str
    weights: str = ""
    output: str = ""
    preprocessing: dict[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.name, self.weights, self.output))

    def __str__(self) -> str:
        parts = [f"weights {self.weights[:8]}"] if self.weights else []
        parts += [f"output {self.output}"] if self.output else []
        parts += [f"{name}={_shown(value)}" for name, value in self.preprocessing.items()]
        return f"{self.name} ({', '.join(parts)})" if parts else self.name

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Any) -> "Identity":
        """Return the identity that `to_json` gave `values` for, or raise ValueError."""
        kinds = {"name": str, "weights": str, "output": str, "preprocessing": dict}
        if not isinstance(values, dict) or set(values) != set(kinds):
            raise InvalidInputError("not an extractor's identity")
        if not all(isinstance(values[name], kind) for name, kind in kinds.items()):
            raise InvalidInputError("not an extractor's identity")
        if not all(map(_is_plain, values["preprocessing"].values())):
            raise InvalidInputError("not an extractor's identity")
        return cls(**values)


class Vectors(np.ndarray):
    """Features, shape (m, d), as any array, with the identity of the extractor that made them.

    Rows taken from them keep it. What is computed from them is a plain array: it is no longer
    what the extractor gave.

    Parameters
    ----------
    rows : array-like of shape (m, d)
    extractor : Identity

    Examples
    --------
    >>> vectors = Vectors([[1.0, 2.0], [3.0, 4.0]], Identity("pixels"))
    >>> vectors[:1].extractor.name, type(2 * vectors).__name__
    ('pixels', 'ndarray')
    """

    # made: the extractor, and the number of features it gives: rows of another number are not its.

    made: tuple[Identity | None, int]

    def __new__(cls, rows: ArrayLike, extractor: Identity | None) -> Self:
        """View `rows` as vectors of `extractor`."""
        vectors = np.asarray(rows).view(cls)
        vectors.made = extractor, vectors.shape[-1]
        return vectors

    @property
    def extractor(self) -> Identity | None:
        """What made these rows, if that is known."""
        identity, width = self.made
        return identity if self.shape[-1:] == (width,) else None

    def __array_finalize__(self, source: Any) -> None:
        self.made = getattr(source, "made", (None, 0))

    def __reduce__(self) -> Any:
        parts: Any = super().__reduce__()
        rebuild, arguments, state = parts
        return rebuild, arguments, (state, self.made)

    def __setstate__(self, state: Any) -> None:
        array, self.made = state
        super().__setstate__(array)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        result = super().__array_function__(function, types, inputs, options)
        return result.view(np.ndarray) if isinstance(result, Vectors) else result

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(each) if isinstance(each, Vectors) else each for each in inputs]
        if "out" in options:
            options["out"] = tuple(
                each.view(np.ndarray) if isinstance(each, Vectors) else each
                for each in options["out"]
            )
        return getattr(ufunc, method)(*plain, **options)


def made_by(X: Any) -> Identity | None:
    """Return which extractor made `X`, if `X` says so."""
    return X.extractor if isinstance(X, Vectors) else None


def same_extractor(
    known: Identity | None,
    other: Identity | None,
    what: str,
    whose: str = "this model was taught vectors",
) -> Identity | None:
    """Return the extractor of both, where either is known, or raise ValueError if they differ."""
    if known is not None and other is not None and known != other:
        raise InvalidInputError(
            f"{whose} of {known}, but {what} of {other}: "
            "the numbers of one mean nothing to the other"
        )
    return known or other


def _is_plain(value: Any) -> bool:
    """Tell whether a value is a word, a number of ordinary size, none, or a list of such."""
    parts = value if isinstance(value, list) else [value]
    return all(
        abs(part) < LARGEST_NUMBER
        if isinstance(part, int | float)
        else isinstance(part, str | None)
        for part in parts
    )


def _shown(value: Any) -> str:
    parts = value if isinstance(value, list | tuple) else [value]
    return "/".join(f"{part:g}" if isinstance(part, int | float) else str(part) for part in parts)
