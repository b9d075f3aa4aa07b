"""Vectors of a data set are made once for each extractor, and are not taken for another's."""

from pathlib import Path

import numpy as np

from newfound.datasets.cached import cached_features
from newfound.features import Pixels
from tests.command_line import write_pictures


def test_vectors_of_one_extractor_are_not_those_of_another(tmp_path: Path) -> None:
    write_pictures(tmp_path / "mug", 1, range(3))
    files = sorted((tmp_path / "mug").iterdir())
    for size in (2, 4, 2):
        vectors = cached_features("pairs", tmp_path, files, Pixels(size=size))
        np.testing.assert_array_equal(vectors, Pixels(size=size)(files))
