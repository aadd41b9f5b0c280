"""Evaluate predictions: metrics, reliability, theoretical bounds, and the dependence of model and human."""

from __future__ import annotations

from twoheads.evaluation.agreement import Agreement, agreement
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
from twoheads.evaluation.method_comparison import compare_methods, score_members
from twoheads.evaluation.method_curves import MethodCurves, method_curves
from twoheads.evaluation.metric import Metric
from twoheads.evaluation.metrics import (
    brier_score,
    classwise_calibration_error,
    error_rate,
    expected_calibration_error,
    log_loss,
    marginal_calibration_error,
)
from twoheads.evaluation.predictions import Predictions, predictions
from twoheads.evaluation.registry import METRICS
from twoheads.evaluation.reliability import ReliabilityCurve, reliability_curve
from twoheads.evaluation.rival_scores import RivalScore
from twoheads.evaluation.score_rows import PairedDifference, ScoreRow
from twoheads.evaluation.score_table import ScoreTable
from twoheads.evaluation.team import Team, UnfittedTeam
from twoheads.evaluation.theory import (
    combination_accuracy_bound,
    estimation_error_bound,
    human_confidence_ratio,
    model_confidence_ratio,
)
from twoheads.evaluation.unsupervised import FitWithoutTruth
from twoheads.evaluation.without_truth import WithoutTruth, without_truth

__all__ = [
    "METRICS",
    "AccuracyBoundCheck",
    "Agreement",
    "Comparison",
    "Difference",
    "EstimationErrorCheck",
    "Exchange",
    "FitWithoutTruth",
    "Independence",
    "LearningCurve",
    "Member",
    "MethodCurves",
    "Metric",
    "PairedDifference",
    "Predictions",
    "ProbabilityShift",
    "ReliabilityCurve",
    "RivalScore",
    "Score",
    "ScoreRow",
    "ScoreTable",
    "Team",
    "UnfittedTeam",
    "WithoutTruth",
    "agreement",
    "brier_score",
    "check_accuracy_bound",
    "check_estimation_error_bound",
    "check_product_bound",
    "classwise_calibration_error",
    "combination_accuracy_bound",
    "compare",
    "compare_methods",
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
    "method_curves",
    "model_confidence_ratio",
    "mutual_information",
    "predictions",
    "reliability_curve",
    "score_members",
    "without_truth",
]
