"""Abilities of annotators: one number each, integrated out by Gauss-Hermite quadrature.

Given the crowd's matrix Phi, annotator p is right about class j with ``logit acc_pj = logit Phi_jj + g_p``, where the
ability is ``g_p ~ Normal(0, spread^2)``. With R_p answers right out of N_pj on items of class j, its log posterior is

    l_p(g) = R_p g - sum_j N_pj log(1 + odds_j e^g) - g^2 / (2 spread^2)        odds_j = Phi_jj / (1 - Phi_jj)

up to a constant. It is concave: the nodes of each annotator lie around the mode, spaced by the posterior standard
deviation there. Three answers or a million are integrated equally well, and an ability is a smooth function of the
counts.

Axes: j classes, p annotators, k nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twoheads.kernels.arrays import Floats
from twoheads.kernels.simplex import log_sum

#: Gauss-Hermite nodes in posterior standard deviations, and the log-weights of a density at them. Eleven give
#: expected accuracies to 1e-6 at a spread of 1, and to 2e-4 at the widest, 2.
_NODE, _WEIGHT = np.polynomial.hermite_e.hermegauss(11)
_LOG_WEIGHT: Floats = np.log(_WEIGHT) + 0.5 * _NODE**2 - 0.5 * np.log(2 * np.pi)
#: A mode is found when a step is smaller than this: the next would be about its square.
_SMALL_STEP = 1e-5
_MOST_STEPS = 100
#: Least share of wrong answers: beside huge weights it rounds to 0, or below.
_LEAST_WRONG = 2.0**-53
#: Numbers of a chunk of annotators, small enough for the cache.
_CHUNK_NUMBERS = 50_000


@dataclass(frozen=True, slots=True)
class Abilities:
    """Posteriors of abilities, each on nodes of its own.

    node        (n_nodes, n_annotators) abilities
    log_weight  (n_nodes, n_annotators) log posterior weights, up to a constant of each annotator
    """

    node: Floats
    log_weight: Floats


def right_and_answers(counts: Floats) -> tuple[Floats, Floats]:
    """How many answers were right, R (n_annotators,), and how many there are, N (n_classes, n_annotators)."""
    return np.einsum("pjj->p", counts[:, : counts.shape[2]]), np.ascontiguousarray(answers_per_class(counts).T)


def answers_per_class(counts: Floats) -> Floats:
    """Answers of each annotator under each true class, (n_annotators, n_classes); faster than a sum over axis 1."""
    return np.asarray(np.einsum("pij->pj", counts))


def accuracy_odds(crowd: Floats) -> Floats:
    """The crowd's odds of being right about each class, (n_classes,)."""
    diagonal = np.diagonal(crowd)
    return np.asarray(diagonal / wrong_share(diagonal))


def wrong_share(accuracy: Floats) -> Floats:
    """``1 - accuracy``, above 0."""
    return np.maximum(1.0 - accuracy, _LEAST_WRONG)


def abilities_of(counts: Floats, crowd: Floats, spread: float) -> Abilities:
    """Posterior of each ability, given the crowd's matrix and the spread."""
    return ability_posteriors(*right_and_answers(counts), accuracy_odds(crowd), spread)


def ability_posteriors(right: Floats, answers: Floats, odds: Floats, spread: Floats | float) -> Abilities:
    """Posterior of each ability on nodes around its mode.

    Weights are relative to the mode m: at ``g = m + d``, with acc_j the accuracy at m,
    ``l(m + d) - l(m) = R d - sum_j N_j log(1 + acc_j (e^d - 1)) - ((m + d)^2 - m^2) / (2 spread^2)``,
    which has no differences of large numbers.

    right    (n_annotators,) R
    answers  (n_classes, n_annotators) N
    odds     (n_classes,)
    spread   a number, or (n_annotators,)
    """
    mode = ability_modes(right, answers, odds, spread)
    accuracy = accuracy_at(mode, odds)
    step = np.multiply.outer(_NODE, _curvature(accuracy, answers, spread) ** -0.5)
    log_weight = (right - mode / spread**2) * step - 0.5 * (step / spread) ** 2
    log_weight += _LOG_WEIGHT[:, None]
    for chunk in _chunks(*accuracy.shape):
        growth = np.empty_like(accuracy[:, chunk])
        for each, factor in zip(log_weight[:, chunk], np.expm1(step[:, chunk]), strict=True):
            np.multiply(accuracy[:, chunk], factor, out=growth)
            growth += 1.0
            each -= np.einsum("jp,jp->p", answers[:, chunk], np.log(growth, out=growth))
    return Abilities(mode + step, log_weight)


