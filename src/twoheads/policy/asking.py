"""The expected value of one more answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from twoheads.combination.insight.answer_gain import decisive_gains, with_one_more
from twoheads.combination.insight.next_answer import belief_before_answer
from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.combination.rule import CombinationRule
from twoheads.engines.blocks import block_slices, map_blocks
from twoheads.errors import InvalidParameter
from twoheads.kernels.answers import item_of_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.scoring.answer_value import gains
from twoheads.kernels.scoring.decisive import MANY_CLASSES
from twoheads.kernels.simplex import normalise_exp
from twoheads.observations import Observations


def expected_gain(
    team: ProbabilityLabelCombiner, X: Any, *, person: str | None = None, cost: ArrayLike | None = None
) -> Floats:
    r"""Expected gain in accuracy of each item's label from one more answer.

    .. math:: f\,\sum_h p(h)\,\bigl[\max_y q(y \mid h) - q(k_0 \mid h)\bigr], \qquad p(h) = \sum_y \varphi_{hy}\, b(y)

    with :math:`k_0` the label that the team chooses now, :math:`q(\cdot \mid h)` its posterior after the answer h, and
    b its belief now. f (``gain_factor_``) is the ratio of realised to expected gain on the labelled items of the fit,
    from 0 to 1.2. An answer that cannot change the label gains nothing; the gain is never negative.

    Parameters
    ----------
    team : ProbabilityLabelCombiner
        A fitted team.
    X : Observations, data frame, array or scanned table
        What is known so far; items may have no answer yet.
    person : str, optional
        Who would be asked; by default a new person, who answers as the crowd does.
    cost : array of shape (n_decisions, n_classes), optional
        ``cost[d, j]`` is what decision d costs where j is true; the gain is then the expected cost that is saved.

    Returns
    -------
    ndarray of shape (n_items,)
        0 where that person has answered already.

    Examples
    --------
    >>> from twoheads import recommended
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]] * 5
    >>> team = recommended().fit(X, [0, 1, 0, 1] * 5)
    >>> expected_gain(team, [[-1, 0.55, 0.45], [-1, 0.99, 0.01]]).round(2).tolist()
    [0.36, 0.04]
    """
    outlook = Outlook.of(team, X, as_worth(cost, team))
    place = outlook.places([person])[0] if person is not None else outlook.crowd
    rows = np.arange(len(outlook.observations))
    gain = outlook.gains(rows, np.full(len(rows), place))
    names = outlook.observations.annotators
    if person in names:
        item, who = outlook.answered()
        gain[item[who == names.index(person)]] = 0.0
    return gain


@dataclass(frozen=True)
class Outlook:
    """The team's posterior of each item, its decisions, and its predictions of the next answers.

    rule        the team's combination rule
    posterior   (n_classes, n_items)
    belief      (n_classes, n_items) distribution from which the next answer is predicted
    choice      (n_items,) the present decision
    given_true  (n_annotators + 1, n_answers, n_classes) matrices of all annotators, then the crowd's
    worth       (n_decisions, n_classes), or None where a decision is a class and being right is worth 1
    """

    team: ProbabilityLabelCombiner
    rule: CombinationRule
    observations: Observations
    posterior: Floats
    belief: Floats
    choice: Codes
    given_true: Floats
    worth: Floats | None

    @classmethod
    def of(cls, team: ProbabilityLabelCombiner, X: Any, worth: Floats | None = None) -> Outlook:
        """The outlook on observations in any of their forms."""
        team = as_team(team).at_hand(X)
        observations, rule = team.observe(X), team.rule()
        answer_log_temperature = team.answer_log_temperature_

        def look(rows: slice) -> tuple[Floats, Floats]:
            block = team.block(observations, rows)
            posterior = normalise_exp(rule.log_joint(block))
            return posterior, belief_before_answer(rule, block, posterior, answer_log_temperature)

        looks = list(map_blocks(look, block_slices(len(observations), observations.n_classes)))
        posterior, belief = (np.concatenate(each, axis=1) for each in zip(*looks, strict=True))
        choice = (posterior if worth is None else worth @ posterior).argmax(axis=0)
        return cls(team, rule, observations, posterior, belief, choice, rule.confusion.people(), worth)

    @property
    def crowd(self) -> int:
        """The index of a new person."""
        return len(self.given_true) - 1

    def places(self, people: list[str]) -> Codes:
        """Index of each person's matrix; the crowd's for those the team does not know."""
        return self.team.annotator_index(tuple(people))

    def answered(self) -> tuple[Codes, Codes]:
        """Item and person of each answer so far, people numbered as in ``observations.annotators``."""
        answers = self.observations.answers
        there = answers.column != MISSING
        return item_of_answers(answers)[there], answers.column[there] // self.observations.n_classes

    def gains(self, rows: Codes, place: Codes) -> Floats:
        """Expected gain of asking person ``place[i]`` about item ``rows[i]``, (n,)."""
        n_labels, n_classes = self.given_true.shape[1:]
        if self.worth is None and n_classes >= MANY_CLASSES:
            return self._decisive_gains(rows, place)
        out = np.empty(len(rows))

        def write(chunk: slice) -> None:
            item, matrix = rows[chunk], self.given_true[place[chunk]]
            after = self._posteriors(np.repeat(item, n_labels), (place[chunk, None] * n_classes + np.arange(n_labels)))
            posterior = np.moveaxis(after.reshape(n_classes, len(item), n_labels), 2, 0)
            proba = np.einsum("nak,kn->an", matrix, self.belief[:, item])
            out[chunk] = self.team.gain_factor_ * gains(proba, posterior, self.choice[item], self.worth)

        for _ in map_blocks(write, block_slices(len(rows), n_labels * n_classes)):
            pass
        return out

    def _decisive_gains(self, rows: Codes, place: Codes) -> Floats:
        """The same from the answers that can change the decision."""
        out = np.empty(len(rows))
        for chunk in block_slices(len(rows), len(self.posterior)):
            item = rows[chunk]
            belief, choice = self.belief[:, item], self.choice[item]
            gain = decisive_gains(self.rule, self._block(item), belief, choice, np.arange(len(item)), place[chunk])
            out[chunk] = self.team.gain_factor_ * gain
        return out

    def _posteriors(self, rows: Codes, column: Codes) -> Floats:
        """The posterior of items with one more answer each, (n_classes, n)."""
        return normalise_exp(self.rule.log_joint(with_one_more(self._block(rows), column.ravel())))

    def _block(self, rows: Codes) -> Block:
        return self.team.block(self.observations.take(rows), slice(0, len(rows)))


def as_team(team: object) -> ProbabilityLabelCombiner:
    """A fitted team that predicts answers."""
    if not isinstance(team, ProbabilityLabelCombiner):
        raise InvalidParameter(
            f"team must be a ProbabilityLabelCombiner, as recommended() gives; it is a {type(team).__name__}, which "
            "does not predict what people will answer."
        )
    check_is_fitted(team)
    return team


def as_worth(cost: ArrayLike | None, team: ProbabilityLabelCombiner) -> Floats | None:
    """Value of each decision under each truth, minus its cost; None without a cost matrix."""
    if cost is None:
        return None
    n_classes = len(as_team(team).classes_)
    matrix = np.asarray(cost)
    if matrix.dtype.kind not in "biuf" or matrix.ndim != 2 or matrix.shape[1] != n_classes or len(matrix) < 2:
        raise InvalidParameter(
            f"cost must be numbers of shape (n_decisions, {n_classes}), with at least two decisions and a column per "
            f"class; it has shape {matrix.shape} and type {matrix.dtype}."
        )
    if not np.isfinite(matrix).all():
        raise InvalidParameter(f"cost must be finite; {int((~np.isfinite(matrix)).sum())} of its entries are not.")
    return -matrix.astype(np.float64)
