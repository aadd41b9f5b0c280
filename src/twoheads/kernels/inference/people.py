"""People's accuracies, sensitivities and specificities: labelled answers, beliefs about the others, and the crowd.

What is estimated is a share of a person's answers: of all that are right, or of those about one class that are. With
few labelled answers an interval is about the share of all answers given here, with all of them labelled about answers
to come, of which it is then a classical interval; in between it passes from the one to the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logit

from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.grouped_rows import Rows, group_means, group_sums, heavy, kish_count, ratio
from twoheads.kernels.inference.prediction_powered import Moments, pooled, unit_moments
from twoheads.kernels.inference.shrinkage import Realised, Shares, crowd_design_effect, shrunk_shares

#: As many answers' worth of the average over people goes into each person's lambda.
POOLING = 10.0
#: Errors that the beliefs did not expect are taken to be so many more than were seen: none seen is not none.
SURPRISE = 0.5
#: As many answers' worth of the crowd's belief goes into each person's covariate.
STEADY = 5.0
#: Of so many answers a share is as good as the ability.
ANY_NUMBER = 1e9


class Evidence(NamedTuple):
    """What is known of a quantity of each answer.

    outcome    (n_labelled,)
    belief     (n_labelled,) its expectation under beliefs that have not used the answer's label
    elsewhere  (n_unlabelled,) the same where there is no label
    """

    outcome: Floats
    belief: Floats
    elsewhere: Floats


class RealisedCounts(NamedTuple):
    """What is known of shares of all answers of a person, (n_people,) each.

    share        that of ``top`` among ``bottom``
    known_like   the number of answers that it is known like, at most 1e6
    unexplained  ``var(e) / var(z)``, the part of the variance of an answer that its belief does not explain
    per_answer   how many of Kish's answers one independent answer is, see `uneven_crowd`
    """

    share: Floats
    known_like: Floats
    unexplained: Floats
    per_answer: Floats


def measured_shares(
    right: Floats, belief: Floats, labelled: Rows, belief_elsewhere: Floats, unlabelled: Rows
) -> Shares:
    """Each person's accuracy, from labelled answers and from beliefs that the other answers are right.

    right, belief     (n_labelled,) whether an answer is right; the belief that it is, out of fold
    belief_elsewhere  (n_unlabelled,)
    labelled          the person and the item (as cluster) of each labelled answer; ``unlabelled`` alike
    """
    return measured_ratios(*_accuracy_evidence(right, belief, belief_elsewhere), labelled, unlabelled)


def newcomer_share(right: Floats, belief: Floats, labelled: Rows, belief_elsewhere: Floats, unlabelled: Rows) -> Shares:
    """The accuracy of one person more, of whom nothing is known but the crowd; arguments as in `measured_shares`."""
    evidence = _accuracy_evidence(right, belief, belief_elsewhere)
    found, effect = _effective(*evidence, labelled, unlabelled)
    realised = _realised(evidence[1], found, labelled, unlabelled)
    more = Realised(*(np.append(each, end) for each, end in zip(realised, (ANY_NUMBER, 1.0), strict=True)))
    right_ones, count = (np.append(each, 0.0) for each in (found.share * found.known_like, found.known_like))
    shares = shrunk_shares(right_ones, count, design_effect=effect, realised=more)
    return Shares(shares.a[-1:], shares.b[-1:], np.zeros(1))


def _accuracy_evidence(right: Floats, belief: Floats, belief_elsewhere: Floats) -> tuple[Evidence, Evidence]:
    every = Evidence(np.ones(len(right)), np.ones(len(right)), np.ones(len(belief_elsewhere)))
    return Evidence(right, belief, belief_elsewhere), every


def measured_ratios(top: Evidence, bottom: Evidence, labelled: Rows, unlabelled: Rows) -> Shares:
    """Each person's share of ``top`` among ``bottom``: `realised_counts`, shrunk to the crowd of like belief.

    Sensitivity for class j: ``bottom`` is "the truth is j" (belief: the posterior of j), ``top`` "it is, and the answer
    was j". Specificity: "the truth is not j", and "nor was the answer".

    top, bottom  outcomes 0 or 1, ``top`` at most ``bottom``
    """
    found, effect = _effective(top, bottom, labelled, unlabelled)
    covariate = belief_covariate(top, bottom, labelled, unlabelled)
    realised = _realised(bottom, found, labelled, unlabelled)
    right, count = found.share * found.known_like, found.known_like
    return shrunk_shares(right, count, covariate, design_effect=effect, realised=realised)


def _effective(top: Evidence, bottom: Evidence, labelled: Rows, unlabelled: Rows) -> tuple[RealisedCounts, float]:
    """`realised_counts`, and the design effect of the crowd's mean over people."""
    found = realised_counts(top, bottom, labelled, unlabelled)
    residual = top.outcome - found.share[labelled.group] * bottom.outcome
    return found, crowd_design_effect(residual, labelled.cluster) if len(residual) else 1.0


