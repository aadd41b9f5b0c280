"""Why a combination chose a class: log-odds as a sum of parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import Codes, Floats


@dataclass(frozen=True)
class Explanation:
    """Log-odds of each item's combined label against every class, as a sum of what each member contributes.

    label      (n_items,) the combined label
    classes    (n_classes,)
    parts      who contributes what: (n_items, n_classes), entry [n, j] in favour of item n's label against class j
    """

    label: NDArray[Any]
    classes: NDArray[Any]
    parts: dict[str, Floats]

    @property
    def log_odds(self) -> Floats:
        """The sum of all parts, (n_items, n_classes); 0 at the combined label itself."""
        return np.asarray(np.sum(list(self.parts.values()), axis=0))


def in_favour(log_values: Floats, label: Codes) -> Floats:
    """How much log-values (n_classes, n_items) favour each item's label over every class, (n_items, n_classes)."""
    own = log_values[label, np.arange(len(label))]
    with np.errstate(invalid="ignore"):
        favour = own - log_values
    favour[np.isnan(favour)] = 0.0  # both impossible: neither is favoured
    return favour.T
