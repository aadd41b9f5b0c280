"""What a saved team must hold: types, shapes, ranges, and fields that agree; checked when it is read."""

from __future__ import annotations

import numpy as np

from twoheads.calibration.base import Calibrator
from twoheads.combination.combiner import Combiner
from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.fitting.panel_stage import panel_members
from twoheads.combination.insight.facts import team_facts
from twoheads.combination.insight.people_accuracy import believed_accuracy
from twoheads.combination.insight.sentences import team_sentences
from twoheads.combination.learnt import LearntItems
from twoheads.combination.panel import Panel
from twoheads.combination.pool import ModelPool
from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.combination.saved_parts import need_floats, need_parts
from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.combination.team import Team
from twoheads.confusion.base import Confusion
from twoheads.confusion.response import ResponseModel
from twoheads.confusion.score_levels import ScoreLevels
from twoheads.dependence import Dependence
from twoheads.kernels.answers import sorted_answers
from twoheads.kernels.arrays import Codes
from twoheads.kernels.blocks import Block
from twoheads.kernels.confusion.score_levels import N_LEVELS
from twoheads.kernels.simplex import FLOOR, LOG_FLOOR
from twoheads.observations.labels import label_text
from twoheads.storage.artifact import check_on_load
from twoheads.storage.damage import need


@check_on_load(Combiner)
def check_combiner(team: Combiner) -> None:
    """The fields of every combiner, and that it predicts probabilities and can be described."""
    _need_names(team)
    if isinstance(team, ProbabilityLabelCombiner):
        _need_parts(team)
        _need_statistics(team)
        _need_panel(team)
    need_parts(team)
    _need_probabilities(team)
    _need_description(team)


def _need_description(team: Combiner) -> None:
    """Describe the team; people's accuracies, which would need fits, are those of the matrices' counts."""
    if not isinstance(team, Team):
        team.describe()
        return
    people = [at for at, name in enumerate(team.annotators_) if name not in team.machines_]
    counts = team.confusion_.counts_[people or slice(None)]
    accuracy = believed_accuracy(np.trace(counts, axis1=1, axis2=2), counts.sum(axis=(1, 2)))
    team_sentences(team_facts(team.result(), accuracy))


def _need_names(team: Combiner) -> None:
    classes = getattr(team, "classes_", None)
    fine = isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 1
    need(fine, "its classes_ are not a list of names")
    for name in ("annotators_", "models_"):
        names = getattr(team, name, None)
        fine = isinstance(names, tuple) and all(isinstance(one, str) for one in names) and len(set(names)) == len(names)
        need(fine, f"its {name} are not a list of different names")
    need(isinstance(getattr(team, "has_model_", None), bool), "its has_model_ is not true or false")
    _need_members(team)
    columns = getattr(team, "feature_names_in_", np.array([], dtype=object))
    need(isinstance(columns, np.ndarray) and columns.dtype.kind == "O", "its feature_names_in_ are not a list of names")
    provenance = getattr(team, "provenance_", {})
    need(isinstance(provenance, dict), "its provenance_ is not a table of facts")


