"""One method or member of a table of scores."""

from __future__ import annotations

from dataclasses import dataclass, field

from twoheads.evaluation.bootstrap import Score
from twoheads.rendering.notebook import Shown


@dataclass(frozen=True)
class PairedDifference(Score):
    """One row's metric minus that of the reference, on the items that both have labelled.

    value, low, high    the difference and its 95 % interval; none for calibration errors, which contain chance, nor
                        where no item differs: nothing shows by how much another one might
    p_value             two-sided, of this difference alone; McNemar's mid-p test of errors, sensitivity and specificity
    corrected_p_value   by Holm's method for all rows with this metric
    """

    p_value: float | None = None
    corrected_p_value: float | None = None


@dataclass(frozen=True, repr=False)
class ScoreRow(Shown):
    """One method, or one member alone.

    name         as it is shown
    kind         "method", or which member: "model", "models", "human", "person", "majority", "best_person", "annotator"
    n_items      items of known truth that it has labelled
    scores       by the name of the metric; None where the row does not have it
    differences  from the reference, by the name of the metric
    refusal      why a method could not be fitted; "" if it was
    """

    name: str
    kind: str
    n_items: int
    scores: dict[str, Score | None] = field(default_factory=dict)
    differences: dict[str, PairedDifference | None] = field(default_factory=dict)
    refusal: str = ""
