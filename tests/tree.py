"""Where this tree is, for processes that import it and its tests."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Both folders: a process that is told of one alone may import newfound from elsewhere.
PYTHONPATH = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
