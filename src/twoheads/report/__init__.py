"""A report: numbers first (`summary`, a dict), then one self-contained page (`page`), and its figures as displays.

Displays need matplotlib and the page Jinja2 (``pip install 'twoheads[cli]'``); they are loaded when first used.
"""

from __future__ import annotations

from twoheads.report.displays import (
    ComparisonDisplay,
    ConfusionDisplay,
    LearningCurveDisplay,
    MethodCurvesDisplay,
    MethodsDisplay,
    ReliabilityDisplay,
    TemperatureDisplay,
)
from twoheads.report.page import page, write_report
from twoheads.report.summary import summary

__all__ = [
    "ComparisonDisplay",
    "ConfusionDisplay",
    "LearningCurveDisplay",
    "MethodCurvesDisplay",
    "MethodsDisplay",
    "ReliabilityDisplay",
    "TemperatureDisplay",
    "page",
    "summary",
    "write_report",
]