def _need_members(team: Combiner) -> None:
    """Machines must be annotators; levels of scores, and what a 0 is read as, must be as many as their members."""
    machines, levels = getattr(team, "machines_", None), getattr(team, "levels_", "missing")
    fine = isinstance(machines, tuple) and set(machines) <= set(team.annotators_)
    need(fine, "its machines_ are not among its annotators_")
    zeros = getattr(team, "zeros_", None)
    fine = isinstance(zeros, tuple) and all(isinstance(zero, float) and FLOOR <= zero < 1.0 for zero in zeros)
    need(fine and len(zeros or ()) in (0, len(team.models_)), "its zeros_ are not a probability per model")
    need(levels is None or isinstance(levels, ScoreLevels), "its levels_ are not ScoreLevels")
    if not isinstance(levels, ScoreLevels):
        return
    need(set(levels.names) <= set(team.annotators_), "its levels_ are of others than its annotators_")
    need(set(levels.machines) <= set(team.machines_), "the machines of its levels_ are not among its machines_")
    ends = [label_text(name) for name in team.classes_.tolist()]
    fine = levels.positive in (ends[0], ends[-1])
    need(fine, "the positive class of its levels_ is not the smallest or the greatest class")
    fine = len(levels.names) == len(levels.bounds) == len(levels.cuts) == len(levels.silent)
    need(fine, "its levels_ are not one entry per member")
    for bounds, cuts, silent in zip(levels.bounds, levels.cuts, levels.silent, strict=True):
        need_floats(bounds, (None,), "levels_.bounds")
        need_floats(silent, (2,), "levels_.silent")
        need(len(bounds) < N_LEVELS and bool((np.diff(bounds) > 0).all()), "the bounds of its levels_ do not rise")
        fine = isinstance(cuts, np.ndarray) and cuts.dtype.kind == "i" and cuts.shape == (len(ends) - 1,)
        fine = fine and 1 <= cuts[0] <= cuts[-1] <= max(1, len(bounds)) and bool((np.diff(cuts) >= 0).all())
        need(fine, "the cuts of its levels_ are not levels in their order, one per class but the first")


#: The fitted parts of a team, by name: their type, and whether one may be missing.
_PARTS: dict[str, tuple[type, bool]] = {
    "confusion_": (Confusion, False),
    "calibrator_": (Calibrator, False),
    "dependence_": (Dependence, True),
    "response_": (ResponseModel, True),
    "pool_": (ModelPool, True),
    "panel_": (Panel, True),
    "holdout_": (HoldoutRecord, True),
    "statistics_": (SufficientStatistics, False),
    "learnt_": (LearntItems, False),
}


def _need_parts(team: ProbabilityLabelCombiner) -> None:
    n_classes = len(team.classes_)
    for name, (kind, optional) in _PARTS.items():
        part = getattr(team, name, "missing")
        need(isinstance(part, kind) or (optional and part is None), f"its {name} is not a {kind.__name__}")
    need(
        (team.dependence is None) == (team.dependence_ is None),
        "its dependence_ does not agree with its parameter dependence",
    )
    need((len(team.models_) > 1) == (team.pool_ is not None), "its pool_ does not agree with its models_")
    need(type(getattr(team, "n_features_in_", None)) is int, "its n_features_in_ is not a number of columns")
    _need_ranges(team)
    counts = getattr(team.confusion_, "counts_", None)
    need_floats(counts, (len(team.annotators_), n_classes, n_classes), "confusion_.counts_", low=0)
    need_floats(team.prevalence_, (n_classes,), "prevalence_", low=0)
    need_floats(team.objective_, (None,), "objective_")


def _need_ranges(team: ProbabilityLabelCombiner) -> None:
    temperature = getattr(team.calibrator_, "temperature_", 1.0)
    need(
        isinstance(temperature, float) and 0 < temperature < np.inf,
        "the temperature_ of its calibrator_ is not positive",
    )
    if team.dependence_ is not None:
        correlation, weight = team.dependence_.correlation_, team.dependence_.weight_
        need(isinstance(correlation, float) and 0 <= correlation < 1, "its correlation_ is not from 0 to below 1")
        need_floats(weight, (None,), "dependence_.weight_", low=0)
        separation = getattr(team.dependence_, "separation_", None)
        need(isinstance(separation, float) and 0 <= separation <= 2, "its separation_ is not from 0 to 2")
        answers = getattr(team.dependence_, "effective_answers_", None)
        fine = isinstance(answers, float) and 0 <= answers < np.inf
        need(fine, "the effective_answers_ of its dependence_ is not a number from 0")


