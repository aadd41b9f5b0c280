"""Why a combination chose a class: log-odds as a sum of parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.base import Combiner
from twoheads.kernels.answers import Answers, answer_log_likelihood, item_of_answers, pack_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.simplex import LOG_FLOOR
from twoheads.observations import Observations

if TYPE_CHECKING:
    from twoheads.combination.probability_label import ProbabilityLabelCombiner


@dataclass(frozen=True)
class Explanation:
    """Log-odds of each item's combined label against every class, as a sum of what each member contributes.

    label      (n_items,) the combined label
    classes    (n_classes,)
    parts      who contributes what: (n_items, n_classes), entry [n, j] in favour of item n's label against class j
    """

    label: NDArray[Any]
    classes: NDArray[Any]
    parts: dict[str, Floats]

    @property
    def log_odds(self) -> Floats:
        """The sum of all parts, (n_items, n_classes); 0 at the combined label itself."""
        return np.asarray(np.sum(list(self.parts.values()), axis=0))


def in_favour(log_values: Floats, label: Codes) -> Floats:
    """How much log-values (n_classes, n_items) favour each item's label over every class, (n_items, n_classes)."""
    own = log_values[label, np.arange(len(label))]
    with np.errstate(invalid="ignore"):
        favour = own - log_values
    favour[np.isnan(favour)] = 0.0  # both impossible: neither is favoured
    return favour.T


def explanation_of(team: ProbabilityLabelCombiner, seen: Observations) -> Explanation:
    """What each member contributes to a team's choices for some items."""
    block = team._block(seen, slice(0, len(seen)))
    assert block.answers is not None
    joint = team.log_joint(block)
    label = joint.argmax(axis=0)
    table = team.confusion_.log_table()
    if team.dependence_ is not None:
        table = np.maximum(table, LOG_FLOOR)
    model = team._tempered(block)
    parts = {}
    prior = team._shifted(block, team._with_prior(block, np.zeros_like(model)))
    if prior.any():
        parts["prior"] = in_favour(prior, label)
    if team.pool_ is None:
        parts |= {name: in_favour(model, label) for name in seen.models or ("model",)}
    else:
        shares = team.pool_.parts(Combiner._block(team, seen, slice(0, len(seen))))
        scale = _tempering(team)
        parts |= {name: in_favour(scale * each, label) for name, each in zip(team.models_, shares, strict=True)}
    # Answers that leave no class possible say nothing: the model alone has spoken.
    unheard = np.isneginf((model + answer_log_likelihood(block.answers, table)).max(axis=0))
    for person, name in enumerate(seen.annotators):
        own = _answers_of(seen.answers, person, int(team._place((name,))[0]), seen.n_classes)
        parts[name] = in_favour(answer_log_likelihood(own, table), label)
        parts[name][unheard] = 0.0
    if team.manner_ is not None:
        parts["confidence"] = in_favour(team.manner_.log_likelihood(block), label)
        parts["confidence"][unheard] = 0.0
    if team.dependence_ is not None:
        parts["dependence"] = in_favour(joint, label) - np.sum(list(parts.values()), axis=0)
    return Explanation(team.classes_[label], team.classes_, parts)


def _tempering(team: ProbabilityLabelCombiner) -> float:
    """What the log-odds of several models together are multiplied with."""
    assert isinstance(team.calibrator_, TemperatureScaling)
    if team.dependence_ is None:
        return float(np.exp(-team.calibrator_.log_temperature_))
    return float(np.exp(-team.dependence_.mean_log_temperature()))


def _answers_of(answers: Answers, person: int, place: int, n_answers: int) -> Answers:
    """The answers of one person, as those of person ``place``."""
    item = item_of_answers(answers)
    who, answer = np.divmod(answers.column, n_answers)
    mine = (who == person) & (answers.column != MISSING)
    return pack_answers(item[mine], place * n_answers + answer[mine], len(answers))
