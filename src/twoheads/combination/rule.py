"""The combination rule of a fitted team: from a block to the joint log-probability of each class."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from twoheads.calibration.base import Calibrator
from twoheads.combination.panel import Panel
from twoheads.combination.pool import ModelPool
from twoheads.confusion.base import Confusion
from twoheads.confusion.response import ResponseModel
from twoheads.dependence import Dependence
from twoheads.kernels.answers import answer_log_likelihood
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block, without_annotators
from twoheads.kernels.dependence.groups import Groups, group_weights
from twoheads.kernels.dependence.preference import Preference, close_calls_to_partner
from twoheads.kernels.posterior import joint_log_proba
from twoheads.kernels.scoring.ties import TIED, top_shares
from twoheads.kernels.simplex import LOG_FLOOR


@dataclass(frozen=True, eq=False)
class CombinationRule:
    """Fitted parts, and how they are combined. Predicting, explaining and asking all go through it.

    pool             of several models; None where there is one
    log_class_prior  (n_classes,) for items without a model row; None where classes are equally likely
    log_prior_shift  (n_classes,) label-shift correction of items with a model row; None without one
    preference       of one of the partners; None without a record of labelled items
    has_model        whether there was a model at fit
    panel            weights of related members; None unless the team has such members and labels
    machines         the annotators that are machines, by their number, where there are people too
    """

    confusion: Confusion
    calibrator: Calibrator
    dependence: Dependence | None = None
    response: ResponseModel | None = None
    pool: ModelPool | None = None
    log_class_prior: Floats | None = None
    log_prior_shift: Floats | None = None
    preference: Preference | None = None
    has_model: bool = True
    panel: Panel | None = None
    machines: tuple[int, ...] = ()

    def log_joint(self, block: Block) -> Floats:
        """Log-probability of each class given model and answers, (n_classes, n_items), up to a constant per item."""
        block = self.pooled(block)
        if self.dependence is None:
            return self.with_prior_shift(block, self._log_product(block))
        log_likelihood = self.answer_log_likelihood(block)
        (proba,) = self.posteriors(block, log_likelihood, self.dependence)
        proba = self.separated(block, proba, log_likelihood, self.answer_log_likelihood, self.dependence)
        if self.panel is not None:  # its weights are the members' records
            proba = self.panel.proba(proba, block)
        elif self.preference is not None:
            proba = self.preferred(block, proba, log_likelihood, self.dependence)
        with np.errstate(divide="ignore"):
            return self.with_prior_shift(block, np.log(proba, out=proba))

    def separated(
        self,
        block: Block,
        proba: Floats,
        log_likelihood: Floats,
        likelihood_of: Callable[[Block], Floats],
        dependence: Dependence,
    ) -> Floats:
        """The combination's probabilities with people and machines as two groups, as far as they are.

        log_likelihood  (n_classes, n_items) of the answers, as ``likelihood_of`` the block
        """
        if not self.machines:
            return proba
        groups = self.groups(block, log_likelihood, likelihood_of, dependence.correlation_)
        return groups.apart(proba, dependence.separation_)

    def groups(
        self, block: Block, log_likelihood: Floats, likelihood_of: Callable[[Block], Floats], correlation: float
    ) -> Groups:
        """The evidence of people and machines about a block."""
        people = without_annotators(block, self.machines)
        assert block.answers is not None
        assert people.answers is not None
        of_people, n_people = likelihood_of(people), people.answers.per_item()
        n_machines = block.answers.per_item() - n_people
        return Groups(of_people, log_likelihood - of_people, n_people, n_machines, correlation)

    def several_answers(self, n_machines: int) -> dict[str, float]:
        """The correlation of answers on one item; and what a person's counts beside so many machines, and a machine's.

        n_machines  those that have answered at all
        """
        assert self.dependence is not None
        correlation, separation = self.dependence.correlation_, self.dependence.separation_
        if not (self.machines and n_machines):
            return {"correlation": correlation}
        person, machine = group_weights(1, n_machines, correlation, separation)
        weights = {"machines": n_machines, "person_weight": float(person), "machine_weight": float(machine)}
        return {"correlation": correlation, "separation": separation, **weights}

    def preferred(self, block: Block, proba: Floats, log_likelihood: Floats, dependence: Dependence) -> Floats:
        """The combination's probabilities with the preference for a partner, on items with both of them.

        log_likelihood  (n_classes, n_items) of the answers
        """
        preference = self.preference
        if preference is None or not (preference.log_threshold > 0 or preference.share_alone > 0):
            return proba
        single = np.concatenate(block.single_source_items(has_model=self.has_model))
        partner = self._partner_label(block, log_likelihood, human=preference.human_leads)
        partner[single] = MISSING
        proba = close_calls_to_partner(proba, partner, preference.log_threshold)
        share = preference.share_alone
        if share > 0:
            alone = self._partner_proba(block, log_likelihood, dependence, human=preference.human_alone)
            alone[:, single] = proba[:, single]
            proba = (1.0 - share) * proba + share * alone
        return proba

    def _partner_label(self, block: Block, log_likelihood: Floats, *, human: bool) -> Codes:
        """The class of the answers, or of the model, (n_items,); MISSING where classes are tied."""
        assert block.answers is not None
        if human and block.answers.start is None:
            return _the_answer(block)
        scores = log_likelihood if human else self.model_log_proba(block)
        is_tied = (scores >= scores.max(axis=0) - TIED).sum(axis=0) > 1
        return np.where(is_tied, MISSING, scores.argmax(axis=0))

    def _partner_proba(self, block: Block, log_likelihood: Floats, dependence: Dependence, *, human: bool) -> Floats:
        """Probability of each class by the answers alone, or by the model alone, (n_classes, n_items)."""
        assert block.answers is not None
        if not human:
            return dependence.model_proba(self.calibrator.calibrate(block.log_proba))
        prior = np.zeros_like(log_likelihood)
        if self.log_class_prior is not None:
            prior = prior + self.log_class_prior[:, None]
        return dependence.answers_proba(prior, log_likelihood, block.answers)

    def pooled(self, block: Block) -> Block:
        """The block with one model in place of several."""
        return block if self.pool is None or not block.members else self.pool.pooled(block)

    @cached_property
    def log_table(self) -> Floats:
        """Log-probability of each answer of each annotator under each class, the crowd's rows last."""
        table = self.confusion.log_table()
        return table if self.dependence is None else np.maximum(table, LOG_FLOOR)

    def answer_log_likelihood(self, block: Block) -> Floats:
        """Log-likelihood of the answers, of their confidence and of "unsure", (n_classes, n_items)."""
        assert block.answers is not None
        log_likelihood = answer_log_likelihood(block.answers, self.log_table)
        response = self.response_log_likelihood(block)
        if response is not None:
            log_likelihood += response
        return log_likelihood

    def response_log_likelihood(self, block: Block) -> Floats | None:
        """Log-likelihood of confidence levels and of "unsure", (n_classes, n_items); None where there are none."""
        return None if self.response is None else self.response.log_likelihood(block)

    def posteriors(self, block: Block, log_likelihood: Floats, *dependences: Dependence) -> list[Floats]:
        """Probability of each class by each correction, applied to items with both an answer and a model row.

        log_likelihood  (n_classes, n_items) of the answers
        """
        assert block.answers is not None
        log_proba = self.model_log_proba(block)
        no_answer, no_model = block.single_source_items(has_model=self.has_model)
        evidence = [self.model_evidence(block, each, log_proba) for each in dependences]
        probas = [
            each.proba(model, log_likelihood, block.answers) for each, model in zip(dependences, evidence, strict=True)
        ]
        if len(no_answer):
            calibrated = self.calibrator.calibrate(block.log_proba[:, no_answer])
            if not self.has_model and self.log_class_prior is not None:
                calibrated = np.broadcast_to(self.log_class_prior[:, None], calibrated.shape)
            for each, proba in zip(dependences, probas, strict=True):
                proba[:, no_answer] = each.model_proba(calibrated)
        if len(no_model):
            prior = self.with_class_prior(block, np.zeros_like(log_likelihood))[:, no_model]
            answers = block.answers.take(no_model)
            for each, proba in zip(dependences, probas, strict=True):
                proba[:, no_model] = each.answers_proba(prior, log_likelihood[:, no_model], answers)
        return probas

    def model_log_proba(self, block: Block) -> Floats:
        """The model's log-probabilities as the correction for dependence takes them, (n_classes, n_items)."""
        block = self.pooled(block)
        log_proba = self.calibrator.dependence_input(block.log_proba)
        return log_proba if block.no_model is None else self.with_class_prior(block, log_proba)

    def model_evidence(self, block: Block, dependence: Dependence, log_proba: Floats) -> Floats:
        """``log_proba``, for items with fewer answers than those of the fit nearer to the calibrated model alone.

        log_proba  (n_classes, n_items) `model_log_proba` of the block
        """
        assert block.answers is not None
        if not self.has_model:
            return log_proba
        rows = self.pooled(block).log_proba

        def calibrated(items: Codes) -> Floats:
            return np.maximum(self.calibrator.calibrate(rows[:, items]), LOG_FLOOR)

        return dependence.model_evidence(log_proba, calibrated, block.answers)

    @cached_property
    def final_calibrator(self) -> Calibrator:
        """The calibrator, with a correction for dependence at the temperature which that has estimated."""
        if self.dependence is None:
            return self.calibrator
        return copy(self.calibrator).hold(self.dependence.mean_log_temperature())

    def calibrated_log_proba(self, block: Block) -> Floats:
        """The model's calibrated log-probabilities, (n_classes, n_items)."""
        return self.final_calibrator.calibrate(self.pooled(block).log_proba)

    def human_label_shares(self, block: Block, log_likelihood: Floats | None = None) -> Floats:
        """The one answer, or the class under which all answers are most likely, as shares, (n_classes, n_items).

        They are equal among tied classes, and 0 without an answer.

        log_likelihood  (n_classes, n_items) of the answers, where it is not to come from the rule's own matrices
        """
        assert block.answers is not None
        if block.answers.start is None:
            codes = np.arange(len(block.log_proba))[:, None]
            return np.asarray(codes == _the_answer(block), dtype=np.float64)
        if log_likelihood is None:
            log_likelihood = answer_log_likelihood(block.answers, self.confusion.log_table())
        return np.asarray((block.answers.per_item() > 0) * top_shares(log_likelihood))

    def with_class_prior(self, block: Block, log_proba: Floats) -> Floats:
        """``log_proba`` with the class prior in its place for items without a model row."""
        if self.log_class_prior is None or block.no_model is None:
            return log_proba
        return np.where(block.no_model, self.log_class_prior[:, None], log_proba)

    def with_prior_shift(self, block: Block, log_joint: Floats) -> Floats:
        """``log_joint`` with the label-shift correction, for items with a model row."""
        if self.log_prior_shift is None:
            return log_joint
        has_model = 1.0 if block.no_model is None else ~block.no_model
        return np.asarray(log_joint + self.log_prior_shift[:, None] * has_model)

    def shifted(self, log_ratio: Floats) -> CombinationRule:
        """The same for other class shares: every posterior times ``exp(log_ratio)``, (n_classes,)."""
        terms = self.log_class_prior, self.log_prior_shift
        prior, shift = (log_ratio if term is None else term + log_ratio for term in terms)
        return replace(self, log_class_prior=prior, log_prior_shift=shift)

    def prior_terms(self, block: Block) -> Floats:
        """Class prior and label-shift correction of each item, (n_classes, n_items)."""
        return self.with_prior_shift(block, self.with_class_prior(block, np.zeros_like(block.log_proba)))

    def _log_product(self, block: Block) -> Floats:
        """Log of the plain product of calibrated model and answers."""
        assert block.answers is not None
        calibrated = self.with_class_prior(block, self.calibrator.unnormalised(block.log_proba))
        response = self.response_log_likelihood(block)
        return joint_log_proba(calibrated, block.answers, self.log_table, response=response)


def _the_answer(block: Block) -> Codes:
    """The answer of items of which none has several; MISSING without one, (n_items,)."""
    assert block.answers is not None
    column = block.answers.column
    return np.where(column == MISSING, MISSING, column % len(block.log_proba))
