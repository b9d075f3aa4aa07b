"""Data that is not there, and how to get it."""

import os
from pathlib import Path
from typing import NamedTuple

from newfound.common.errors import MissingDataError
from newfound.common.files import cache_folder


class Origin(NamedTuple):
    """Where a data set is to be had."""

    name: str
    folder: str  # below NEWFOUND_DATA or the user's cache
    address: str
    size: str
    licence: str

    @property
    def folders(self) -> list[Path]:
        """Folders in which it may be, the best first."""
        roots = [Path(os.environ["NEWFOUND_DATA"])] if os.environ.get("NEWFOUND_DATA") else []
        return [root / self.folder for root in (*roots, cache_folder())]

    def missing(self, what: str) -> MissingDataError:
        """Return an error that says what is missing and how to get it."""
        looked = " and in ".join(map(str, self.folders))
        return MissingDataError(
            f"{self.name} is not at hand: {what}. Looked in {looked}.\n"
            f"  address  {self.address}\n"
            f"  size     {self.size}\n"
            f"  licence  {self.licence}\n"
            f"Put it into {self.folders[-1]}, or into $NEWFOUND_DATA/{self.folder}."
        )