def log_evidence(right: Floats, answers: Floats, odds: Floats, spreads: Floats) -> Floats:
    """Log marginal likelihood of each annotator's answers at each spread, up to a constant of each annotator.

    ``log integral e^l(g) dg``: the quadrature sum relative to the mode, plus ``l(m)`` and the log of the node spacing.

    returns  (n_spreads, n_annotators)
    """
    spread = np.repeat(spreads, len(right))
    right, answers = np.tile(right, len(spreads)), np.tile(answers, len(spreads))
    abilities = ability_posteriors(right, answers, odds, spread)
    mode = abilities.node[len(_NODE) // 2]  # the middle node
    curvature = _curvature(accuracy_at(mode, odds), answers, spread)
    at_mode = right * mode - np.einsum("jp,jp->p", answers, np.log(1.0 + np.multiply.outer(odds, np.exp(mode))))
    at_mode -= 0.5 * (mode / spread) ** 2 + np.log(spread) + 0.5 * np.log(curvature)
    return np.asarray(log_sum(abilities.log_weight) + at_mode).reshape(len(spreads), -1)


def ability_modes(right: Floats, answers: Floats, odds: Floats, spread: Floats | float) -> Floats:
    """Mode of each ability's posterior, (n_annotators,).

    Over a distance d the curvature of a logistic log-likelihood grows by at most e^d, so that an uphill step of
    ``log(1 + slope / curvature)`` never passes the mode; near it, it is Newton's step. The start is the mode if all
    classes were one.
    """
    total = answers.sum(axis=0)
    own, crowd = ((sums + 0.5) / (total + 1.0) for sums in (right, answers.T @ (odds / (1.0 + odds))))
    known = spread**2 * total * own * (1.0 - own)
    mode = (np.log(own / (1.0 - own)) - np.log(crowd / (1.0 - crowd))) * known / (1.0 + known)
    for _ in range(_MOST_STEPS):
        accuracy = accuracy_at(mode, odds)
        slope = right - np.einsum("jp,jp->p", answers, accuracy) - mode / spread**2
        step = slope / _curvature(accuracy, answers, spread)
        mode += np.copysign(np.log1p(np.abs(step)), step)
        if np.abs(step).max(initial=0.0) < _SMALL_STEP:
            break
    return np.asarray(mode)


def accuracy_at(ability: Floats, odds: Floats) -> Floats:
    """Probability of being right about each class at an ability, (n_classes, n_annotators)."""
    accuracy = np.multiply.outer(1.0 / odds, np.exp(-ability))
    accuracy += 1.0
    return np.divide(1.0, accuracy, out=accuracy)


def _curvature(accuracy: Floats, answers: Floats, spread: Floats | float) -> Floats:
    """``-l''(g) = sum_j N_j acc_j (1 - acc_j) + 1 / spread^2``, (n_annotators,)."""
    return np.asarray(np.einsum("jp,jp->p", answers, accuracy * (1.0 - accuracy)) + spread**-2.0)


def expected_accuracy(ability: Floats, weight: Floats, odds: Floats) -> Floats:
    """``sum_k w_kp acc_j(g_kp)``, the posterior mean of the probability of being right, (n_classes, n_annotators)."""
    total = np.zeros((len(odds), ability.shape[1]))
    for chunk in _chunks(*total.shape):
        part = np.empty_like(total[:, chunk])
        for against, share in zip(np.exp(-ability[:, chunk]), weight[:, chunk], strict=True):
            np.multiply.outer(1.0 / odds, against, out=part)
            part += 1.0
            total[:, chunk] += np.divide(share, part, out=part)
    return total


def _chunks(n_classes: int, n_annotators: int) -> list[slice]:
    width = max(_CHUNK_NUMBERS // n_classes, 1)
    return [slice(start, start + width) for start in range(0, n_annotators, width)]
