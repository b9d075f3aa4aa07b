"""Parameters in pairs: tests of many combinations, without all of them.

Most defects show up with one value of one parameter, or with two values of two: whoever tries every
pair of values finds these, with far fewer tests than there are combinations.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import pytest


def covering(names: str, *choices: Iterable[Any] | Mapping[str, Any]) -> Any:
    """Parametrise a test so that every two values of two parameters occur together.

    The first tests have every single value once; the others are `slow`.

    Parameters
    ----------
    names : str
        Of the parameters, with commas between them.
    *choices : iterables
        The values of each parameter; a mapping gives them by the names that tests are to have.
    """
    values = [_named(each) for each in choices]
    seen: set[tuple[int, int]] = set()
    rows = []
    for row in pairs([len(each) for each in values]):
        chosen = [each[index] for each, index in zip(values, row, strict=True)]
        marks = [pytest.mark.slow] if seen.issuperset(enumerate(row)) else []
        seen.update(enumerate(row))
        identity = "-".join(name for name, _ in chosen)
        rows.append(pytest.param(*(value for _, value in chosen), marks=marks, id=identity))
    return pytest.mark.parametrize([name.strip() for name in names.split(",")], rows)


def first_of(values: Iterable[Any], slow: bool = False) -> list[Any]:
    """Return values of a parameter of which all but the first are `exhaustive`, or else `slow`."""
    one, *others = values
    assert not any(hasattr(each, "marks") for each in others), "marks of its own"
    mark = pytest.mark.slow if slow else pytest.mark.exhaustive
    return [
        one,
        *(
            pytest.param(*(each if isinstance(each, tuple) else (each,)), marks=mark)
            for each in others
        ),
    ]


def pairs(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return rows of indices in which every two indices of two columns stand together.

    Greedy: each row is the one that brings most pairs that were not there; among equals, the one
    with most values that were not there.

    >>> pairs([2, 2, 2])
    [(0, 0, 0), (1, 1, 1), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    """
    rows = {row: {*combinations(enumerate(row), 2)} for row in product(*map(range, sizes))}
    values: set[tuple[int, int]] = set()
    chosen: list[tuple[int, ...]] = []
    missing = set().union(*rows.values())
    if len(sizes) == 1:
        return [*rows]
    while missing:
        best = max(rows, key=lambda row: (len(rows[row] & missing), -_known(row, values)))
        missing -= rows.pop(best)
        values.update(enumerate(best))
        chosen.append(best)
    return chosen


def _known(row: tuple[int, ...], values: set[tuple[int, int]]) -> int:
    return sum(each in values for each in enumerate(row))


def _named(choices: Iterable[Any] | Mapping[str, Any]) -> list[tuple[str, Any]]:
    if isinstance(choices, Mapping):
        return [*choices.items()]
    return [(getattr(each, "__name__", None) or str(each), each) for each in choices]
