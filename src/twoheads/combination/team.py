"""A fitted team: its combination rule, predictions, explanations and descriptions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from twoheads.calibration.base import Calibrator
from twoheads.combination.class_prior import as_class_prior, prior_terms
from twoheads.combination.combiner import Combiner
from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.insight.accuracy_at_fit import accuracy_at_fit, class_stats_at_fit
from twoheads.combination.insight.annotators import LEVEL, stats_of
from twoheads.combination.insight.class_shares import ClassShares, class_shares, mean_posterior, share_sample
from twoheads.combination.insight.explanation import Explanation, explain
from twoheads.combination.insight.facts import team_facts
from twoheads.combination.insight.named_matrix import confusion_columns, part_lines
from twoheads.combination.insight.next_answer import fit_answer_temperature
from twoheads.combination.insight.people_accuracy import PeopleAccuracy
from twoheads.combination.insight.realised_gain import fit_gain_factor
from twoheads.combination.insight.sentences import team_sentences
from twoheads.combination.items.protocol import Schema
from twoheads.combination.panel import Panel
from twoheads.combination.pool import ModelPool
from twoheads.combination.rule import CombinationRule
from twoheads.combination.statistics.reservoir import ItemSample, sample_size
from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.confusion.base import Confusion
from twoheads.confusion.response import ResponseModel
from twoheads.dependence import Dependence
from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.observations import Observations
from twoheads.observations.frames import Columns
from twoheads.storage import artifact

#: What is computed from the sample of training items on first use; it is saved once it is known, or without the sample.
_FROM_SAMPLE = ("answer_log_temperature", "gain_factor", "mean_posterior", "people_accuracy")


class Team(Combiner):
    """A combiner that adopts a `FitResult`; its attributes are those of `ProbabilityLabelCombiner`."""

    class_prior: str | ArrayLike | Mapping[Any, float]

    confusion_: Confusion
    calibrator_: Calibrator
    dependence_: Dependence | None
    response_: ResponseModel | None
    pool_: ModelPool | None
    panel_: Panel | None
    prevalence_: Floats
    holdout_: HoldoutRecord | None
    objective_: Floats
    statistics_: SufficientStatistics

    #: Saved in place of the sample from which they are fitted.
    fitted_answer_log_temperature_: float
    fitted_mean_posterior_: Floats
    fitted_people_accuracy_: PeopleAccuracy
    fitted_gain_factor_: float

    #: The class shares that predictions are corrected to; set by `with_class_shares`.
    class_shares_: ClassShares

    def rule(self) -> CombinationRule:
        """The combination rule: the fitted parts with the parameters as they are now."""
        rule = self._rule_at_fit()
        return rule.shifted(self.class_shares_.log_ratio) if hasattr(self, "class_shares_") else rule

    def _rule_at_fit(self) -> CombinationRule:
        check_is_fitted(self)
        class_prior = as_class_prior(self.class_prior, self.classes_)
        prior, shift = prior_terms(class_prior, self.prevalence_, self.statistics_, self.dependence_)
        return CombinationRule(
            self.confusion_,
            self.calibrator_,
            self.dependence_,
            self.response_,
            self.pool_,
            prior,
            shift,
            None if self.holdout_ is None else self.holdout_.preference(),
            self.has_model_,
            self.panel_,
            self._schema().machines_beside_people,
        )

    def result(self) -> FitResult:
        """The fitted quantities as one value, with the parameters as they are now."""
        return FitResult(
            self._schema(), self.rule(), self.statistics_, self.holdout_, self.prevalence_, self.objective_
        )

    def _schema(self) -> Schema:
        names = self.classes_, self.annotators_, self.models_
        return Schema(*names, self.has_model_, machines=self.machines_, levels=self.levels_, zeros=self.zeros_)

    def log_joint(self, block: Block) -> Floats:
        """Log-probability of each class given model and answers, (n_classes, n_items), up to a constant per item."""
        return self.rule().log_joint(block)

    def class_shares(self, X: Any) -> ClassShares:
        """The class shares of items, by EM over the team's posteriors, and how far they differ from those at fit.

        Of a large table a sample is used: at most 2,000 items, fewer with more than 50 classes.
        """
        sample = share_sample(self, self._observed(X))
        if sample is None:
            raise InvalidObservations("X must hold at least one item to estimate class shares; it holds none.")
        return self.shares_of_sample(sample)

    def shares_of_sample(self, sample: ItemSample) -> ClassShares:
        """The class shares, from a sample of `share_sample`."""
        n_at_fit = min(self.n_labelled_ + self.n_unlabelled_, 2 * sample_size(len(self.classes_)))
        return class_shares(self._rule_at_fit(), self.classes_, sample, self.mean_posterior_, n_at_fit)

    def with_class_shares(self, shares: ClassShares) -> Self:
        """A copy of the team whose predictions are corrected to the class shares that were found for some items."""
        team = copy(self)
        team.class_shares_ = shares
        return team

    def at_hand(self, X: Any) -> Self:
        """The team as it predicts ``X``: with ``class_prior="shift"``, corrected to the class shares of these items."""
        return self.with_class_shares(self.class_shares(X)) if self.learns_class_shares else self

    @property
    def learns_class_shares(self) -> bool:
        """Whether class shares are estimated from the items that are predicted together."""
        shift = isinstance(self.class_prior, str) and self.class_prior == "shift"
        return shift and not hasattr(self, "class_shares_")

    def explain(self, X: Any) -> Explanation:
        """Log-odds of each item's combined label against each alternative, as a sum of each member's contribution."""
        team, observations = self.at_hand(X), self.observe(X)
        return team._explain(observations)

    def _explain(self, observations: Observations) -> Explanation:
        block = self.block(observations, slice(0, len(observations)))
        joint = self.log_joint(block)
        place = dict(zip(observations.annotators, self.annotator_index(observations.annotators).tolist(), strict=True))
        return explain(self.rule(), block, joint, observations, place, self.models_)

    @property
    def answer_log_temperature_(self) -> float:
        """Extra log temperature at which the calibrated model best predicts people's answers; fitted on first use."""
        found: float = self._from_sample("answer_log_temperature", lambda: fit_answer_temperature(self.result()))
        return found

    @property
    def gain_factor_(self) -> float:
        """How much of an expected gain came on labelled items, from 0 to 1.2; fitted on first use."""
        found: float = self._from_sample(
            "gain_factor", lambda: fit_gain_factor(self.result(), self.answer_log_temperature_)
        )
        return found

    @property
    def mean_posterior_(self) -> Floats:
        """Mean posterior of the items at fit, (n_classes,); computed on first use."""
        found: Floats = self._from_sample(
            "mean_posterior", lambda: mean_posterior(replace(self.result(), rule=self._rule_at_fit()))
        )
        return found

    @property
    def people_accuracy_(self) -> PeopleAccuracy:
        """Distributions of people's accuracies, measured or believed; computed on first use."""
        found: PeopleAccuracy = self._from_sample("people_accuracy", lambda: accuracy_at_fit(self, self.result()))
        return found

    def _from_sample(self, name: str, compute: Callable[[], Any]) -> Any:
        """One of `_FROM_SAMPLE`: as it was saved in place of the sample, or computed on first use."""
        check_is_fitted(self)
        if f"fitted_{name}_" in vars(self):
            return vars(self)[f"fitted_{name}_"]
        if f"_{name}" not in vars(self):
            setattr(self, f"_{name}", compute())
        return vars(self)[f"_{name}"]

    @property
    def annotator_stats_(self) -> Columns:
        """Quantities of each person: a column per fact, an entry per person; a notebook shows a table.

        ``answers`` given, and those ``judged``, about items of known truth; ``kind``, "measured" for an accuracy that
        rests on truth of two classes or more, "believed" for one that rests on a team's own posterior; ``accuracy``
        with its 90 % interval from ``accuracy_low`` to ``accuracy_high``; ``agreement``, the mean share of the other
        answers on an item that are the same; ``bits``, the information of one answer about the true class, as the team
        estimates it.
        "Unsure" is no answer here, neither right nor wrong. Models that give labels or scores are no people: their
        accuracies are in `facts`, under ``machines``. Computed on first use, with five fits to parts of the
        labelled items where there are others too.
        """
        return self.annotator_stats_at(LEVEL)

    def annotator_stats_at(self, level: float) -> Columns:
        """`annotator_stats_` with intervals of another level."""
        result = self.result()
        return Columns(stats_of(result, result.schema.people, self.people_accuracy_, level))

    def class_stats(self, level: float = LEVEL) -> Columns:
        """Each person's sensitivity and specificity for each class, with intervals: an entry per class and person.

        ``judged`` counts the person's answers about items known to be of the class; ``kind`` of the sensitivity and
        ``specificity_kind`` are as in `annotator_stats_`.
        """
        check_is_fitted(self)
        return Columns(class_stats_at_fit(self, self.result(), level))

    def confusion_columns(self, annotator: str | None = None) -> Columns:
        """The confusion matrix P(answer | truth) with its names, a column per true class: of all people, or of one."""
        return confusion_columns(self.confusion_, self.classes_, self.annotators_, annotator)

    def learnt_lines(self) -> list[str]:
        """What was learnt, a line each, without anything that must be computed."""
        lines = part_lines(self.confusion_, self.calibrator_, self.n_labelled_, self.n_unlabelled_)
        return super().learnt_lines() + lines

    @property
    def people_(self) -> tuple[str, ...]:
        """The annotators that are people, not machines."""
        return tuple(name for name in self.annotators_ if name not in self.machines_)

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
    def labelled_counts_(self) -> Floats:
        """Weight of the answers of each about labelled items, (n_annotators, n_classes, n_classes): answer, truth."""
        return self.statistics_.counts

    @property
    def annotation_counts_(self) -> Floats:
        """Weights of the answers, shared answers and agreements of each person, (3, n_annotators)."""
        return self.statistics_.annotation_counts

    def facts(self) -> dict[str, Any]:
        """The fitted quantities, as numbers that JSON can hold."""
        check_is_fitted(self)
        return team_facts(self.result(), self.people_accuracy_)

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
        team = copy(self)
        if not keep_sample:
            team.statistics_ = self.statistics_.without_sample()
        for name in _FROM_SAMPLE:
            if not keep_sample or f"_{name}" in vars(self):
                setattr(team, f"fitted_{name}_", getattr(self, f"{name}_"))
        artifact.save(team, path)

    def adopt(self, result: FitResult) -> Self:
        """Take over what a fit has found, as fitted attributes."""
        self._adopt_schema(result.schema)
        for name in _FROM_SAMPLE:
            self.__dict__.pop(f"_{name}", None)
            self.__dict__.pop(f"fitted_{name}_", None)
        self.__dict__.pop("class_shares_", None)
        rule = result.rule
        self.confusion_, self.calibrator_, self.dependence_ = rule.confusion, rule.calibrator, rule.dependence
        self.response_, self.pool_, self.panel_ = rule.response, rule.pool, rule.panel
        self.statistics_, self.holdout_ = result.statistics, result.holdout
        self.prevalence_, self.objective_ = result.prevalence, result.objective
        return self
