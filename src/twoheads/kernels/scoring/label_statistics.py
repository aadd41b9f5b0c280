"""Statistics of labels against the truth, and of raters among each other, as functions of sums over items.

Of labels against the truth the sums are, by class, ``right`` (items of the class with its label), ``truth`` (items of
the class) and ``label`` (items with the label), each (..., n_classes). Labels may be shares, as of a vote without a
majority: the sums are then those of the expected confusion matrix. A class that never occurs is left out of a mean
over classes, as in scikit-learn. A statistic that is not defined is NaN.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twoheads.kernels.arrays import Codes, Floats


class LabelSums(NamedTuple):
    """Sums over items, (..., n_classes) each, and of the squared distance of label and truth, (...)."""

    right: Floats
    truth: Floats
    label: Floats
    distance: Floats

    @property
    def total(self) -> Floats:
        """Weight of all items, (...)."""
        return np.asarray(self.truth.sum(axis=-1))


def label_values(true_label: Codes, label: Floats) -> Floats:
    """What each item adds to the sums, (n_items, 3 * n_classes + 1); `as_sums` reads it.

    true_label  (n_items,) codes
    label       (n_classes, n_items) one-hot, or shares that sum to 1
    """
    n_classes, n_items = label.shape
    truth = np.zeros((n_items, n_classes))
    truth[np.arange(n_items), true_label] = 1.0
    shares = label.T
    distance = (shares * (np.arange(n_classes) - true_label[:, None]) ** 2).sum(axis=1, keepdims=True)
    return np.hstack([truth * shares, truth, shares, distance])


def as_sums(values: Floats) -> LabelSums:
    """The sums of `label_values`, added up along items, (..., 3 * n_classes + 1)."""
    n_classes = values.shape[-1] // 3
    right, truth, label = (values[..., at * n_classes : (at + 1) * n_classes] for at in range(3))
    return LabelSums(right, truth, label, values[..., -1])


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Quotient, NaN where the denominator is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(denominator == 0, np.nan, numerator / denominator))


def balanced_accuracy(sums: LabelSums) -> Floats:
    """Mean over the classes that are true of any item of the share labelled so."""
    return np.asarray(np.nanmean(ratio(sums.right, sums.truth), axis=-1))


def macro_f1(sums: LabelSums) -> Floats:
    """Mean over classes of ``2 right / (truth + label)``."""
    return np.asarray(np.nanmean(ratio(2.0 * sums.right, sums.truth + sums.label), axis=-1))


def matthews(sums: LabelSums) -> Floats:
    """Matthews' correlation coefficient, of several classes Gorodkin's (2004) R_K; 0 where one class has all items."""
    total, truth, label = sums.total, sums.truth, sums.label
    both = total * sums.right.sum(axis=-1) - (truth * label).sum(axis=-1)
    spread = (total**2 - (truth**2).sum(axis=-1)) * (total**2 - (label**2).sum(axis=-1))
    spread = np.where(spread <= 1e-14 * total**4, 0.0, spread)
    return np.asarray(np.nan_to_num(ratio(both, np.sqrt(spread))))


def _beyond_chance(agreement: Floats, chance: Floats) -> Floats:
    left = np.where(1.0 - chance <= 1e-12, 0.0, 1.0 - chance)
    return ratio(agreement - chance, left)


def cohen_kappa(sums: LabelSums) -> Floats:
    """Cohen (1960): agreement beyond that of independent raters with the same class shares."""
    chance = (sums.truth * sums.label).sum(axis=-1) / sums.total**2
    return _beyond_chance(sums.right.sum(axis=-1) / sums.total, chance)


def weighted_kappa(sums: LabelSums) -> Floats:
    """Cohen (1968) with weights ``(i - j)^2``, of classes in their order: 1 - squared distance seen / by chance."""
    place = np.arange(sums.truth.shape[-1])
    truth, label = (each / sums.total[..., None] for each in (sums.truth, sums.label))
    chance = truth @ place**2 + label @ place**2 - 2.0 * (truth @ place) * (label @ place)
    return 1.0 - ratio(sums.distance / sums.total, np.where(chance <= 1e-12, 0.0, chance))


def _pooled(sums: LabelSums) -> Floats:
    """Share of each class in truth and labels together, (..., n_classes)."""
    return np.asarray((sums.truth + sums.label) / (2.0 * sums.total[..., None]))


def scott_pi(sums: LabelSums) -> Floats:
    """Fleiss' kappa of two raters, Scott's (1955) pi: chance by the pooled class shares."""
    return _beyond_chance(sums.right.sum(axis=-1) / sums.total, (_pooled(sums) ** 2).sum(axis=-1))


def paired_alpha(sums: LabelSums) -> Floats:
    """Krippendorff's alpha of two raters for nominal data: disagreement seen / that of values paired at random."""
    n_values = 2.0 * sums.total
    counts = sums.truth + sums.label
    chance = (n_values**2 - (counts**2).sum(axis=-1)) / (n_values * (n_values - 1.0))
    return 1.0 - ratio(1.0 - sums.right.sum(axis=-1) / sums.total, np.where(chance <= 1e-12, 0.0, chance))


