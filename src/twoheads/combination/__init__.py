"""The estimators that combine people's labels with models' probabilities."""

from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.insight.explanation import Explanation
from twoheads.combination.label_label import LabelLabelCombiner
from twoheads.combination.logistic import LogisticCombiner
from twoheads.combination.paper_methods import paper_2021
from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.combination.recommendation import recommended
from twoheads.combination.saved import check_combiner as _check_combiner  # noqa: F401, known when a team is read
from twoheads.dependence import Dependence
from twoheads.storage.artifact import load

__all__ = [
    "Dependence",
    "Explanation",
    "HoldoutRecord",
    "LabelLabelCombiner",
    "LogisticCombiner",
    "ProbabilityLabelCombiner",
    "load",
    "paper_2021",
    "recommended",
]
