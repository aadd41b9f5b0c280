"""Names for the two kinds of array that all kernels take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

#: The code of a label that is not known, or of an answer that was not given.
MISSING = -1