def paired_ac1(sums: LabelSums) -> Floats:
    """Gwet's (2008) AC1 of two raters: chance ``sum_c pi_c (1 - pi_c) / (K - 1)`` by the pooled shares."""
    share = _pooled(sums)
    chance = (share * (1.0 - share)).sum(axis=-1) / (share.shape[-1] - 1.0)
    return _beyond_chance(sums.right.sum(axis=-1) / sums.total, chance)


class RaterSums(NamedTuple):
    """Sums over the items that somebody rated.

    items, pairable     (...) how many, and how many with two ratings or more
    agreement           (...) of the pairable ones, the share of pairs of ratings that agree
    disagreement        (...) ``sum_{c != k} r_c r_k / (n - 1)`` of the pairable items
    shares              (..., n_classes) of each item's ratings
    values              (..., n_classes) ratings of the pairable items
    """

    items: Floats
    pairable: Floats
    agreement: Floats
    disagreement: Floats
    shares: Floats
    values: Floats


def rater_values(votes: Floats) -> Floats:
    """What each item adds to the sums, (n_items, 4 + 2 * n_classes), from its ratings of each class, (n_items, K)."""
    n_ratings = votes.sum(axis=1)
    several = n_ratings >= 2
    same = (votes * (votes - 1.0)).sum(axis=1)
    apart = n_ratings * (n_ratings - 1.0) - same
    agreement = np.where(several, same / np.maximum(n_ratings * (n_ratings - 1.0), 1.0), 0.0)
    disagreement = np.where(several, apart / np.maximum(n_ratings - 1.0, 1.0), 0.0)
    shares = votes / np.maximum(n_ratings, 1.0)[:, None]
    counts = np.stack([1.0 * (n_ratings > 0), 1.0 * several, agreement, disagreement], axis=1)
    return np.hstack([counts, shares, votes * several[:, None]])


def as_rater_sums(values: Floats) -> RaterSums:
    """The sums of `rater_values`, added up along items."""
    n_classes = (values.shape[-1] - 4) // 2
    items, pairable, agreement, disagreement = (values[..., at] for at in range(4))
    shares, ratings = values[..., 4 : 4 + n_classes], values[..., 4 + n_classes :]
    return RaterSums(items, pairable, agreement, disagreement, shares, ratings)


def _rater_shares(sums: RaterSums) -> Floats:
    return np.asarray(sums.shares / sums.items[..., None])


def fleiss_kappa(sums: RaterSums) -> Floats:
    """Fleiss (1971); where items have different numbers of ratings, each item counts the same (Gwet 2014)."""
    return _beyond_chance(ratio(sums.agreement, sums.pairable), (_rater_shares(sums) ** 2).sum(axis=-1))


def krippendorff_alpha(sums: RaterSums) -> Floats:
    """Krippendorff's (2011) alpha for nominal data: disagreement within items / that of values paired at random."""
    n_values = sums.values.sum(axis=-1)
    chance = ratio(n_values**2 - (sums.values**2).sum(axis=-1), n_values - 1.0)
    return 1.0 - ratio(sums.disagreement, np.where(chance <= 1e-12, 0.0, chance))


def gwet_ac1(sums: RaterSums) -> Floats:
    """Gwet's (2008) AC1: chance ``sum_c pi_c (1 - pi_c) / (K - 1)``."""
    share = _rater_shares(sums)
    chance = (share * (1.0 - share)).sum(axis=-1) / (share.shape[-1] - 1.0)
    return _beyond_chance(ratio(sums.agreement, sums.pairable), chance)
