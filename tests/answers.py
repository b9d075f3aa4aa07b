"""Answers of recognisers, compared."""

from collections.abc import Sequence

import numpy as np

from newfound.recognition.knowledge import Answer


def assert_same(found: Sequence[Answer], expected: Sequence[Answer]) -> None:
    """Assert that answers are the same, their probability of being unknown but for rounding.

    It is made of numbers of double precision, which depend on the company of a row in their last
    bits; scores are rounded to the precision of the rows.
    """
    ours, theirs = ([answer.unknown for answer in each] for each in (found, expected))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    assert [answer._replace(unknown=0.0) for answer in found] == [
        answer._replace(unknown=0.0) for answer in expected
    ]
