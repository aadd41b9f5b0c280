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
from twoheads.kernels.inference.grouped_rows import Rows, group_means, group_sums, kish_count, ratio
from twoheads.kernels.inference.prediction_powered import Moments, pooled, unit_moments
from twoheads.kernels.inference.shrinkage import Shares, crowd_design_effect, shrunk_shares

#: As many answers' worth of the average over people goes into each person's lambda.
POOLING = 10.0
#: Errors that the beliefs did not expect are taken to be so many more than were seen: none seen is not none.
SURPRISE = 0.5
#: As many answers' worth of the crowd's belief goes into each person's covariate.
STEADY = 5.0


class Evidence(NamedTuple):
    """What is known of a quantity of each answer.

    outcome    (n_labelled,)
    belief     (n_labelled,) its expectation under beliefs that have not used the answer's label
    elsewhere  (n_unlabelled,) the same where there is no label
    """

    outcome: Floats
    belief: Floats
    elsewhere: Floats


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
    shares, count, effect = _effective(*_accuracy_evidence(right, belief, belief_elsewhere), labelled, unlabelled)
    found = shrunk_shares(np.append(shares * count, 0.0), np.append(count, 0.0), design_effect=effect)
    return Shares(found.a[-1:], found.b[-1:], found.step[-1:])


def _accuracy_evidence(right: Floats, belief: Floats, belief_elsewhere: Floats) -> tuple[Evidence, Evidence]:
    every = Evidence(np.ones(len(right)), np.ones(len(right)), np.ones(len(belief_elsewhere)))
    return Evidence(right, belief, belief_elsewhere), every


def measured_ratios(top: Evidence, bottom: Evidence, labelled: Rows, unlabelled: Rows) -> Shares:
    """Each person's share of ``top`` among ``bottom``: `realised_counts`, shrunk to the crowd of like belief.

    Sensitivity for class j: ``bottom`` is "the truth is j" (belief: the posterior of j), ``top`` "it is, and the answer
    was j". Specificity: "the truth is not j", and "nor was the answer".

    top, bottom  outcomes 0 or 1, ``top`` at most ``bottom``
    """
    shares, count, effect = _effective(top, bottom, labelled, unlabelled)
    answers = kish_count(labelled) * group_means(bottom.outcome, labelled)
    answers = answers + kish_count(unlabelled) * group_means(bottom.elsewhere, unlabelled)
    covariate = belief_covariate(top, bottom, labelled, unlabelled)
    return shrunk_shares(shares * count, count, covariate, design_effect=effect, answers=answers)


def _effective(top: Evidence, bottom: Evidence, labelled: Rows, unlabelled: Rows) -> tuple[Floats, Floats, float]:
    """`realised_counts`, and the design effect of the crowd's mean over people."""
    shares, count = realised_counts(top, bottom, labelled, unlabelled)
    residual = top.outcome - shares[labelled.group] * bottom.outcome
    return shares, count, crowd_design_effect(residual, labelled.cluster) if len(residual) else 1.0


def realised_counts(top: Evidence, bottom: Evidence, labelled: Rows, unlabelled: Rows) -> tuple[Floats, Floats]:
    """Share of ``top`` among ``bottom`` over all answers of a person, and the number of answers it is known like.

    Of either, the mean is ``mean(y) + b N/M (mean(f) without labels - mean(f) with)``, M = n + N, with the slope b in
    [0, 1] of ``z = top - R bottom`` on its belief, R the share of the labelled answers. The error of ``mean(z)`` about
    that of the M answers is ``N/M (mean(e) with - mean(e) without)``, ``e = z - b f_z``, of variance
    ``N/M var(e) / n``. So the share is known like ``m M/N var(z) / var(e)`` answers, m those of ``bottom`` with a
    label. Where the beliefs do not help b is 0.

    returns  (n_people,) each; at most 1e6 answers
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
    count = here * group_means(bottom.outcome, labelled) / np.maximum(share * missing, 1e-6)
    return np.clip(ratio(of_top, of_bottom), 0.0, 1.0), np.minimum(count, 1e6)


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
