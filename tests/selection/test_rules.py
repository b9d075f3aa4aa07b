"""The paper's rule, where candidates are equal."""

import numpy as np

from newfound.selection.rules import paper_rule


def test_a_tie_goes_to_the_first_whatever_rounding_says() -> None:
    table = np.array([[[2, 3, 1]], [[1, 3, 2]]]) / 7
    assert paper_rule(table, 0.0) == (0, 0)
