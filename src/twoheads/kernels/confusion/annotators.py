"""Confusion matrices of annotators, shrunk to the crowd's.

Given the crowd's matrix Phi, annotator p has the prior mean Pi_p: the accuracy on class j is that of the annotator's
ability (`abilities`), integrated out, and the errors keep the crowd's shape. The annotator's own matrix is
``(C_p + s Pi_p) / (N_p + s)``. The spread of abilities and the strength s maximise the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln, expit, gammaln

from twoheads.kernels.answers import Answers, item_of_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.confusion.abilities import (
    Abilities,
    ability_posteriors,
    accuracy_odds,
    answers_per_class,
    expected_accuracy,
    log_evidence,
    right_and_answers,
    wrong_share,
)
from twoheads.kernels.numerics.sampling import evenly_spaced
from twoheads.kernels.priors import (
    ACCURACIES_LOG_SD,
    ACCURACIES_STRENGTH,
    ACCURACY_RIGHT,
    ACCURACY_WRONG,
    PERSON_LOG_SD,
    PERSON_STRENGTH,
    SPREAD_LOG_SD,
    SPREAD_MEDIAN,
)
from twoheads.kernels.simplex import normalise_exp

SPREAD: Floats = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0])
STRENGTH: Floats = np.geomspace(1.0, 2000.0, 14)
#: A soft count below this does not inform the strength, and most of EM's are.
_NEGLIGIBLE = 1e-6
#: Annotators used to estimate the spread, the strength and the prior of accuracies; more change little.
_SPREAD_ANNOTATORS = 1000
_STRENGTH_ANNOTATORS = 300
_PRIOR_ANNOTATORS = 2000


@dataclass(frozen=True, slots=True)
class Annotators:
    """Posterior of each annotator, given the crowd.

    spread    standard deviation of abilities
    strength  prior weight of an annotator's column, in answers
    ability   (n_annotators,) posterior mean, on the scale of logits; 0 is the crowd's
    sd        (n_annotators,) posterior standard deviation
    accuracy  (n_annotators, n_classes) expected diagonal of Pi_p
    """

    spread: float
    strength: float
    ability: Floats
    sd: Floats
    accuracy: Floats


def fit_annotators(counts: Floats, crowd: Floats) -> Annotators:
    """Spread and strength of most evidence, and the annotators' abilities.

    counts  (n_annotators, n_answers, n_classes), soft counts allowed
    crowd   (n_answers, n_classes) Phi
    """
    right, answers = right_and_answers(counts)
    odds = accuracy_odds(crowd)
    subset = evenly_spaced(len(counts), _SPREAD_ANNOTATORS)
    evidence = log_evidence(right[subset], answers[:, subset], odds, SPREAD).sum(axis=1)
    spread = float(SPREAD[np.argmax(evidence - 0.5 * (np.log(SPREAD / SPREAD_MEDIAN) / SPREAD_LOG_SD) ** 2)])
    abilities = ability_posteriors(right, answers, odds, spread)
    weight = normalise_exp(abilities.log_weight)
    ability = np.einsum("kp,kp->p", weight, abilities.node)
    sd = np.sqrt(np.einsum("kp,kp->p", weight, (abilities.node - ability) ** 2))
    accuracy = np.ascontiguousarray(expected_accuracy(abilities.node, weight, odds).T)
    subset = evenly_spaced(len(counts), _STRENGTH_ANNOTATORS)
    strength = strength_of_most_evidence(counts[subset], annotator_means(crowd, accuracy[subset]))
    return Annotators(spread, strength, ability, sd, accuracy)


def annotator_means(crowd: Floats, accuracy: Floats) -> Floats:
    """Pi_p, the prior mean of each annotator's matrix, (n_annotators, n_answers, n_classes).

    ``Pi_jj = acc_j`` and, off the diagonal, ``Pi_ij = Phi_ij (1 - acc_j) / (1 - Phi_jj)``.

    accuracy  (n_annotators, n_classes)
    """
    means = crowd * (wrong_share(accuracy) / wrong_share(np.diagonal(crowd)))[:, None, :]
    classes = np.arange(crowd.shape[1])
    means[:, classes, classes] = accuracy
    return np.asarray(means)


def strength_of_most_evidence(counts: Floats, means: Floats) -> float:
    """Strength of the Dirichlet columns with most evidence, ``log s ~ Normal(log 30, 1.5^2)``.

    counts, means  (n_annotators, n_answers, n_classes)
    """
    cell = counts > _NEGLIGIBLE
    count, mean, total = counts[cell], means[cell], counts.sum(axis=1)
    total = total[total > 0]
    evidence = [
        (gammaln(s * mean + count) - gammaln(s * mean)).sum() + (gammaln(s) - gammaln(s + total)).sum()
        for s in STRENGTH
    ]
    return float(STRENGTH[np.argmax(evidence - 0.5 * (np.log(STRENGTH / PERSON_STRENGTH) / PERSON_LOG_SD) ** 2)])


def annotator_matrices(counts: Floats, crowd: Floats, annotators: Annotators) -> Floats:
    """Each annotator's own matrix, ``(C_p + s Pi_p) / (N_p + s)``, (n_annotators, n_answers, n_classes)."""
    matrices = annotator_means(crowd, annotators.accuracy)
    matrices *= annotators.strength
    matrices += counts
    matrices /= (answers_per_class(counts) + annotators.strength)[:, None, :]
    return matrices


