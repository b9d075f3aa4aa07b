"""The kinds of arrays that everyone speaks of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.floating]  # (m, d), float32 or float64
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Index = NDArray[np.intp]  # which class each row is of
Labels = NDArray[Any]  # of one type: strings, booleans or whole numbers
