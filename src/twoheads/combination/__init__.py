"""Who is combined, and how: the estimators."""

from twoheads.combination.dependence import Dependence
from twoheads.combination.explanation import Explanation
from twoheads.combination.label_label import LabelLabelCombiner
from twoheads.combination.logistic import LogisticCombiner
from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.combination.recommendation import recommended
from twoheads.combination.record import Record
from twoheads.combination.released import paper_2021
from twoheads.storage.artifact import load

__all__ = [
    "Dependence",
    "Explanation",
    "LabelLabelCombiner",
    "LogisticCombiner",
    "ProbabilityLabelCombiner",
    "Record",
    "load",
    "paper_2021",
    "recommended",
]
