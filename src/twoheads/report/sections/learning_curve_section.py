"""Error against the number of truth labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.evaluation import learning_curve
from twoheads.evaluation.cross_validation import labels_of
from twoheads.evaluation.team import Team
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.observations import Observations
from twoheads.report.plain import plain
from twoheads.report.sections.common import unavailable

_MIN_LABELS = 8
#: Every one of 30 fits computes several tables of classes by classes; with more classes they take minutes.
_MAX_CLASSES = 500


def learning_curve_section(
    team: Team, observations: Observations, true_label: Codes, random_state: int | None
) -> dict[str, Any]:
    """Refit the team on growing numbers of truth labels."""
    n_known = int(np.count_nonzero(true_label != MISSING))
    if n_known < _MIN_LABELS:
        return unavailable(f"A learning curve needs at least {_MIN_LABELS} items of known truth; there are {n_known}.")
    n_classes = observations.n_classes
    if n_classes > _MAX_CLASSES:
        return unavailable(
            f"A learning curve is made for at most {_MAX_CLASSES} classes, since its fits take minutes with more; "
            f"there are {n_classes:,}. Call twoheads.learning_curve with few sizes and repeats."
        )
    labels = labels_of(true_label, observations.classes)
    found = learning_curve(team, observations, labels, n_repeats=5, random_state=random_state).as_dict()
    return {"available": True, "words": found.pop("verdict"), **plain(found)}
