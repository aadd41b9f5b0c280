"""The figures of a report as scikit-learn style displays: made from an estimator or from numbers, then plotted."""

from twoheads.report.displays.comparison import ComparisonDisplay
from twoheads.report.displays.confusion import ConfusionDisplay
from twoheads.report.displays.learning_curve import LearningCurveDisplay
from twoheads.report.displays.reliability import ReliabilityDisplay
from twoheads.report.displays.temperature import TemperatureDisplay

__all__ = [
    "ComparisonDisplay",
    "ConfusionDisplay",
    "LearningCurveDisplay",
    "ReliabilityDisplay",
    "TemperatureDisplay",
]
