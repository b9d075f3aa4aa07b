"""iCubWorld28: 28 objects of 7 categories, shown to a robot on four days."""

import os
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from newfound.datasets.folder import images_below
from newfound.datasets.origin import Origin

ORIGIN = Origin(
    name="iCubWorld28",
    folder="icubworld28",
    address="https://robotology.github.io/iCubWorld/",
    size="28 objects, some 1,400 images or more of each",
    licence="for research use, as its owners state (Pasquale et al., 2015)",
)
DAYS = ("lunedi22", "martedi23", "mercoledi24", "venerdi26")
PARTS = ("train", "test")


class Shots(NamedTuple):
    """Images, with the object that each shows, the day, and whether it is meant for testing."""

    root: Path
    files: list[Path]
    objects: list[str]  # such as cup/cup1
    days: list[str]
    is_test: list[bool]


def icubworld28(root: str | os.PathLike[str] | None = None) -> Shots:
    """List iCubWorld28 as it is published: days x train or test x categories x objects.

    Days and train or test may stand in either order above the categories, and there may be other
    folders above them.

    Parameters
    ----------
    root : path, optional
        By default `icubworld28` below NEWFOUND_DATA or in the user's cache.

    Returns
    -------
    Shots

    Raises
    ------
    MissingDataError
        If it is not there; the message says how to get it.
    """
    folders = ORIGIN.folders if root is None else [Path(root)]
    folder = next((path for path in folders if path.is_dir()), None)
    if folder is None:
        raise ORIGIN.missing("there is no such folder")
    shots = Shots(folder, [], [], [], [])
    for path in images_below(folder, Counter()):
        *above, category, thing, _ = ("", "", *path.relative_to(folder).parts)
        day = next((part for part in above if part in DAYS), None)
        part = next((part for part in above if part in PARTS), None)
        if day is not None and part is not None:
            shots.files.append(path)
            shots.objects.append(f"{category}/{thing}")
            shots.days.append(day)
            shots.is_test.append(part == "test")
    if not shots.files:
        raise ORIGIN.missing(
            f"{folder} holds no images in folders such as {DAYS[0]}/train/category/object"
        )
    return shots
