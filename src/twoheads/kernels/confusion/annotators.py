"""People shrunk to the crowd: one number for how able a person is, then the columns of the person's own matrix.

Given the crowd's matrix Phi, person p is right about class j with ``logit acc_pj = logit Phi_jj + g_p``, and the errors
keep the crowd's shape: that is Pi_p, where the ability ``g_p ~ Normal(0, spread^2)`` is integrated out. The person's
own matrix is ``(C_p + s Pi_p) / (N_p + s)``. Spread and strength s are those of most evidence.

The log-posterior of an ability is concave: the integral is Gauss and Hermite's, on nodes around each person's mode and
as far apart as the posterior there is wide. Three answers or a million are integrated alike, and an ability moves as
little as the counts do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln, expit, gammaln

from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.simplex import log_sum, normalise_exp

SPREAD: Floats = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0])
STRENGTH: Floats = np.geomspace(1.0, 2000.0, 14)
#: Gauss-Hermite nodes in posterior standard deviations, and the logarithms of what a density counts there. Eleven give
#: expected accuracies to 1e-6 at a spread of 1, and to 2e-4 at one of 2, which is the widest.
_NODE, _WEIGHT = np.polynomial.hermite_e.hermegauss(11)
_LOG_WEIGHT: Floats = np.log(_WEIGHT) + 0.5 * _NODE**2 - 0.5 * np.log(2 * np.pi)
#: A mode is found when a step is smaller than this: the next would be its square.
_SMALL_STEP = 1e-5
_MOST_STEPS = 100
#: Numbers of some people that are handled at a time, so that they stay in the cache.
_CHUNK_NUMBERS = 50_000
#: A soft count below this says nothing about the strength, and most of EM's are.
_NOTHING = 1e-6
#: More people than these say no more about the spread, and about the strength.
_SPREAD_PEOPLE = 1000
_STRENGTH_PEOPLE = 300


@dataclass(frozen=True, slots=True)
class People:
    """What the counts of several people say about each, given the crowd.

    spread    how much abilities differ
    strength  answers' worth of a person's prior column
    ability   (n_people,) posterior mean, on the scale of logits; 0 is the crowd's
    sd        (n_people,) and its standard deviation
    accuracy  (n_people, n_classes) expected diagonal of Pi_p
    """

    spread: float
    strength: float
    ability: Floats
    sd: Floats
    accuracy: Floats


@dataclass(frozen=True, slots=True)
class Abilities:
    """Posteriors of people's abilities on nodes of their own.

    node        (n_nodes, n_people) abilities
    log_weight  (n_nodes, n_people) how likely they are, up to a constant of each person
    """

    node: Floats
    log_weight: Floats


def fit_people(counts: Floats, crowd: Floats) -> People:
    """Spread and strength of most evidence, and the people's abilities.

    counts  (n_people, n_answers, n_classes), soft counts allowed
    crowd   (n_answers, n_classes) Phi
    """
    right, answers = right_and_answers(counts)
    odds = accuracy_odds(crowd)
    some = _some(len(counts), _SPREAD_PEOPLE)
    evidence = log_evidence(right[some], answers[:, some], odds, SPREAD).sum(axis=1)
    spread = float(SPREAD[np.argmax(evidence - 0.5 * np.log(SPREAD / 0.5) ** 2)])
    abilities = posterior_of(right, answers, odds, spread)
    weight = normalise_exp(abilities.log_weight)
    ability = np.einsum("kp,kp->p", weight, abilities.node)
    sd = np.sqrt(np.einsum("kp,kp->p", weight, (abilities.node - ability) ** 2))
    accuracy = np.ascontiguousarray(expected_accuracy(abilities.node, weight, odds).T)
    some = _some(len(counts), _STRENGTH_PEOPLE)
    strength = strength_of_most_evidence(counts[some], person_means(crowd, accuracy[some]))
    return People(spread, strength, ability, sd, accuracy)


def _some(n_people: int, limit: int) -> Codes:
    return np.linspace(0, n_people - 1, min(n_people, limit)).round().astype(np.intp)


def right_and_answers(counts: Floats) -> tuple[Floats, Floats]:
    """How often each person was right, (n_people,), and asked about each class, (n_classes, n_people)."""
    return np.einsum("pjj->p", counts[:, : counts.shape[2]]), np.ascontiguousarray(answers_per_class(counts).T)


def answers_per_class(counts: Floats) -> Floats:
    """How many answers each person gave under each true class, (n_people, n_classes); faster than a sum over axis 1."""
    return np.asarray(np.einsum("pij->pj", counts))


def accuracy_odds(crowd: Floats) -> Floats:
    """The crowd's odds to be right about each class, (n_classes,)."""
    diagonal = np.diagonal(crowd)
    return np.asarray(diagonal / (1.0 - diagonal))


