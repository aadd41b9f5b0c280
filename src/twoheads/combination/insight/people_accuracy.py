"""People's accuracies: measured on items of known truth, or believed where there are none.

Truth of one class only measures how often people are right about that class. How often they are about the others, and
how many there are, is then believed as if no truth were known: a team that has seen truth of one class takes more items
for that class than there are.

Measured accuracies rest on the truth. Answers about other items narrow them by beliefs that have not used the truth of
the item, and the mean error of these beliefs on the labelled items is taken off again. Believed accuracies rest on the
team's own posterior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from twoheads.combination.insight.answer_rows import AnswerRows
from twoheads.kernels.arrays import Floats
from twoheads.kernels.confusion.annotators import accuracy_prior
from twoheads.kernels.inference.believed import BelievedShares, believed_shares
from twoheads.kernels.inference.intervals import design_effect, effective_counts, jeffreys_interval
from twoheads.kernels.inference.people import measured_shares, newcomer_share
from twoheads.kernels.inference.prediction_powered import powered_means
from twoheads.kernels.inference.shrinkage import Shares, crowd_design_effect, shrunk_shares
from twoheads.storage.artifact import register

Kind = Literal["measured", "believed"]


@register
@dataclass(frozen=True, eq=False)
class PeopleAccuracy(BaseEstimator):
    """Distributions of people's accuracies, of which there are intervals at any level.

    kind      "measured" if answers are about items of known truth of two classes or more, else "believed"
    judged    (n_people,) number of the answers about items of known truth
    first     (n_people,) a of Beta(a, b) if measured; the mean of the logit if believed
    second    (n_people,) b; the standard deviation of the logit
    step      (n_people,) one over the number of answers
    overall   (2,) of all answers together: effective numbers of right ones and of all; mean and sd of the logit
    newcomer  (2,) a and b of the accuracy of somebody of whom nothing is known
    effect    (n_classes,) weight of what counts as one independent answer about labelled items of each class: answers
              about one item depend on each other, and those of unequal weights are fewer
    unit      (n_classes,) the same if answers about one item did not depend on each other
    machines  the same of the models that give labels or scores beside people; None without any
    """

    kind: Kind
    judged: Floats
    first: Floats
    second: Floats
    step: Floats
    overall: Floats
    newcomer: Floats
    effect: Floats
    unit: Floats
    machines: PeopleAccuracy | None = None

    def kinds(self) -> list[Kind]:
        """The kind of each accuracy: without a judged answer, or with truth of one class only, it is believed."""
        return ["measured" if self.kind == "measured" and count > 0 else "believed" for count in self.judged]

    def shares(self) -> Shares | BelievedShares:
        """The distribution of each person's accuracy."""
        make = Shares if self.kind == "measured" else BelievedShares
        return make(self.first, self.second, self.step)

    def spread(self, level: float) -> tuple[float, float]:
        """Within which accuracies such a share of people are."""
        low, high = Shares(self.newcomer[:1], self.newcomer[1:], np.zeros(1)).interval(level)
        return float(low[0]), float(high[0])

    def of_all_answers(self, level: float) -> tuple[float, float, float]:
        """Share of all answers that are right, with its interval; of one person, that person's."""
        if len(self.judged) == 1:
            shares = self.shares()
            low, high = shares.interval(level)
            return float(shares.mean[0]), float(low[0]), float(high[0])
        one, other = self.overall[:1], self.overall[1:]
        if self.kind == "believed":
            believed = BelievedShares(one, other, np.zeros(1))
            value, (low, high) = believed.mean, believed.interval(level)
        else:
            value, (low, high) = one / other, jeffreys_interval(one, other, level)
        return float(value[0]), float(low[0]), float(high[0])


