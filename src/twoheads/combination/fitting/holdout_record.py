"""The record of a team on its labelled items, each predicted from matrices fitted without it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sklearn.base import BaseEstimator

from twoheads.combination.rival import Rivals
from twoheads.kernels.dependence.preference import Preference, fit_preference
from twoheads.kernels.scoring.chance import chance_best, chance_better
from twoheads.storage.artifact import register


@register
@dataclass
class HoldoutRecord(BaseEstimator):
    """Counts over labelled items, each predicted from matrices fitted without it.

    n, items                   weight of the items, and how many they are
    unit                       weight of one item where they count as Kish's number of them
    unit_over_human, unit_over_model   the same of the items on which the combination and the partner differ
    human_errors, model_errors, errors   errors of the annotators, of the model and of the combination
    over_human, over_model     items that only the combination got right, and only the annotators (or the model); a
                               tie between classes is right by its share, whatever their order
    expected_over_human, expected_over_model   how many more of the first than of the second its probabilities say
    human_only, model_only     items that only the annotators got right, and only the model
    log_loss, plain_log_loss   mean log loss of the combination, and of the plain product of the same parts
    log_loss_gain_se           standard error of their difference, no less than both of them believe
    answered, modelled         weight of the items with an answer, and with a model row
    answers_per_item           mean number of answers on an item that has one
    both_labelled, both_wrong  items with a label of annotators and model, and those that both have wrong
    both_wrong_by_chance, both_wrong_p   how many these would be if the two erred independently given the truth, and the
                               probability of as many or more (exact)
    rivals                     whom the combination is compared with on the same items; None without any
    """

    n: float = 0.0
    items: float = 0.0
    unit: float = field(default=1.0, repr=False)
    unit_over_human: float = field(default=1.0, repr=False)
    unit_over_model: float = field(default=1.0, repr=False)
    human_errors: float = 0.0
    model_errors: float = 0.0
    errors: float = 0.0
    over_human: tuple[float, float] = (0.0, 0.0)
    over_model: tuple[float, float] = (0.0, 0.0)
    expected_over_human: float = 0.0
    expected_over_model: float = 0.0
    human_only: float = 0.0
    model_only: float = 0.0
    log_loss: float = 0.0
    plain_log_loss: float = 0.0
    log_loss_gain_se: float = 0.0
    answered: float = 0.0
    modelled: float = 0.0
    answers_per_item: float = field(default=1.0, repr=False)
    both_labelled: float = 0.0
    both_wrong: float = 0.0
    both_wrong_by_chance: float = field(default=0.0, repr=False)
    both_wrong_p: float = field(default=1.0, repr=False)
    rivals: Rivals | None = None

    @property
    def effective_items(self) -> float:
        """Kish's number of the items."""
        return self.n / self.unit

    @property
    def chance_best(self) -> float:
        """The chance that the combination errs less often on new items than the better of annotators and model.

        A draw counts half. Where a member answers alone, the team draws with it.
        """
        chance = chance_best(tuple(each for each in self.chances() if each is not None))
        return chance + self.preference().share_alone * (0.5 - chance)

    def preference(self) -> Preference:
        """Whom of the two partners the team prefers, and how far: weights count as rows, as in all that is fitted."""
        over_human, over_model = replace(self, unit=1.0, unit_over_human=1.0, unit_over_model=1.0).chances()
        if over_human is None or over_model is None:
            return fit_preference(0.0, 0.0, self.n)
        return fit_preference(self.human_only, self.model_only, self.n, (over_human, over_model))

    def chances(self) -> tuple[float | None, float | None]:
        """The chance that it errs less than the annotators, and than the model; None where there is none.

        No item counts as more than one, whatever its weight.
        """
        over_human = *self.over_human, self.expected_over_human
        over_model = *self.over_model, self.expected_over_model
        answers = self.answers_per_item if self.answered and self.modelled else 1.0
        human, model = (
            chance_better(*(each / unit for each in over), self.effective_items, answers) if there else None
            for over, unit, there in (
                (over_human, self.unit_over_human, self.answered),
                (over_model, self.unit_over_model, self.modelled),
            )
        )
        return human, model