def leave_one_out_annotator_rows(
    counts: Floats,
    crowd: Floats,
    prior: tuple[float, float],
    abilities: Abilities,
    column: Codes,
    truth: Codes,
    weight: Floats,
) -> Floats:
    """Rows ``P(answer i | each class)`` of annotators' matrices fitted without the answer itself, given the crowd.

    Answer i of annotator p, where t is true, of weight ``v = min(weight, C_p[i, t])``, is removed in two places:

        from the ability   w'_k  proportional to  w_k / q_k^v       q_k = acc_t(g_k) if i = t, else 1 - acc_t(g_k)
        from the counts    row_j = (C_p[i, j] - v [j = t] + s Pi'_p[i, j]) / (N_pj - v [j = t] + s)

    where Pi'_p is the prior mean (`annotator_means`) at the expected accuracy under w'. Among wrong answers the crowd's
    shape does not depend on the ability and cancels. ``1 / q_k = 1 + e^-g / odds_t`` or ``1 + e^g odds_t``. Where v is
    above 1 the nodes may lie elsewhere without the answer: they are found again.

    crowd      (n_answers, n_classes) from other items
    prior      the spread of abilities, and the strength s
    abilities  as `abilities_of` gives them for that crowd
    column     (n,) annotator and answer, ``p * n_answers + i``
    truth      (n,) codes t
    weight     (n,) the weights of the items
    returns    (n_classes, n)
    """
    n_answers, n_classes = crowd.shape
    spread, strength = prior
    annotator, answer = np.divmod(column, n_answers)
    row, odds = np.arange(len(column)), accuracy_odds(crowd)
    removed = np.minimum(weight, counts[annotator, answer, truth])
    removed_counts = np.zeros((len(column), n_classes))
    removed_counts[row, truth] = removed
    rest = np.maximum(answers_per_class(counts)[annotator] - removed_counts, 0.0)
    node, sign = abilities.node[:, annotator], np.where(answer == truth, -1.0, 1.0)
    odds_against = np.exp(sign * node) * odds[truth] ** sign  # 1 / q - 1
    log_weight = abilities.log_weight[:, annotator] + removed * np.log(1.0 + odds_against)
    heavy = np.flatnonzero(removed > 1.0)
    if len(heavy):
        right = right_and_answers(counts)[0][annotator] - removed * (answer == truth)
        others = ability_posteriors(np.maximum(right[heavy], 0.0), rest[heavy].T.copy(), odds, spread)
        node[:, heavy], log_weight[:, heavy] = others.node, others.log_weight
    accuracy = np.ascontiguousarray(expected_accuracy(node, normalise_exp(log_weight), odds).T)
    rows = crowd[answer] * wrong_share(accuracy) / wrong_share(np.diagonal(crowd))
    is_class = answer < n_classes
    rows[row[is_class], answer[is_class]] = accuracy[row[is_class], answer[is_class]]
    rows *= strength
    rows += counts[annotator, answer] - removed_counts
    rows /= rest + strength
    return np.ascontiguousarray(rows.T)


def accuracy_prior(right: Floats, answers: Floats) -> tuple[float, float]:
    """Parameters of the Beta distribution of annotators' accuracies with most evidence.

    Its mean has the prior Beta(3, 1), the log of its weight Normal(log 10, 1.5^2).

    right, answers  (n_annotators,) right answers of each, soft counts allowed, and all answers
    """
    has_answers = answers > 0
    right, answers = right[has_answers], answers[has_answers]
    subset = evenly_spaced(len(right), _PRIOR_ANNOTATORS)
    hits, misses = right[subset], np.maximum(answers[subset] - right[subset], 0.0)
    log_strength = np.log(ACCURACIES_STRENGTH)

    def loss(at: Floats) -> float:
        a, b = _beta_parameters(at)
        evidence = float((betaln(a + hits, b + misses) - betaln(a, b)).sum())
        mean = expit(at[0])
        deviation = (at[1] - log_strength) / ACCURACIES_LOG_SD
        against = -evidence - ACCURACY_RIGHT * np.log(mean) - ACCURACY_WRONG * np.log1p(-mean)
        return float(against + 0.5 * deviation**2)

    best = minimize(loss, [1.0, log_strength], method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-6}).x
    return _beta_parameters(np.clip(best, -10.0, 10.0))


def _beta_parameters(at: Floats) -> tuple[float, float]:
    mean, weight = expit(at[0]), np.exp(at[1])
    return float(mean * weight), float((1.0 - mean) * weight)


def annotation_counts(
    answers: Answers, weight: Floats | None, n_annotators: int, n_classes: int
) -> tuple[float, Floats]:
    """The answered items, and three counts of each annotator's answers.

    These are all answers, those on items that others answered too, and how far these agree: an answer that a share q
    of the item's other answers repeats agrees by q. Sums over items: add up over blocks.

    returns  number of answered items, (3, n_annotators)
    """
    if answers.start is None:  # no item has several answers
        there = answers.column != MISSING
        share = np.ones(np.count_nonzero(there)) if weight is None else weight[there]
        given = np.bincount(answers.column[there] // n_classes, share, n_annotators)
        return float(share.sum()), np.stack([given, np.zeros(n_annotators), np.zeros(n_annotators)])
    item, per_item = item_of_answers(answers), answers.per_item()
    annotator, answer = np.divmod(answers.column, n_classes)
    share = np.ones(len(item)) if weight is None else weight[item]
    votes = np.bincount(item * n_classes + answer, minlength=len(answers) * n_classes)
    others = per_item[item] - 1
    same = votes[item * n_classes + answer] - 1
    agreed = np.divide(same, others, out=np.zeros(len(item)), where=others > 0)
    sums = share, share * (others > 0), share * agreed
    n_answered = np.count_nonzero(per_item) if weight is None else weight[per_item > 0].sum()
    return float(n_answered), np.stack([np.bincount(annotator, each, n_annotators).astype(np.float64) for each in sums])