def measured_accuracy(answers: AnswerRows, n_classes: int, judged: Floats | None = None) -> PeopleAccuracy:
    """Accuracies from labelled answers, narrowed by beliefs about the others where there are any.

    The posterior of the answers must not have used the truth of the items it is about.

    judged  (n_people,) how many answers are labelled, where that is not their number: those forgotten in part
    """
    known, rest = answers.labelled(), answers.unlabelled()
    right, here, there = known.right(), known.by_person(), rest.by_person()
    belief, elsewhere = known.belief(known.label), rest.belief(rest.label)
    evidence = right, belief, here, elsewhere, there
    shares, newcomer = measured_shares(*evidence), newcomer_share(*evidence)
    all_here, all_there = known.together(), rest.together()
    means = powered_means(right, belief, all_here, elsewhere, all_there)
    overall = np.concatenate(effective_counts(right, all_here, means))
    of_answers, unit = float(design_effect(right, all_here)[0]), known.units(known.truth, n_classes)
    return _measured(known.numbers() if judged is None else judged, shares, newcomer, overall, of_answers, unit)


class Units(NamedTuple):
    """Weight of one answer where answers count as Kish's number: of each person, of each class, and of all together."""

    of_person: Floats
    of_class: Floats
    of_all: float


def units_of(answers: AnswerRows, n_classes: int, own: Floats | None = None) -> Units:
    """`Units` of answers about labelled items; ``own`` as in `AnswerRows.units`."""
    groups = (answers.person, answers.n_people), (answers.truth, n_classes), (0 * answers.person, 1)
    of_person, of_class, of_all = (answers.units(code, n_codes, own) for code, n_codes in groups)
    return Units(of_person, of_class, float(of_all[0]))


def counted_accuracy(
    right: Floats, count: Floats, judged: Floats, units: Units, of_crowd: float, of_answers: float
) -> PeopleAccuracy:
    """Accuracies from sums over labelled items, and the `design_effects` of their answers.

    right, count  (n_people,) weight of right answers, and of all, about labelled items
    judged        (n_people,) how many these are
    """
    overall = np.array([right.sum(), count.sum()]) / (of_answers * units.of_all)
    right, count = right / units.of_person, count / units.of_person
    shares = shrunk_shares(np.append(right, 0.0), np.append(count, 0.0), design_effect=of_crowd)
    newcomer = Shares(shares.a[-1:], shares.b[-1:], shares.step[-1:])
    shares = Shares(shares.a[:-1], shares.b[:-1], 1.0 / np.maximum(count, 1.0))
    return _measured(judged, shares, newcomer, overall, of_answers, units.of_class)


def design_effects(answers: AnswerRows, share: Floats) -> tuple[float, float]:
    """How many times the variance of the crowd's mean, and of the share of all answers, is that of independent answers.

    share  (n_people,) share of right answers of each
    """
    outcome = answers.right()
    if not len(outcome):
        return 1.0, 1.0
    residual = outcome - share[answers.person]
    return crowd_design_effect(residual, answers.cluster), float(design_effect(outcome, answers.together())[0])


def believed_accuracy(
    right: Floats, count: Floats, judged: Floats | None = None, unit: Floats | None = None
) -> PeopleAccuracy:
    """Accuracies from the team's posterior alone.

    right         (n_people,) sum of the beliefs that an answer is right
    count         (n_people,) number of answers, or Kish's number of weighted ones
    judged, unit  as in `PeopleAccuracy`, where truth of one class is known
    """
    shares = believed_shares(right, count)
    everybody = believed_shares(right.sum(keepdims=True), count.sum(keepdims=True))
    return PeopleAccuracy(
        kind="believed",
        judged=np.zeros(len(count)) if judged is None else judged,
        first=shares.logit_mean,
        second=shares.sd,
        step=shares.step,
        overall=np.concatenate([everybody.logit_mean, everybody.sd]),
        newcomer=np.array(accuracy_prior(right, count)),
        effect=np.ones(1) if unit is None else unit,
        unit=np.ones(1) if unit is None else unit,
    )


def _measured(
    judged: Floats, shares: Shares, newcomer: Shares, overall: Floats, of_answers: float, unit: Floats
) -> PeopleAccuracy:
    unknown, effect = np.concatenate([newcomer.a, newcomer.b]), of_answers * unit
    return PeopleAccuracy("measured", judged, shares.a, shares.b, shares.step, overall, unknown, effect, unit)