def _need_panel(team: ProbabilityLabelCombiner) -> None:
    has_members = team.n_labelled_ > 0 and len(panel_members(team.statistics_)) > 0
    expected = has_members and team.dependence_ is not None
    need(expected == (team.panel_ is not None), "its panel_ does not agree with its statistics_")
    if team.panel_ is None:
        return
    panel = team.panel_
    members, scored = (_need_positions(panel, name, len(team.annotators_)) for name in ("members_", "scored_"))
    need(bool(np.isin(scored, members).all()), "the scored_ of its panel_ are not among its members_")
    own = getattr(panel, "correlation_", None)
    same = team.dependence_ is not None and own == team.dependence_.correlation_
    need(same, "the correlation_ of its panel_ is not that of its dependence_")
    n_scales = len(panel.scale_) if isinstance(getattr(panel, "scale_", None), np.ndarray) else 0
    n_parameters = 1 + len(team.classes_) + len(members) + len(scored)
    shapes: dict[str, tuple[int | None, ...]] = {
        "level_mean_": (len(scored),),
        "level_sd_": (len(scored),),
        "scale_": (n_scales,),
        "weight_": (n_scales + 1,),
        "coefficient_": (n_scales, n_parameters),
        "covariance_": (n_scales, n_parameters, n_parameters),
    }
    for name, shape in shapes.items():
        need_floats(getattr(panel, name, None), shape, f"panel_.{name}")
    for name in ("error_correlation_", "effective_members_"):
        values = getattr(panel, name, None)
        need(isinstance(values, np.ndarray) and values.shape == (3,), f"its panel_.{name} is not three numbers")


def _need_positions(panel: Panel, name: str, n_annotators: int) -> Codes:
    """The attribute of this name, positions of annotators in ascending order."""
    values = getattr(panel, name, None)
    fine = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind == "i"
    need(fine, f"the {name} of its panel_ are not positions of people")
    assert isinstance(values, np.ndarray)
    inside = bool(((values >= 0) & (values < n_annotators)).all() and (np.diff(values) > 0).all())
    need(inside, f"the {name} of its panel_ are not positions of people")
    return values


def _need_statistics(team: ProbabilityLabelCombiner) -> None:
    seen = team.statistics_
    need(seen.annotators == team.annotators_, "its statistics_ are of other people than its annotators_")
    need(seen.machines == team.machines_, "its statistics_ are of other machines than its machines_")
    levels = None if seen.levels is None else seen.levels.names
    need(levels == (None if team.levels_ is None else team.levels_.names), "its statistics_ are of other levels_")
    need(isinstance(seen.has_model, bool), "its statistics_ do not say whether there was a model")
    for name in ("n_labelled", "n_unlabelled"):
        number = getattr(seen, name)
        need(isinstance(number, int) and number >= 0, f"the {name} of its statistics_ is not a number of items")
    if seen.levels is not None:
        fine = len(seen.levels.names) == len(seen.levels.bounds) == len(seen.levels.cuts)
        need(fine, "the levels of its statistics_ are not one entry per member")
    truth = None if seen.labelled is None else seen.labelled.true_label
    need(truth is None or bool((truth >= 0).all()), "the labelled items of its statistics_ are not all labelled")


def _need_probabilities(team: Combiner) -> None:
    """Refuse parts that do not fit together: an answer of the first and of the last person must give probabilities.

    Each beside a model that does not know, and beside one that is certain of the first or of the last class.
    """
    n_classes, n_models = len(team.classes_), len(team.models_)
    last = max(0, len(team.annotators_) - 1) * n_classes
    rows = np.full((n_classes, 6), -np.log(n_classes))
    rows[:, 2:] = LOG_FLOOR
    rows[0, 2:4] = rows[-1, 4:] = 0.0
    with np.errstate(all="ignore"):
        joint = team.log_joint(
            Block(
                rows,
                sorted_answers(np.arange(6), np.array([0, last] * 3), 6),
                members=(rows,) * n_models if n_models > 1 else (),
                no_model=None if team.has_model_ else np.full(6, True),
            )
        )
    need(joint.shape == rows.shape and not np.isnan(joint).any(), "its parts give no probabilities")
