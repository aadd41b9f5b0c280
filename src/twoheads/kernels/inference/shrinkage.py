"""The crowd that groups' shares come from: its mean, its strength and what a covariate is worth, integrated over.

Group g's share is ``Beta(m_g s + c, (1 - m_g) s + c)`` with ``logit m_g = mu + beta x_g`` and a small c. Where there
are few groups, or few labelled rows, neither mu nor s nor beta is known: each is held on a grid weighted by its
posterior.

A share of M answers scatters more than abilities do: one of 20 answers is a matter of luck. Given an ability t of
``Beta(m s, (1 - m) s)`` its variance is ``q t (1 - t)``, where ``q = u / M`` and u is the part of the variance of an
answer that beliefs do not explain. Over abilities this is the variance of a Beta of strength
``s' = s (1 - q) / (1 + q s)``, which is the strength of the crowd for such shares: below M where nothing is believed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, betaln, expit

from twoheads.kernels.arrays import Codes, Floats

#: Nodes of mu and of log s, before they are moved to where the posterior is; and of beta.
LOGIT_MEAN, LOG_STRENGTH = np.linspace(-6.0, 8.0, 31), np.linspace(np.log(0.7), np.log(2000.0), 15)
SLOPE = np.array([0.0, 0.5, 1.0, 1.5])
#: log s is Normal(log 10, 1.5^2) beforehand, expit(mu) Beta(2, 2) and beta each node alike.
STRENGTH_MEAN, STRENGTH_SD = np.log(10.0), 1.5
#: c, answers of either kind: a crowd in which few have erred is no crowd in which most never do.
EITHER = 0.1
#: Nodes with less than this share of the largest weight are dropped.
NEGLIGIBLE = 1e-5
#: The crowd is learnt from at most so many groups, evenly spaced.
MOST_GROUPS = 500
#: Groups are looked at so many at a time, so that nodes times groups stay small.
PIECE = 1000


class Nodes(NamedTuple):
    """The crowd's parameters on weighted nodes, (n_nodes,) each: mu, s, beta, and weights that sum to 1."""

    logit_mean: Floats
    strength: Floats
    slope: Floats
    weight: Floats


class Realised(NamedTuple):
    """What the shares are of, where they are of so many answers and not of any number; (n_groups,) each.

    answers      how many answers
    unexplained  part of the variance of an answer that beliefs do not explain, from 0 to 1
    """

    answers: Floats
    unexplained: Floats

    @property
    def scatter(self) -> Floats:
        """``q = u / M``, (n_groups,)."""
        return np.asarray(np.minimum(self.unexplained / np.maximum(self.answers, 1.0), 1.0))


class Shares(NamedTuple):
    """Each group's share as Beta(a, b), in steps: of 20 answers no share is nearer to 1 than 1/20 without being 1.

    a, b, step  (n_groups,)
    """

    a: Floats
    b: Floats
    step: Floats

    @property
    def mean(self) -> Floats:
        """Posterior means, (n_groups,)."""
        return np.asarray(self.a / (self.a + self.b))

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Equal-tailed intervals, (n_groups,) each; an end that is less than half a step from 0 or 1 is 0 or 1."""
        tail = (1.0 - level) / 2.0
        low, high = (betaincinv(self.a, self.b, chance) for chance in (tail, 1.0 - tail))
        edge = self.step / 2.0
        return np.where(low < edge, 0.0, low), np.where(high > 1.0 - edge, 1.0, high)


def shrunk_shares(
    right: Floats,
    count: Floats,
    covariate: Floats | None = None,
    *,
    design_effect: float = 1.0,
    realised: Realised | None = None,
) -> Shares:
    """Each group's share given the crowd: the mixture of ``Beta(a + right, b + count - right)`` over the nodes.

    It is given back as the Beta with the mixture's mean and variance. Where the counts are about the share of so many
    answers rather than about what comes next, `answers_to_come` is added.

    right, count   (n_groups,) effective counts; 0 for a group without labelled rows
    covariate      (n_groups,) x, 0 on average; without it beta is 0
    design_effect  as how many groups one independent group counts; groups that answer the same items err together
    realised       of how many answers the shares are; without it, of any number
    """
    x, nothing = np.zeros(len(right)) if covariate is None else covariate, np.zeros(len(right))
    data = Counts(right, count, x, nothing if realised is None else realised.scatter)
    nodes = crowd_nodes(data, design_effect, np.zeros(1) if covariate is None else SLOPE)
    mean, variance, weight = mixture(nodes, data)
    if realised is not None:
        mean, variance = answers_to_come(mean, variance, weight, np.maximum(realised.answers, 1.0))
    strength = np.maximum(mean * (1.0 - mean) / np.maximum(variance, 1e-15) - 1.0, 0.5)
    step = nothing if realised is None else 1.0 / np.maximum(realised.answers, 1.0)
    return Shares(mean * strength, (1.0 - mean) * strength, step)


def answers_to_come(mean: Floats, variance: Floats, weight: Floats, answers: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the share of answers to come, from those of the share v of M answers.

    Given v it is ``Beta(M v + 1/2, M (1 - v) + 1/2)``: three right of three is not always right. This counts as far as
    the counts do against the crowd's, by their weight B: the crowd's spread is that of shares of M answers already.

        v' = (M v + B/2) / (M + B),    variance = (M / (M + B))^2 Var(v) + B v' (1 - v') / (M + 1 + B)

    mean, variance, weight, answers  (n_groups,)
    """
    moved = (answers * mean + weight / 2.0) / (answers + weight)
    kept = answers / (answers + weight)
    return moved, kept**2 * variance + weight * moved * (1.0 - moved) / (answers + 1.0 + weight)


