"""Types of arrays, and the code of a missing label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

#: The code of an unknown label, or of a missing answer.
MISSING = -1
