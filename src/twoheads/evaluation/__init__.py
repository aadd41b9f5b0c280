"""Evaluate predictions: metrics, reliability, theoretical bounds, and the dependence of model and human."""

from __future__ import annotations

from twoheads.evaluation.bootstrap import Score
from twoheads.evaluation.bounds_checks import (
    AccuracyBoundCheck,
    EstimationErrorCheck,
    check_accuracy_bound,
    check_estimation_error_bound,
    check_product_bound,
)
from twoheads.evaluation.comparison import Comparison, Member, compare, compare_predictions
from twoheads.evaluation.cross_validation import cross_validated
from twoheads.evaluation.difference import Difference, Exchange
from twoheads.evaluation.independence import (
    Independence,
    ProbabilityShift,
    conditional_mutual_information,
    independence,
    mutual_information,
)
from twoheads.evaluation.learning_curve import LearningCurve, learning_curve
from twoheads.evaluation.metrics import (
    brier_score,
    classwise_calibration_error,
    error_rate,
    expected_calibration_error,
    log_loss,
    marginal_calibration_error,
)
from twoheads.evaluation.predictions import Predictions, predictions
from twoheads.evaluation.registry import METRICS, Metric
from twoheads.evaluation.reliability import ReliabilityCurve, reliability_curve
from twoheads.evaluation.rival_scores import RivalScore
from twoheads.evaluation.team import Team, UnfittedTeam
from twoheads.evaluation.theory import (
    combination_accuracy_bound,
    estimation_error_bound,
    human_confidence_ratio,
    model_confidence_ratio,
)
from twoheads.evaluation.without_truth import WithoutTruth, without_truth

__all__ = [
    "METRICS",
    "AccuracyBoundCheck",
    "Comparison",
    "Difference",
    "EstimationErrorCheck",
    "Exchange",
    "Independence",
    "LearningCurve",
    "Member",
    "Metric",
    "Predictions",
    "ProbabilityShift",
    "ReliabilityCurve",
    "RivalScore",
    "Score",
    "Team",
    "UnfittedTeam",
    "WithoutTruth",
    "brier_score",
    "check_accuracy_bound",
    "check_estimation_error_bound",
    "check_product_bound",
    "classwise_calibration_error",
    "combination_accuracy_bound",
    "compare",
    "compare_predictions",
    "conditional_mutual_information",
    "cross_validated",
    "error_rate",
    "estimation_error_bound",
    "expected_calibration_error",
    "human_confidence_ratio",
    "independence",
    "learning_curve",
    "log_loss",
    "marginal_calibration_error",
    "model_confidence_ratio",
    "mutual_information",
    "predictions",
    "reliability_curve",
    "without_truth",
]
