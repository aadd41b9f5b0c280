"""Votes and levels of scores as features of a panel, and how far members err together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from twoheads.kernels.answers import Answers, design_effect, item_of_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats


@dataclass(frozen=True)
class Votes:
    """The answers of a panel's members, in any order.

    item, member, label  (n_votes,)
    """

    item: Codes
    member: Codes
    label: Codes


def votes_of(answers: Answers, members: Codes, n_classes: int) -> Votes:
    """The answers of members.

    members  (n_members,) the annotators who are members, ascending
    """
    # From a column of answers to the member's; MISSING for other annotators, and in the last place.
    known = np.full((int(members[-1]) + 2 if len(members) else 1) * n_classes, MISSING)
    answer = np.arange(n_classes)
    known[members[:, None] * n_classes + answer] = np.arange(len(members))[:, None] * n_classes + answer
    column, item = known[np.minimum(answers.column, len(known) - 1)], item_of_answers(answers)
    own = column != MISSING
    if not own.all():
        column, item = column[own], item[own]
    return Votes(item, *np.divmod(column, n_classes))


def vote_features(answers: Answers, members: Codes, n_classes: int, correlation: float) -> Floats:
    """1 over the item's design effect where a member voted for the class, (n_items, n_classes, n_members)."""
    votes = votes_of(answers, members, n_classes)
    shape = len(answers), n_classes, len(members)
    place = (votes.item * n_classes + votes.label) * len(members) + votes.member
    share = 1.0 / design_effect(answers, correlation)[votes.item]
    return np.bincount(place, share, np.prod(shape, dtype=int)).astype(np.float64, copy=False).reshape(shape)


@dataclass(frozen=True, eq=False)
class LevelScale:
    """By what the levels of members who give scores are standardised.

    members   (n_scored,) the annotators among a panel's members who give scores, ascending
    mean, sd  (n_scored,) of each one's levels; an sd of 0 where all are the same
    """

    members: Codes
    mean: Floats
    sd: Floats

    @classmethod
    def of(cls, answers: Answers, level: Floats | None, members: Codes, n_classes: int, weight: Floats) -> LevelScale:
        """From the levels of labelled items.

        level   (n_answers,) a number per entry of ``answers.column``; None where nobody gives scores
        weight  (n_items,)
        """
        item, member, levels = _levels_of(answers, level, members, n_classes)
        share, n_scored = weight[item], len(members)
        total = np.maximum(np.bincount(member, share, n_scored), 1e-300)
        mean = np.bincount(member, share * levels, n_scored) / total
        return cls(members, mean, np.sqrt(np.bincount(member, share * (levels - mean[member]) ** 2, n_scored) / total))


def level_features(
    answers: Answers, level: Floats | None, scale: LevelScale, n_classes: int, correlation: float
) -> Floats:
    """Standardised levels over the item's design effect, (n_items, n_scored), for the last class.

    0 where a member gives no score.
    """
    item, member, levels = _levels_of(answers, level, scale.members, n_classes)
    varies = scale.sd > 0
    standardised = (levels - scale.mean[member]) * (varies / np.where(varies, scale.sd, 1.0))[member]
    features = np.zeros((len(answers), len(scale.members)))
    features[item, member] = standardised / design_effect(answers, correlation)[item]
    return features


def _levels_of(answers: Answers, level: Floats | None, members: Codes, n_classes: int) -> tuple[Codes, Codes, Floats]:
    """Item, member and level of each score of the given annotators."""
    if level is None or not len(members):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0)
    annotator = answers.column // n_classes
    place = np.minimum(np.searchsorted(members, annotator), len(members) - 1)
    here = np.flatnonzero((answers.column != MISSING) & (members[place] == annotator) & ~np.isnan(level))
    return item_of_answers(answers)[here], place[here], level[here]


def error_correlation(
    votes: Votes, true_label: Codes, weight: Floats, n_members: int, level: float
) -> tuple[float, float, float]:
    """Mean correlation of two members' errors on one item, given its true class, and its interval.

    Errors are standardised over the member's answers of that true class, and their products averaged over all pairs
    of answers on one item. The standard error is that of a correlation: an item's influence is the sum over its pairs
    of e e' - rho (e^2 + e'^2) / 2.
    NaN where no two members answered the same item, or all answers are right.
    """
    n_classes = int(true_label.max(initial=0)) + 1
    truth, share = true_label[votes.item], weight[votes.item]
    wrong = (votes.label != truth).astype(np.float64)
    cell, n_cells = votes.member * n_classes + truth, n_members * n_classes
    total = np.maximum(np.bincount(cell, share, n_cells), 1e-300)
    mean = (np.bincount(cell, share * wrong, n_cells) / total)[cell]
    sd = np.sqrt(mean * (1.0 - mean))
    varies = sd > 1e-9
    residual, item = ((wrong - mean)[varies] / sd[varies]), votes.item[varies]
    first, squares, number = (
        np.bincount(item, values, len(true_label)) for values in (residual, residual**2, np.ones(len(item)))
    )
    products, pairs = (first**2 - squares) / 2.0, number * (number - 1.0) / 2.0
    n_pairs = float(weight @ pairs)
    if not n_pairs > 0:
        return np.nan, np.nan, np.nan
    estimate = float(weight @ products) / n_pairs
    influence = products - estimate * (number - 1.0) * squares / 2.0
    se = float(np.linalg.norm(weight * influence)) / n_pairs
    reach = float(norm.isf((1.0 - level) / 2.0)) * se
    middle, low, high = np.clip([estimate, estimate - reach, estimate + reach], -1.0, 1.0).tolist()
    return middle, low, high


def effective_members(correlation: float, n_members: int) -> float:
    """How many independent members have as much information as so many correlated ones, by Kish's design effect.

    At most their number: members whose errors avoid each other are not counted as more.
    """
    return float(n_members / (1.0 + (n_members - 1.0) * max(correlation, 0.0)))
