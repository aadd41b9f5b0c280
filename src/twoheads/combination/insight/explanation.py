"""Explain combined labels: log-odds as a sum of contributions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.rule import CombinationRule
from twoheads.kernels.answers import Answers, answer_log_likelihood, item_of_answers, pack_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.chosen_answers import kept_answers
from twoheads.observations import Observations
from twoheads.observations.frames import new_frame
from twoheads.rendering.notebook import Shown


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """Log-odds of each item's combined label against every class, as a sum of each member's contribution.

    label      (n_items,) the combined label
    classes    (n_classes,)
    parts      contributions by member: (n_items, n_classes), entry [n, j] for item n's label against class j
    """

    label: NDArray[Any]
    classes: NDArray[Any]
    parts: dict[str, Floats]

    def summary(self) -> dict[str, Any]:
        """What a terminal and a notebook show."""
        return {"n_items": len(self.label), "classes": self.classes, "members": list(self.parts)}

    def to_frame(self, kind: str = "pandas") -> Any:
        """One line per item, class and member: its contribution to the log-odds of the label against the class."""
        n_items, n_classes = len(self.label), len(self.classes)
        columns: dict[str, Any] = {
            "row": np.tile(np.repeat(np.arange(n_items), n_classes), len(self.parts)),
            "label": np.tile(np.repeat(self.label, n_classes), len(self.parts)),
            "against": np.tile(self.classes, n_items * len(self.parts)),
            "member": np.repeat(list(self.parts), n_items * n_classes),
        }
        return new_frame(columns | {"log_odds": np.concatenate([part.ravel() for part in self.parts.values()])}, kind)

    @property
    def log_odds(self) -> Floats:
        """The sum of all contributions, (n_items, n_classes); 0 at the combined label itself."""
        return np.asarray(np.sum(list(self.parts.values()), axis=0))


def log_odds_of(label: Codes, log_values: Floats) -> Floats:
    """Log-odds of each item's label against every class, (n_items, n_classes), from log-values (n_classes, n_items)."""
    own = log_values[label, np.arange(len(label))]
    with np.errstate(invalid="ignore"):
        odds = own - log_values
    odds[np.isnan(odds)] = 0.0  # both impossible: neither is favoured
    return odds.T


def explain(
    rule: CombinationRule,
    block: Block,
    log_joint: Floats,
    observations: Observations,
    annotator_index: dict[str, int],
    models: tuple[str, ...],
) -> Explanation:
    """The contributions to the combined labels of a block.

    log_joint        (n_classes, n_items) of the block
    observations     those that the block was made of
    annotator_index  of each of their annotators, as at fit
    models           the models at fit, for a pool
    """
    label = log_joint.argmax(axis=0)
    parts: dict[str, Floats] = {}
    prior = rule.prior_terms(block)
    if prior.any():
        parts["prior"] = log_odds_of(label, prior)
    model = rule.calibrated_log_proba(block)
    names = models if rule.pool is not None else observations.models or ("model",)
    parts |= _models(rule, block, log_odds_of(label, model), label, names)
    impossible = _impossible(rule, block, model)
    response = rule.response_log_likelihood(block)
    for annotator, name in enumerate(observations.annotators):
        own = _answers_of(observations.answers, annotator, annotator_index[name], observations.n_classes)
        log_likelihood = answer_log_likelihood(own, rule.log_table)
        if rule.response is not None and response is not None and annotator_index[name] in rule.response.scored_[0]:
            level = rule.response.log_likelihood(_own_block(block, annotator_index[name]))
            log_likelihood, response = log_likelihood + level, response - level
        parts[name] = log_odds_of(label, log_likelihood)
        parts[name][impossible] = 0.0
        parts[name] += _own_weight(rule, block, annotator_index[name], label)
    if rule.response is not None and response is not None and rule.response.of_people:
        parts["confidence"] = log_odds_of(label, response)
        parts["confidence"][impossible] = 0.0
    if rule.dependence is not None:
        combined = log_odds_of(label, replace(rule, preference=None).log_joint(block))
        parts["dependence"] = combined - np.sum(list(parts.values()), axis=0)
        preference = log_odds_of(label, log_joint) - combined
        if preference.any():
            parts["preference"] = preference
    return Explanation(observations.classes[label], observations.classes, parts)


def _own_weight(rule: CombinationRule, block: Block, place: int, label: Codes) -> Floats | float:
    """What a panel's own weight of annotator ``place`` adds, (n_items, n_classes); 0 where there is none."""
    if rule.panel is None or place not in rule.panel.members_:
        return 0.0
    return log_odds_of(label, rule.panel.contribution(block, place))


def _models(
    rule: CombinationRule, block: Block, whole: Floats, label: Codes, names: tuple[str, ...]
) -> dict[str, Floats]:
    """The contributions of the models; "calibration" is what a pool adds beyond factors of its models.

    whole  (n_items, n_classes) log-odds of all models together
    """
    if rule.pool is None:
        return {name: whole.copy() for name in names}
    factor = rule.final_calibrator.slope()
    shares = zip(names, rule.pool.contributions(block), strict=True)
    parts = {name: log_odds_of(label, factor * share) for name, share in shares}
    if rule.final_calibrator.temperature_estimate() is None or rule.pool.own_share_ > 0:
        parts["calibration"] = whole - np.sum(list(parts.values()), axis=0)
    return parts


def _impossible(rule: CombinationRule, block: Block, model: Floats) -> NDArray[np.bool_]:
    """Items whose answers leave no class possible; the model alone decides them, (n_items,)."""
    assert block.answers is not None
    joint = model + answer_log_likelihood(block.answers, rule.log_table)
    return np.asarray(np.isneginf(joint.max(axis=0)))


def _own_block(block: Block, place: int) -> Block:
    """The block with the answers of the annotator with this number only, and their levels."""
    answers = block.answers
    assert answers is not None
    assert block.confidence is not None
    own, confidence = kept_answers(answers, answers.column // len(block.log_proba) == place, block.confidence)
    return replace(block, answers=own, confidence=confidence, unsure=None)


def _answers_of(answers: Answers, annotator: int, place: int, n_answers: int) -> Answers:
    """The answers of one annotator, as those of annotator ``place``."""
    item = item_of_answers(answers)
    who, answer = np.divmod(answers.column, n_answers)
    own = (who == annotator) & (answers.column != MISSING)
    return pack_answers(item[own], place * n_answers + answer[own], len(answers))
