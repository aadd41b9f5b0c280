"""A fitted team: its combination rule, predictions, explanations and descriptions."""

from __future__ import annotations

import os
from copy import copy
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from twoheads.calibration.base import Calibrator
from twoheads.combination.combiner import Combiner
from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.fitting.holdout import HoldoutRecord
from twoheads.combination.insight.annotators import annotator_stats
from twoheads.combination.insight.explanation import Explanation, explain
from twoheads.combination.insight.facts import team_facts
from twoheads.combination.insight.next_answer import fit_answer_temperature
from twoheads.combination.insight.sentences import team_sentences
from twoheads.combination.items.protocol import Schema
from twoheads.combination.pool import ModelPool
from twoheads.combination.rule import CombinationRule, as_class_prior, prior_terms
from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.confusion.base import Confusion
from twoheads.confusion.response import ResponseModel
from twoheads.dependence import Dependence
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.storage import artifact


class Team(Combiner):
    """A combiner that adopts a `FitResult`; its attributes are those of `ProbabilityLabelCombiner`."""

    class_prior: str | ArrayLike
    guard: bool

    confusion_: Confusion
    calibrator_: Calibrator
    dependence_: Dependence | None
    response_: ResponseModel | None
    pool_: ModelPool | None
    prevalence_: Floats
    holdout_: HoldoutRecord | None
    objective_: Floats
    statistics_: SufficientStatistics

    #: Saved in place of the sample from which it is fitted.
    fitted_answer_log_temperature_: float

    def rule(self) -> CombinationRule:
        """The combination rule: the fitted parts with the parameters as they are now."""
        check_is_fitted(self)
        class_prior = as_class_prior(self.class_prior, self.classes_)
        log_class_prior, log_prior_shift = prior_terms(class_prior, self.prevalence_)
        return CombinationRule(
            self.confusion_,
            self.calibrator_,
            self.dependence_,
            self.response_,
            self.pool_,
            log_class_prior,
            log_prior_shift,
            self.holdout_.guard() if self.guard and self.holdout_ is not None else None,
            self.has_model_,
        )

    def result(self) -> FitResult:
        """The fitted quantities as one value, with the parameters as they are now."""
        schema = Schema(
            self.classes_,
            self.annotators_,
            self.models_,
            self.has_model_,
            machines=self.machines_,
            levels=self.levels_,
        )
        return FitResult(schema, self.rule(), self.statistics_, self.holdout_, self.prevalence_, self.objective_)

    def log_joint(self, block: Block) -> Floats:
        """Log-probability of each class given model and answers, (n_classes, n_items), up to a constant per item."""
        return self.rule().log_joint(block)

    def explain(self, X: Any) -> Explanation:
        """Log-odds of each item's combined label against each alternative, as a sum of each member's contribution."""
        observations = self.observe(X)
        block = self.block(observations, slice(0, len(observations)))
        joint = self.log_joint(block)
        place = dict(zip(observations.annotators, self.annotator_index(observations.annotators).tolist(), strict=True))
        return explain(self.rule(), block, joint, observations, place, self.models_)

    @property
    def answer_log_temperature_(self) -> float:
        """Extra log temperature at which the calibrated model best predicts people's answers; fitted on first use."""
        check_is_fitted(self)
        if "fitted_answer_log_temperature_" in vars(self):
            return self.fitted_answer_log_temperature_
        if not hasattr(self, "_answer_log_temperature"):
            self._answer_log_temperature = fit_answer_temperature(self.result())
        return self._answer_log_temperature

    @property
    def annotator_stats_(self) -> dict[str, NDArray[Any]]:
        """Fitted quantities of each person: a column per fact, an entry per person (``pandas.DataFrame`` takes it).

        ``answers`` given, and those ``judged`` (of known truth, or all where EM was run); ``accuracy`` with its 90 %
        interval from ``accuracy_low`` to ``accuracy_high``; ``agreement``, the mean share of the other answers on an
        item that are the same; ``bits``, the information of one answer about the true class.
        """
        check_is_fitted(self)
        return annotator_stats(self.annotators_, self.confusion_, self.annotation_counts_)

    @property
    def n_labelled_(self) -> int:
        """Number of labelled items."""
        return self.statistics_.n_labelled

    @property
    def n_unlabelled_(self) -> int:
        """Number of unlabelled items."""
        return self.statistics_.n_unlabelled

    @property
    def labels_per_class_(self) -> Floats:
        """Weight of the labelled items of each class, (n_classes,)."""
        return self.statistics_.labels_per_class

    @property
    def annotation_counts_(self) -> Floats:
        """Answers, shared answers and agreements of each person, (3, n_annotators)."""
        return self.statistics_.annotation_counts

    def facts(self) -> dict[str, Any]:
        """The fitted quantities, as numbers that JSON can hold."""
        check_is_fitted(self)
        return team_facts(self.result(), guarded=self.guard)

    def describe(self) -> str:
        """The fitted quantities as text, one sentence per line."""
        return "\n".join(team_sentences(self.facts()))

    def save(self, path: str | os.PathLike[str], *, keep_sample: bool = True) -> None:
        """Write the fitted team as JSON; `twoheads.load` reads it back, to the bit.

        Parameters
        ----------
        path : str or path
            The file.
        keep_sample : bool
            Whether the sample of training items is written too: at most 2,000 with truth and 2,000 without. Without it
            the file holds no training item; `partial_fit` and `merge` then refuse.
        """
        check_is_fitted(self)
        team = self
        if not keep_sample:
            team = copy(self)
            team.statistics_ = self.statistics_.without_sample()
            team.fitted_answer_log_temperature_ = self.answer_log_temperature_
        artifact.save(team, path)

    def adopt(self, result: FitResult) -> Self:
        """Take over what a fit has found, as fitted attributes."""
        self._adopt_schema(result.schema)
        for name in "_answer_log_temperature", "fitted_answer_log_temperature_":
            self.__dict__.pop(name, None)
        rule = result.rule
        self.confusion_, self.calibrator_, self.dependence_ = rule.confusion, rule.calibrator, rule.dependence
        self.response_, self.pool_ = rule.response, rule.pool
        self.statistics_, self.holdout_ = result.statistics, result.holdout
        self.prevalence_, self.objective_ = result.prevalence, result.objective
        return self