def abilities_of(counts: Floats, crowd: Floats, spread: float) -> Abilities:
    """Posteriors of everyone's ability, given the crowd and the spread."""
    return posterior_of(*right_and_answers(counts), accuracy_odds(crowd), spread)


def posterior_of(right: Floats, answers: Floats, odds: Floats, spread: Floats | float) -> Abilities:
    """Posteriors of abilities g with the log-density ``R g - sum_j N_j log(1 + odds_j e^g) - g^2 / (2 spread^2)``.

    Weights are those relative to the mode m, ``R d - sum_j N_j log(1 + acc_j (e^d - 1)) - ...`` at ``g = m + d`` with
    ``acc_j`` the accuracy there: nothing large is subtracted from anything large.

    right    (n_people,) R
    answers  (n_classes, n_people) N
    odds     (n_classes,)
    spread   a number, or (n_people,)
    """
    mode = ability_modes(right, answers, odds, spread)
    accuracy = accuracy_at(mode, odds)
    step = np.multiply.outer(_NODE, _bend(accuracy, answers, spread) ** -0.5)
    log_weight = (right - mode / spread**2) * step - 0.5 * (step / spread) ** 2
    log_weight += _LOG_WEIGHT[:, None]
    for some in _chunks(*accuracy.shape):
        growth = np.empty_like(accuracy[:, some])
        for each, factor in zip(log_weight[:, some], np.expm1(step[:, some]), strict=True):
            np.multiply(accuracy[:, some], factor, out=growth)
            growth += 1.0
            each -= np.einsum("jp,jp->p", answers[:, some], np.log(growth, out=growth))
    return Abilities(mode + step, log_weight)


