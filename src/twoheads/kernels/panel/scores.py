"""Scores on ordered levels as evidence of the true class, and as features of a panel of two classes.

    P(level l | class k) = (sum_m n_km G_lm + 8 g_l) / (n_k + 8)

with n_km the member's labelled scores of class k at level m, G a Gaussian kernel of one level's width, so that levels
share strength, and g the member's own smoothed marginal over all its scores: a member of whom little is known carries
no information.
"""

from __future__ import annotations

import numpy as np

from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.priors import LEVEL_STRENGTH


def level_kernel(n_levels: int) -> Floats:
    """How a score at one level counts at others, (n_levels, n_levels); each column sums to 1."""
    distance = np.subtract.outer(np.arange(n_levels), np.arange(n_levels))
    kernel = np.exp(-0.5 * distance**2.0)
    return np.asarray(kernel / kernel.sum(axis=0))


def level_counts(level: Codes, true_label: Codes, weight: Floats, n_classes: int, n_levels: int) -> Floats:
    """Weight of each member's scores at each level under each class, (n_members, n_levels, n_classes).

    level       (n_items, n_members) codes, MISSING where there is no score
    true_label  (n_items,) codes, MISSING where unknown
    """
    n_members = level.shape[1]
    truth, share = (np.broadcast_to(each[:, None], level.shape) for each in (true_label, weight))
    member = np.broadcast_to(np.arange(n_members), level.shape)
    there = (level != MISSING) & (truth != MISSING)
    cell = ((member * n_levels + level) * n_classes + truth)[there]
    counts = np.bincount(cell, share[there], n_members * n_levels * n_classes)
    return np.asarray(counts, dtype=np.float64).reshape(n_members, n_levels, n_classes)


def level_marginal(level: Codes, weight: Floats, n_levels: int) -> Floats:
    """Each member's smoothed share of scores at each level, labelled or not, (n_members, n_levels)."""
    everything = level_counts(level, np.zeros(len(level), dtype=np.intp), weight, 1, n_levels)[:, :, 0]
    smooth = (everything + 1.0 / n_levels) @ level_kernel(n_levels).T
    return np.asarray(smooth / smooth.sum(axis=1, keepdims=True))


def level_given_true(counts: Floats, marginal: Floats) -> Floats:
    """Probability of each level under each class, (n_members, n_levels, n_classes)."""
    smooth = np.einsum("lm,jmk->jlk", level_kernel(counts.shape[1]), counts)
    return np.asarray(
        (smooth + LEVEL_STRENGTH * marginal[:, :, None]) / (counts.sum(axis=1, keepdims=True) + LEVEL_STRENGTH)
    )


def score_log_likelihood(level: Codes, given_true: Floats) -> Floats:
    """Log-likelihood of all members' scores, (n_classes, n_items); a missing score adds 0."""
    safe = np.where(level == MISSING, 0, level)
    log_rows = np.log(given_true)[np.arange(level.shape[1]), safe]
    return np.asarray((log_rows * (level != MISSING)[:, :, None]).sum(axis=1).T)


def left_out_score_log_likelihood(
    level: Codes, true_label: Codes, counts: Floats, marginal: Floats, unit: float = 1.0
) -> Floats:
    """The same for labelled items whose own score is removed from the counts, (n_classes, n_items).

    unit  the weight of one score
    """
    n_levels, n_classes = counts.shape[1:]
    member, safe = np.arange(level.shape[1]), np.where(level == MISSING, 0, level)
    smooth = np.einsum("lm,jmk->jlk", level_kernel(n_levels), counts)
    own = (true_label[:, None] == np.arange(n_classes))[:, None, :] * unit
    right = level_kernel(n_levels)[safe, safe][:, :, None]
    strength = LEVEL_STRENGTH * marginal[member, safe][:, :, None]
    above = np.maximum(smooth[member, safe] - own * right, 0.0) + strength
    below = np.maximum(counts.sum(axis=1)[None] - own, 0.0) + LEVEL_STRENGTH
    log_rows = np.log(above / below) * (level != MISSING)[:, :, None]
    return np.asarray(log_rows.sum(axis=1).T)


def standardised_scores(score: Floats, mean: Floats, sd: Floats) -> Floats:
    """Each member's scores with mean 0 and standard deviation 1, (n_items, n_members); 0 where there is no score.

    score     (n_items, n_members), NaN where there is none
    mean, sd  (n_members,) of all the member's scores; a member whose scores are all the same gets 0
    """
    scaled = (score - mean) / np.where(sd > 0.0, sd, 1.0)
    return np.where(np.isnan(score), 0.0, scaled)


def score_features(standardised: Floats, design_effect: Floats) -> Floats:
    """Standardised scores over the design effect, as features of the second of two classes: (n_items, 2, n_members)."""
    features = np.zeros((len(standardised), 2, standardised.shape[1]))
    features[:, 1] = standardised / design_effect[:, None]
    return features
