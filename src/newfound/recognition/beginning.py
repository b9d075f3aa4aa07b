"""How a new model begins, before anything is taught."""

from typing import NamedTuple


class Beginning(NamedTuple):
    """What a new model is made with. One that is opened has what its file says."""

    class_sums: bool = True  # sums of each class, so that one can be forgotten as a whole
    layer: bool = False  # a layer of units beside the features, used where it pays


USUAL = Beginning()