def _realised(bottom: Evidence, found: RealisedCounts, labelled: Rows, unlabelled: Rows) -> Realised:
    """Of how many answers the shares are, those believed to be of ``bottom`` counted by their belief."""
    answers = kish_count(labelled) * group_means(bottom.outcome, labelled)
    answers = answers + kish_count(unlabelled) * group_means(bottom.elsewhere, unlabelled)
    return Realised(answers / found.per_answer, found.unexplained)


def realised_counts(top: Evidence, bottom: Evidence, labelled: Rows, unlabelled: Rows) -> RealisedCounts:
    """Share of ``top`` among ``bottom`` over all answers of a person, and the number of answers it is known like.

    Of either, the mean is ``mean(y) + b N/M (mean(f) without labels - mean(f) with)``, M = n + N, with the slope b in
    [0, 1] of ``z = top - R bottom`` on its belief, R the share of the labelled answers. The error of ``mean(z)`` about
    that of the M answers is ``N/M (mean(e) with - mean(e) without)``, ``e = z - b f_z``, of variance
    ``N/M var(e) / n``. So the share is known like ``m M/N var(z) / var(e)`` answers, m those of ``bottom`` with a
    label. Where the beliefs do not help b is 0. Weighted answers count as Kish's number of them, or fewer.
    """
    start = ratio(group_means(top.outcome, labelled), group_means(bottom.outcome, labelled))
    z = [
        one - start[rows.group] * other
        for one, other, rows in zip(top, bottom, (labelled, labelled, unlabelled), strict=True)
    ]
    moments = pooled(unit_moments(z[0], z[1], labelled, z[2], unlabelled), labelled, unlabelled, POOLING)
    slope, share = residual_share(moments, SURPRISE / max(len(np.unique(labelled.cluster)), 1))
    here, there = kish_count(labelled), kish_count(unlabelled)
    missing = ratio(there, here + there)
    of_top, of_bottom = (corrected_means(each, slope * missing, labelled, unlabelled) for each in (top, bottom))
    per_answer = uneven_crowd(z[0], labelled)
    count = here * group_means(bottom.outcome, labelled) / np.maximum(share * missing * per_answer, 1e-6)
    return RealisedCounts(np.clip(ratio(of_top, of_bottom), 0.0, 1.0), np.minimum(count, 1e6), share, per_answer)


def uneven_crowd(residual: Floats, rows: Rows) -> Floats:
    """`uneven` of all people together: of one, few errors do not show whether they are on items of large weights.

    ``sum_g sum w^2 e^2 / W_g^2`` over ``sum_g sum w e^2 / (W_g K_g)``, at least 1, times each person's `heavy`.

    residual  (n_rows,) of mean 0 in each group
    """
    total, squares = group_sums(np.ones(len(residual)), rows), residual**2
    seen = ratio(group_sums(rows.weight * squares, rows), total**2).sum()
    usual = ratio(group_sums(squares, rows), total * kish_count(rows)).sum()
    return (max(1.0, float(seen / usual)) if usual > 0 else 1.0) * heavy(rows)


def corrected_means(evidence: Evidence, tuning: Floats, labelled: Rows, unlabelled: Rows) -> Floats:
    """``mean(y) + lambda (mean(f) without labels - mean(f) with)``; tuning and result (n_groups,)."""
    difference = group_means(evidence.elsewhere, unlabelled) - group_means(evidence.belief, labelled)
    return np.asarray(group_means(evidence.outcome, labelled) + tuning * difference)


def residual_share(moments: Moments, surprise: float) -> tuple[Floats, Floats]:
    """``b = M_yf / M_ff`` in [0, 1], and ``(M_yy - 2 b M_yf + b^2 M_ff + surprise) / M_yy``; 0 and 1 where not smaller.

    returns  (n_groups,) each
    """
    slope = np.clip(ratio(moments.both, moments.belief), 0.0, 1.0)
    left = np.maximum(moments.outcome - 2.0 * slope * moments.both + slope**2 * moments.belief, 0.0) + surprise
    share = ratio(left, moments.outcome, np.inf)
    better = share < 1.0
    return np.where(better, slope, 0.0), np.where(better, share, 1.0)


def belief_covariate(top: Evidence, bottom: Evidence, labelled: Rows, unlabelled: Rows) -> Floats:
    """Logit of the believed share of each person, steadied by the crowd's, about its mean over labelled answers.

    returns  (n_people,)
    """
    above, below = (
        group_sums(each.belief, labelled) + group_sums(each.elsewhere, unlabelled) for each in (top, bottom)
    )
    crowd = ratio(above.sum(), below.sum(), 0.5)
    x = logit(np.clip((above + STEADY * crowd) / (below + STEADY), 0.02, 0.98))
    return np.asarray(x - np.average(x, weights=kish_count(labelled) + 0.01))
