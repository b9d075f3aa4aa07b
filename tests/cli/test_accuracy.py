"""The command line on real photos: two objects of a category are taught, a third is asked about."""

import json
import shutil
from pathlib import Path

import pytest

from tests.command_line import newfound
from tests.needs import CROPS

pytestmark = [pytest.mark.slow, pytest.mark.needs("washington")]


# Vectors as the network gives them; and of images as it was tested on ImageNet, where an eighth is
# cut off. With roots, that costs less than this many photos can tell.
PLAIN, CUT = "efficientnet-lite0:root=no", "efficientnet-lite0:root=no,crop=0.875"


def test_a_third_object_of_a_category_is_recognised(tmp_path: Path) -> None:
    for category in sorted(CROPS.iterdir()):
        for number, instance in enumerate(sorted(category.iterdir())):
            part = "taught" if number < 2 else "asked"
            shutil.copytree(instance, tmp_path / part / category.name / instance.name)
    model = tmp_path / "m.newfound"
    done = newfound("teach", model, tmp_path / "taught")
    assert done.code == 0
    assert "knows 12 classes from 192 images" in done.err
    result = json.loads(newfound("evaluate", model, tmp_path / "asked", "--json").out)
    assert result["n"] == 96
    assert result["accuracy"] >= 0.85
    assert result["known_n"] == 96
    assert result["known_called_unknown"] <= 96 / 3

    accuracy = {}
    for name in (PLAIN, CUT):
        newfound("teach", tmp_path / name, tmp_path / "taught", "--extractor", name)
        said = newfound("evaluate", tmp_path / name, tmp_path / "asked", "--json").out
        accuracy[name] = json.loads(said)["accuracy"]
    assert accuracy[CUT] < accuracy[PLAIN] - 0.03
