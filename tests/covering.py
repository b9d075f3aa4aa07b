"""Parameters in pairs: tests of many combinations, without all of them.

Most defects show up with one value of one parameter, or with two values of two: whoever tries every
pair of values finds these, with far fewer tests than there are combinations.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    values = [[*_named(each)] for each in choices]
    seen: set[tuple[int, int]] = set()
    rows = []
    for row in pairs([len(each) for each in values]):
        chosen = [each[index] for each, index in zip(values, row, strict=True)]
        marks = [mark for _, _, own in chosen for mark in own]
        if seen.issuperset(enumerate(row)):
            marks.append(pytest.mark.slow)
        seen.update(enumerate(row))
        identity = "-".join(name for name, _, _ in chosen)
        rows.append(pytest.param(*(value for _, value, _ in chosen), marks=marks, id=identity))
    return pytest.mark.parametrize([name.strip() for name in names.split(",")], rows)


def first_of(values: Iterable[Any], slow: bool = False) -> list[Any]:
    """Return values of a parameter of which the first will do while one works.

    The others are `slow`; or, where each takes many seconds, `exhaustive`.
    """
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


def _named(choices: Iterable[Any] | Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    items: Iterable[tuple[str | None, Any]] = (
        choices.items() if isinstance(choices, Mapping) else ((None, each) for each in choices)
    )
    for name, value in items:
        if hasattr(value, "marks"):  # of pytest.param
            yield value.id or name or _name(value.values[0]), value.values[0], value.marks
        else:
            yield name or _name(value), value, ()


def _name(value: Callable[..., Any] | object) -> str:
    return getattr(value, "__name__", None) or str(value)
