"""People's accuracies: labelled answers, beliefs about the others, and the crowd, put together.

What is estimated is a person's share of right answers. An interval covers both the share of the answers given here
and that of answers to come: with few labelled answers the two are known alike, with all of them only the second is
uncertain.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.prediction_powered import Moments, pooled, unit_moments
from twoheads.kernels.inference.rows import Rows, cluster_count, group_means, group_sums, kish_count, ratio
from twoheads.kernels.inference.shrinkage import Shares, crowd_design_effect, shrunk_shares

#: As many answers' worth of the average over people goes into each person's lambda.
POOLING = 10.0
#: Errors that the beliefs did not expect are taken to be so many more than were seen: none seen is not none.
SURPRISE = 0.5
#: As many answers' worth of the crowd's belief goes into each person's covariate.
STEADY = 5.0


def measured_shares(
    right: Floats, belief: Floats, labelled: Rows, belief_elsewhere: Floats, unlabelled: Rows
) -> Shares:
    """Each person's accuracy, from labelled answers and from beliefs that the other answers are right.

    `realised_counts` of each person, shrunk to the crowd of people with the same `belief_covariate`.

    right, belief     (n_labelled,) whether an answer is right; the belief that it is, out of fold
    belief_elsewhere  (n_unlabelled,)
    labelled          the person and the item (as cluster) of each labelled answer; ``unlabelled`` alike
    """
    shares, count = realised_counts(right, belief, labelled, belief_elsewhere, unlabelled)
    effect = crowd_design_effect(right - shares[labelled.group], labelled.cluster) if len(right) else 1.0
    covariate = belief_covariate(belief, labelled, belief_elsewhere, unlabelled)
    answers = kish_count(labelled) + kish_count(unlabelled)
    return shrunk_shares(shares * count, count, covariate, design_effect=effect, answers=answers)


def realised_counts(
    right: Floats, belief: Floats, labelled: Rows, belief_elsewhere: Floats, unlabelled: Rows
) -> tuple[Floats, Floats]:
    """Share of right answers among all that a person gave, and the number of answers it is known like.

    ``mean(y) + b N/M (mean(f) without labels - mean(f) with)`` with ``b = M_yf / M_ff`` in [0, 1] and M = n + N. Its
    error about the share of the M answers is ``N/M (mean(e) with - mean(e) without)``, ``e = y - b f``, of variance
    ``(N/M) var(e) / n``; so it is known like ``n M / N var(y) / var(e)`` answers. Where the beliefs do not help b is 0.

    returns  (n_people,) each; at most 1e6 answers
    """
    moments = unit_moments(right, belief, labelled, belief_elsewhere, unlabelled)
    n_clusters = max(len(np.unique(labelled.cluster)), 1)
    slope, share = residual_share(pooled(moments, labelled, unlabelled, POOLING), SURPRISE / n_clusters)
    here, there = kish_count(labelled), kish_count(unlabelled)
    missing = ratio(there, here + there)
    difference = group_means(belief_elsewhere, unlabelled) - group_means(belief, labelled)
    value = group_means(right, labelled) + slope * missing * difference
    count = np.minimum(here / np.maximum(share * missing, 1e-6), 1e6)
    return np.clip(value, 0.0, 1.0), count


def residual_share(moments: Moments, surprise: float) -> tuple[Floats, Floats]:
    """``b = M_yf / M_ff`` in [0, 1], and ``(M_yy - 2 b M_yf + b^2 M_ff + surprise) / M_yy``; 0 and 1 where not smaller.

    returns  (n_groups,) each
    """
    slope = np.clip(ratio(moments.both, moments.belief), 0.0, 1.0)
    left = np.maximum(moments.outcome - 2.0 * slope * moments.both + slope**2 * moments.belief, 0.0) + surprise
    share = ratio(left, moments.outcome, np.inf)
    better = share < 1.0
    return np.where(better, slope, 0.0), np.where(better, share, 1.0)


def belief_covariate(belief: Floats, labelled: Rows, belief_elsewhere: Floats, unlabelled: Rows) -> Floats:
    """Logit of the mean belief in each person's answers, steadied by the crowd's, about its mean over labelled answers.

    returns  (n_people,)
    """
    total = group_sums(belief, labelled) + group_sums(belief_elsewhere, unlabelled)
    here, there = (group_sums(np.ones(len(rows.weight)), rows) for rows in (labelled, unlabelled))
    crowd = ratio(total.sum(), (here + there).sum(), 0.5)
    x = logit(np.clip((total + STEADY * crowd) / (here + there + STEADY), 0.02, 0.98))
    return np.asarray(x - np.average(x, weights=cluster_count(labelled) + 0.01))
