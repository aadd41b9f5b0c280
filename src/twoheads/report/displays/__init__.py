"""The figures of a report as scikit-learn style displays: made from an estimator or from numbers, then plotted."""

from twoheads.report.displays.comparison_display import ComparisonDisplay
from twoheads.report.displays.confusion_display import ConfusionDisplay
from twoheads.report.displays.learning_curve_display import LearningCurveDisplay
from twoheads.report.displays.methods_display import MethodCurvesDisplay, MethodsDisplay
from twoheads.report.displays.reliability_display import ReliabilityDisplay
from twoheads.report.displays.temperature_display import TemperatureDisplay

__all__ = [
    "ComparisonDisplay",
    "ConfusionDisplay",
    "LearningCurveDisplay",
    "MethodCurvesDisplay",
    "MethodsDisplay",
    "ReliabilityDisplay",
    "TemperatureDisplay",
]