class Counts(NamedTuple):
    """What is known of each group, (n_groups,) each.

    right, total  effective counts
    covariate     x, by which the crowd's mean differs
    scatter       q, how much more shares scatter than abilities: 0 for shares of any number of answers
    """

    right: Floats
    total: Floats
    covariate: Floats
    scatter: Floats

    def take(self, rows: Codes | slice) -> Counts:
        """Those of some groups."""
        return Counts(*(column[rows] for column in self))

    def prior(self, logit_mean: Floats, strength: Floats, slope: Floats | float) -> tuple[Floats, Floats]:
        """Of each group's share before its own counts, a and b; what is given broadcasts against (n_groups,)."""
        mean = expit(logit_mean + slope * self.covariate)
        own = strength * (1.0 - self.scatter) / (1.0 + strength * self.scatter)
        return mean * own + EITHER, (1.0 - mean) * own + EITHER


def crowd_nodes(data: Counts, design_effect: float, slope: Floats) -> Nodes:
    """The crowd's parameters on a grid weighted by their posterior; the grid is moved to where that is, twice.

    slope  (n_slopes,) nodes of beta
    """
    known = np.flatnonzero(data.total > 0)
    some = known[_evenly(len(known), MOST_GROUPS)]
    effect = design_effect * max(len(some), 1) / max(len(known), 1)
    logit_mean, log_strength, few = LOGIT_MEAN, LOG_STRENGTH, data.take(some)
    for _ in range(2):
        weight = node_weights(logit_mean, log_strength, slope, few, effect)
        logit_mean, log_strength = _mass(logit_mean, weight.sum((0, 2))), _mass(log_strength, weight.sum((0, 1)))
    weight = node_weights(logit_mean, log_strength, slope, few, effect)
    kept = weight > NEGLIGIBLE * weight.max()
    at, mean, strength = np.meshgrid(slope, logit_mean, np.exp(log_strength), indexing="ij")
    return Nodes(mean[kept], strength[kept], at[kept], weight[kept] / weight[kept].sum())


def node_weights(logit_mean: Floats, log_strength: Floats, slope: Floats, data: Counts, effect: float) -> Floats:
    """Posterior on the grid, ``prior * (prod_g B(a_g + r_g, b_g + n_g - r_g) / B(a_g, b_g))^(1 / effect)``.

    returns  (n_slopes, n_means, n_strengths), summing to 1
    """
    right, wrong = data.right, data.total - data.right
    evidence = np.empty((len(slope), len(logit_mean), len(log_strength)))
    for at, beta in enumerate(slope):
        a, b = data.prior(logit_mean[:, None, None], np.exp(log_strength)[:, None], beta)
        evidence[at] = (betaln(a + right, b + wrong) - betaln(a, b)).sum(axis=-1) / effect
    centre = 2.0 * np.log(expit(logit_mean) * expit(-logit_mean))  # Beta(2, 2) on the logit scale
    log_weight = evidence + centre[:, None] - 0.5 * ((log_strength - STRENGTH_MEAN) / STRENGTH_SD) ** 2
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(weight / weight.sum())


def mixture(nodes: Nodes, data: Counts) -> tuple[Floats, Floats, Floats]:
    """Mean and variance of each group's share over the nodes, and the mean weight of its own counts; (n_groups,) each.

    The weight is ``n / (n + a + b)``.
    """
    starts = range(0, max(len(data.total), 1), PIECE)
    parts = [_moments(nodes, data.take(slice(start, start + PIECE))) for start in starts]
    mean, second, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return mean, np.maximum(second - mean**2, 0.0), weight


def _moments(nodes: Nodes, data: Counts) -> tuple[Floats, Floats, Floats]:
    """First and second moments, and the weight of the counts; (n_groups,) each."""
    a, b = data.prior(nodes.logit_mean[:, None], nodes.strength[:, None], nodes.slope[:, None])
    total = a + b + data.total
    first = (a + data.right) / total
    second = first * (a + data.right + 1.0) / (total + 1.0)
    return nodes.weight @ first, nodes.weight @ second, nodes.weight @ (data.total / total)


def crowd_design_effect(residual: Floats, cluster: Codes) -> float:
    """How many times the variance of the sum of all residuals is that of independent ones, at least 1.

    ``sum_c (sum_{i in c} e_i)^2 / sum_i e_i^2``: people who err on the same items count as fewer people.

    residual  (n_rows,) outcome minus its group's share
    cluster   (n_rows,) the item of each
    """
    squared = float(residual @ residual)
    return max(1.0, float((np.bincount(cluster, residual) ** 2).sum()) / squared) if squared > 0 else 1.0


def _mass(nodes: Floats, weight: Floats) -> Floats:
    """As many nodes, evenly over where the weight is."""
    at = np.flatnonzero(weight > NEGLIGIBLE * weight.max())
    return np.linspace(nodes[max(at[0] - 1, 0)], nodes[min(at[-1] + 1, len(nodes) - 1)], len(nodes))


def _evenly(n: int, most: int) -> Codes:
    """At most so many of n positions, evenly spaced."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.intp)
