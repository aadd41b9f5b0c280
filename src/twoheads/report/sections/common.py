"""What sections share."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.evaluation import Predictions
from twoheads.kernels.arrays import MISSING, Codes


def unavailable(words: str) -> dict[str, Any]:
    """A section that cannot be made, with the reason."""
    return {"available": False, "words": words}


def labelled_by_both(predicted: Predictions) -> Codes:
    """Rows of the items with an answer and a model prediction."""
    return np.flatnonzero((predicted.human_label != MISSING) & predicted.has_model)
