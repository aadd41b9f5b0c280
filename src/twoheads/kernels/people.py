"""People shrunk to the crowd: one number for how able a person is, then the columns of the person's own matrix.

Given the crowd's matrix Phi, person p is right about class j with ``logit acc_pj = logit Phi_jj + g_p``, and the errors
keep the crowd's shape: that is Pi_p, where the ability ``g_p ~ Normal(0, spread^2)`` is summed over on nodes. The
person's own matrix is ``(C_p + s Pi_p) / (N_p + s)``. Spread and strength s are those of most evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln, expit, gammaln, logsumexp

from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.simplex import log_sum

SPREAD: Floats = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0])
STRENGTH: Floats = np.geomspace(1.0, 2000.0, 14)
#: Abilities in units of the spread, and the prior's log-weights there.
STEP: Floats = np.linspace(-3.0, 3.0, 15)
_LOG_STEP_WEIGHT: Floats = -0.5 * STEP**2 - logsumexp(-0.5 * STEP**2)
#: A soft count below this says nothing about the strength, and most of EM's are.
_NOTHING = 1e-6
#: More people than this say no more about the strength.
_PEOPLE = 300


@dataclass(frozen=True, slots=True)
class People:
    """What the counts of several people say about each, given the crowd.

    spread    how much abilities differ
    strength  answers' worth of a person's prior column
    ability   (n_people, n_abilities) posterior probability of each ability ``spread * STEP``
    """

    spread: float
    strength: float
    ability: Floats


def fit_people(counts: Floats, crowd: Floats) -> People:
    """Spread and strength of most evidence, and the people's abilities.

    counts  (n_people, n_answers, n_classes), soft counts allowed
    crowd   (n_answers, n_classes) Phi
    """
    right, wrong = right_and_wrong(counts)
    log_right, log_wrong = log_accuracies(crowd, SPREAD)
    log_joint = (log_right.T @ right.T + log_wrong.T @ wrong.T).reshape(len(SPREAD), len(STEP), len(counts))
    log_joint += _LOG_STEP_WEIGHT[:, None]
    evidence = np.array([log_sum(each) for each in log_joint])
    best = int(np.argmax(evidence.sum(axis=1) - 0.5 * np.log(SPREAD / 0.5) ** 2))
    spread = float(SPREAD[best])
    ability = np.ascontiguousarray(np.exp(log_joint[best] - evidence[best]).T)
    some = np.linspace(0, len(counts) - 1, min(len(counts), _PEOPLE)).round().astype(np.intp)
    means = person_means(crowd, spread, ability[some])
    return People(spread, strength_of_most_evidence(counts[some], means), ability)


def right_and_wrong(counts: Floats) -> tuple[Floats, Floats]:
    """How often each person was right and wrong about each class, (n_people, n_classes) each."""
    n_classes = counts.shape[2]
    right = np.diagonal(counts[:, :n_classes], axis1=1, axis2=2)
    return right, np.maximum(answers_per_class(counts) - right, 0.0)


def answers_per_class(counts: Floats) -> Floats:
    """How many answers each person gave under each true class, (n_people, n_classes); faster than a sum over axis 1."""
    return np.asarray(np.einsum("pij->pj", counts))


def log_accuracies(crowd: Floats, spread: Floats | float) -> tuple[Floats, Floats]:
    """Log-chance to be right, and wrong, about each class at each ability, (n_classes, n_spreads * n_abilities)."""
    diagonal = np.diagonal(crowd)
    ability = np.multiply.outer(spread, STEP).ravel()
    logit = (np.log(diagonal) - np.log1p(-diagonal))[:, None] + ability
    return -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)


def person_means(crowd: Floats, spread: float, ability: Floats) -> Floats:
    """Pi_p, each person's matrix before the person's own columns speak, (n_people, n_answers, n_classes).

    ability  (n_people, n_abilities)
    """
    accuracy = ability @ np.exp(log_accuracies(crowd, spread)[0]).T
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
    matrices = person_means(crowd, people.spread, people.ability)
    matrices *= people.strength
    matrices += counts
    matrices /= (answers_per_class(counts) + people.strength)[:, None, :]
    return matrices


def left_out_people_rows(
    counts: Floats, crowd: Floats, people: People, log_ability: Floats, column: Codes, truth: Codes, weight: float
) -> Floats:
    """Rows ``P(answer | each class)`` of people's matrices as if without that answer, given the crowd; exact.

    crowd        (n_answers, n_classes) from other items
    log_ability  (n_people, n_abilities) as `log_abilities` gives it for that crowd
    column       (n,) of which person which answer, ``person * n_answers + answer``
    truth        (n,) codes
    weight       what the answer counts
    returns      (n_classes, n)
    """
    n_answers, n_classes = crowd.shape
    person, answer = np.divmod(column, n_answers)
    item = np.arange(len(column))
    log_right, log_wrong = log_accuracies(crowd, people.spread)
    own = np.minimum(weight, counts[person, answer, truth])
    hit = (answer == truth)[:, None]
    weights = log_ability[person] - own[:, None] * np.where(hit, log_right[truth], log_wrong[truth])
    weights = np.exp(weights - logsumexp(weights, axis=1, keepdims=True))
    accuracy = weights @ np.exp(log_right).T
    rows = crowd[answer] * (1.0 - accuracy) / (1.0 - np.diagonal(crowd))
    is_class = answer < n_classes
    rows[item[is_class], answer[is_class]] = accuracy[item[is_class], answer[is_class]]
    taken = np.zeros((len(column), n_classes))
    taken[item, truth] = own
    rows *= people.strength
    rows += counts[person, answer] - taken
    rows /= counts.sum(axis=1)[person] - taken + people.strength
    return np.ascontiguousarray(rows.T)


def log_abilities(counts: Floats, crowd: Floats, spread: float) -> Floats:
    """Log joint probability of each person's answers and ability, up to a constant, (n_people, n_abilities)."""
    right, wrong = right_and_wrong(counts)
    log_right, log_wrong = log_accuracies(crowd, spread)
    return np.asarray(right @ log_right + wrong @ log_wrong + _LOG_STEP_WEIGHT)


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
