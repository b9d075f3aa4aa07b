"""The tests themselves: pairs leave out no pair, and each value is in a quick test."""

from itertools import combinations, product

import pytest

from tests.covering import covering, pairs


@pytest.mark.parametrize("sizes", [(3,), (2, 2), (12, 11, 2), (2, 6, 5, 2), (3, 3, 3, 3)])
def test_every_two_values_of_two_parameters_occur_together(sizes: tuple[int, ...]) -> None:
    rows = pairs(sizes)
    assert len(rows) == len(set(rows))
    for one, other in combinations(range(len(sizes)), 2):
        found = {(row[one], row[other]) for row in rows}
        assert found == set(product(range(sizes[one]), range(sizes[other])))
    largest = sorted(sizes)[-2:]
    assert len(rows) <= max(sizes[0], 2 * largest[0] * largest[-1])


def test_quick_tests_have_every_value_once() -> None:
    mark = covering("a, b", "xyz", {"one": 1, "two": 2}).mark
    quick = [row.values for row in mark.args[1] if not row.marks]
    assert {a for a, _ in quick} == {*"xyz"}
    assert {b for _, b in quick} == {1, 2}
    assert len(mark.args[1]) == 6
    assert mark.args[1][0].id == "x-one"