def log_evidence(right: Floats, answers: Floats, odds: Floats, spreads: Floats) -> Floats:
    """Log-probability of people's answers at each spread, up to a constant of each person, (n_spreads, n_people)."""
    spread = np.repeat(spreads, len(right))
    right, answers = np.tile(right, len(spreads)), np.tile(answers, len(spreads))
    abilities = posterior_of(right, answers, odds, spread)
    mode = abilities.node[len(_NODE) // 2]  # the node in the middle
    bend = _bend(accuracy_at(mode, odds), answers, spread)
    at_mode = right * mode - np.einsum("jp,jp->p", answers, np.log(1.0 + np.multiply.outer(odds, np.exp(mode))))
    at_mode -= 0.5 * (mode / spread) ** 2 + np.log(spread) + 0.5 * np.log(bend)
    return np.asarray(log_sum(abilities.log_weight) + at_mode).reshape(len(spreads), -1)


def ability_modes(right: Floats, answers: Floats, odds: Floats, spread: Floats | float) -> Floats:
    """Where the log-density of `posterior_of` is largest, (n_people,).

    Over a distance d its curvature grows by e^d at most, as that of every logistic likelihood, so that a step of
    ``log(1 + slope / curvature)`` uphill never passes the mode, and near it is Newton's. The start is the mode if all
    classes were one.
    """
    total = answers.sum(axis=0)
    mine, crowds = ((sums + 0.5) / (total + 1.0) for sums in (right, answers.T @ (odds / (1.0 + odds))))
    known = spread**2 * total * mine * (1.0 - mine)
    mode = (np.log(mine / (1.0 - mine)) - np.log(crowds / (1.0 - crowds))) * known / (1.0 + known)
    for _ in range(_MOST_STEPS):
        accuracy = accuracy_at(mode, odds)
        slope = right - np.einsum("jp,jp->p", answers, accuracy) - mode / spread**2
        step = slope / _bend(accuracy, answers, spread)
        mode += np.copysign(np.log1p(np.abs(step)), step)
        if np.abs(step).max(initial=0.0) < _SMALL_STEP:
            break
    return np.asarray(mode)


def accuracy_at(ability: Floats, odds: Floats) -> Floats:
    """The chance to be right about each class at an ability, (n_classes, n_people)."""
    accuracy = np.multiply.outer(1.0 / odds, np.exp(-ability))
    accuracy += 1.0
    return np.divide(1.0, accuracy, out=accuracy)


def _bend(accuracy: Floats, answers: Floats, spread: Floats | float) -> Floats:
    """Minus the second derivative of the log-density, (n_people,)."""
    return np.asarray(np.einsum("jp,jp->p", answers, accuracy * (1.0 - accuracy)) + spread**-2.0)


def expected_accuracy(ability: Floats, weight: Floats, odds: Floats) -> Floats:
    """The mean over nodes of the chance to be right about each class, (n_classes, n_people)."""
    total = np.zeros((len(odds), ability.shape[1]))
    for some in _chunks(*total.shape):
        part = np.empty_like(total[:, some])
        for against, share in zip(np.exp(-ability[:, some]), weight[:, some], strict=True):
            np.multiply.outer(1.0 / odds, against, out=part)
            part += 1.0
            total[:, some] += np.divide(share, part, out=part)
    return total


def _chunks(n_classes: int, n_people: int) -> list[slice]:
    """Some people at a time."""
    width = max(_CHUNK_NUMBERS // n_classes, 1)
    return [slice(start, start + width) for start in range(0, n_people, width)]


def person_means(crowd: Floats, accuracy: Floats) -> Floats:
    """Pi_p, each person's matrix before the person's own columns speak, (n_people, n_answers, n_classes).

    accuracy  (n_people, n_classes)
    """
    diagonal = np.diagonal(crowd)
    means = crowd * ((1.0 - accuracy) / (1.0 - diagonal))[:, None, :]
    classes = np.arange(len(diagonal))
    means[:, classes, classes] = accuracy
    return np.asarray(means)


def strength_of_most_evidence(counts: Floats, means: Floats) -> float:
    """The Dirichlet columns' strength, ``log s ~ Normal(log 30, 1.5^2)``.

    counts, means  (n_people, n_answers, n_classes)
    """
    cell = counts > _NOTHING
    count, mean, total = counts[cell], means[cell], counts.sum(axis=1)
    total = total[total > 0]
    evidence = [
        (gammaln(s * mean + count) - gammaln(s * mean)).sum() + (gammaln(s) - gammaln(s + total)).sum()
        for s in STRENGTH
    ]
    return float(STRENGTH[np.argmax(evidence - 0.5 * (np.log(STRENGTH / 30.0) / 1.5) ** 2)])


def people_matrices(counts: Floats, crowd: Floats, people: People) -> Floats:
    """Everyone's own matrix, ``(C_p + s Pi_p) / (N_p + s)``, (n_people, n_answers, n_classes)."""
    matrices = person_means(crowd, people.accuracy)
    matrices *= people.strength
    matrices += counts
    matrices /= (answers_per_class(counts) + people.strength)[:, None, :]
    return matrices


def left_out_people_rows(
    counts: Floats, crowd: Floats, strength: float, abilities: Abilities, column: Codes, truth: Codes, weight: float
) -> Floats:
    """Rows ``P(answer | each class)`` of people's matrices as if without that answer, given the crowd.

    crowd      (n_answers, n_classes) from other items
    abilities  as `abilities_of` gives them for that crowd
    column     (n,) of which person which answer, ``person * n_answers + answer``
    truth      (n,) codes
    weight     what the answer counts
    returns    (n_classes, n)
    """
    n_answers, n_classes = crowd.shape
    person, answer = np.divmod(column, n_answers)
    item, odds = np.arange(len(column)), accuracy_odds(crowd)
    own = np.minimum(weight, counts[person, answer, truth])
    node, side = abilities.node[:, person], np.where(answer == truth, -1.0, 1.0)
    chance = np.exp(side * node) * odds[truth] ** side  # the odds against that answer
    node_weight = normalise_exp(abilities.log_weight[:, person] + own * np.log(1.0 + chance))
    accuracy = np.ascontiguousarray(expected_accuracy(node, node_weight, odds).T)
    rows = crowd[answer] * (1.0 - accuracy) / (1.0 - np.diagonal(crowd))
    is_class = answer < n_classes
    rows[item[is_class], answer[is_class]] = accuracy[item[is_class], answer[is_class]]
    taken = np.zeros((len(column), n_classes))
    taken[item, truth] = own
    rows *= strength
    rows += counts[person, answer] - taken
    rows /= answers_per_class(counts)[person] - taken + strength
    return np.ascontiguousarray(rows.T)


def accuracy_prior(right: Floats, answers: Floats) -> tuple[float, float]:
    """The Beta distribution of people's accuracies with most evidence, as its two parameters.

    Its mean is believed to be Beta(3, 1) and the log of its weight Normal(log 10, 1.5^2) beforehand.

    right, answers  (n_people,) how many answers of each were right, soft counts allowed, and how many there are
    """
    asked = answers > 0
    right, answers = right[asked], answers[asked]
    some = np.linspace(0, len(right) - 1, min(len(right), 2000)).round().astype(np.intp) if len(right) else slice(0)
    hits, misses = right[some], np.maximum(answers[some] - right[some], 0.0)

    def loss(at: Floats) -> float:
        a, b = _beta_parameters(at)
        evidence = float((betaln(a + hits, b + misses) - betaln(a, b)).sum())
        mean = expit(at[0])
        return float(-evidence - 3.0 * np.log(mean) - np.log1p(-mean) + 0.5 * ((at[1] - np.log(10.0)) / 1.5) ** 2)

    best = minimize(loss, [1.0, np.log(10.0)], method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-6}).x
    return _beta_parameters(np.clip(best, -10.0, 10.0))


def _beta_parameters(at: Floats) -> tuple[float, float]:
    mean, weight = expit(at[0]), np.exp(at[1])
    return float(mean * weight), float((1.0 - mean) * weight)


def agreements(answers: Answers, weight: Floats | None, n_people: int, n_classes: int) -> tuple[Floats, Floats, Floats]:
    """How many answers each person gave, how many of them others answered too, and how far those agreed.

    An answer that a share q of the item's other answers repeats agrees by q. Sums over items: add the blocks' results.

    returns  (n_people,) each
    """
    if answers.start is None:  # nobody else has answered any of them
        there = answers.column != MISSING
        share = None if weight is None else weight[there]
        counts = np.bincount(answers.column[there] // n_classes, share, n_people).astype(np.float64)
        return counts, np.zeros(n_people), np.zeros(n_people)
    per_item = answers.per_item()
    given = answers.column[answers.column != MISSING]
    item = np.repeat(np.arange(len(answers)), per_item)
    person, answer = np.divmod(given, n_classes)
    share = np.ones(len(given)) if weight is None else weight[item]
    votes = np.bincount(item * n_classes + answer, minlength=len(answers) * n_classes)
    others = per_item[item] - 1
    same = votes[item * n_classes + answer] - 1
    agreed = np.divide(same, others, out=np.zeros(len(given)), where=others > 0)
    sums = share, share * (others > 0), share * agreed
    return tuple(np.bincount(person, each, n_people).astype(np.float64) for each in sums)  # type: ignore[return-value]
