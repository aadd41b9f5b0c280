"""A confusion matrix with a hierarchical Dirichlet prior, integrated over a grid of its parameters.

Column j of the matrix is ``phi_.j ~ Dirichlet(s pi_j)`` with ``pi_j = a e_j + (1 - a) o_j``: an accuracy ``a``, a
strength ``s`` and a shape ``O`` of the errors (zero on the diagonal, columns that sum to 1). The three are not
estimated but summed over: 24 accuracies x 11 strengths x at most 3 shapes. A node g is one (shape, accuracy, strength).

A matrix may be shrunk harder than its evidence says, with m s in place of s (`priors.ONE_MATRIX_SHRINKAGE`).

Axes, also in the subscripts of einsum: p pairs (answer, truth), o shapes, a accuracies, s strengths; i answers, j or k
classes. Arrays over nodes are (n_shapes, n_accuracies, n_strengths).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander
from scipy.special import expit, gammaln, logit, logsumexp

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.priors import ACCURACY_RIGHT, ACCURACY_WRONG, COLUMN_LOG_SD, COLUMN_STRENGTH

ACCURACY: Floats = expit(np.linspace(logit(0.03), logit(0.995), 24))
STRENGTH: Floats = np.geomspace(1.0, 1000.0, 11)

#: Cells, or pairs, per chunk: 4,096 x 264 nodes are 9 MB.
_CHUNK = 4096
#: Chebyshev points at which sums over cells are computed: those at all nodes follow to rounding (`_log_rising`).
_POINTS = 56
_LOG_RANGE = np.log((1.0 - ACCURACY[-1]) * STRENGTH[0]), np.log(ACCURACY[-1] * STRENGTH[-1])


def _from_points(share: Floats) -> Floats:
    """From values at the Chebyshev points to those at ``log(share s)``, (n_accuracies, n_strengths, n_points)."""
    log_scale = np.log(np.multiply.outer(share, STRENGTH))
    at = 2.0 * (log_scale - _LOG_RANGE[0]) / (_LOG_RANGE[1] - _LOG_RANGE[0]) - 1.0
    return np.asarray(chebvander(at, _POINTS - 1) @ np.linalg.inv(chebvander(chebpts1(_POINTS), _POINTS - 1)))


_SCALE: Floats = np.exp(_LOG_RANGE[0] + 0.5 * (chebpts1(_POINTS) + 1.0) * (_LOG_RANGE[1] - _LOG_RANGE[0]))
_RIGHT, _WRONG = _from_points(ACCURACY), _from_points(1.0 - ACCURACY)


@dataclass(frozen=True, slots=True)
class HierarchicalPosterior:
    """Posterior of accuracy, strength and shape.

    counts        (n_answers, n_classes) entry [i, j]: how often the answer was i where j is true
    shapes        (n_shapes, n_answers, n_classes) the shapes O
    weight        (n_shapes, n_accuracies, n_strengths) posterior probability of each node
    log_evidence  log marginal likelihood of the answers given the truths
    shrinkage     m, by which each node's strength is multiplied in the matrix
    """

    counts: Floats
    shapes: Floats
    weight: Floats
    log_evidence: float
    shrinkage: float = 1.0


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """What `leave_one_out_rows` needs of the posterior without one answer, for each (answer, truth, weight).

    answer, truth  (n_points,)
    own            (n_points,) the entry at the item's own truth
    moments        (n_points, n_shapes + 2, n_strengths) sums of the nodes' weights, as `_moments` gives them
    """

    answer: Codes
    truth: Codes
    own: Floats
    moments: Floats


def hierarchical_posterior(counts: Floats, shapes: Floats, shrinkage: float = 1.0) -> HierarchicalPosterior:
    """Posterior of (shape, accuracy, strength) on the grid.

    ``log w = sum_j [lnG(s) - lnG(s + N_j)] + sum_ij [lnG(s pi_ij + C_ij) - lnG(s pi_ij)] + log prior``, with
    a ~ Beta(3, 1), log s ~ Normal(log 15, 1.2^2) and equally likely shapes; the prior sums to 1 over the nodes.

    counts     (n_answers, n_classes), soft counts allowed
    shapes     (n_shapes, n_answers, n_classes)
    shrinkage  m, by which each node's strength is multiplied in the matrix
    """
    log_weight = _log_weight(counts, shapes)
    log_evidence = float(logsumexp(log_weight))
    return HierarchicalPosterior(counts, shapes, np.exp(log_weight - log_evidence), log_evidence, shrinkage)


def _log_weight(counts: Floats, shapes: Floats) -> Floats:
    total = counts.sum(axis=0)
    hit = np.diagonal(counts)
    right = _RIGHT @ _log_rising(hit[hit > 0])
    columns = (gammaln(STRENGTH)[:, None] - gammaln(STRENGTH[:, None] + total)).sum(axis=1)
    return np.asarray(_log_prior(len(shapes)) + right + columns + _log_errors(counts, shapes))


def posterior_mean(posterior: HierarchicalPosterior) -> Floats:
    """Confusion matrix, ``phi_ij = sum_g w_g (C_ij + m s_g pi_g,ij) / (N_j + m s_g)``, (n_answers, n_classes)."""
    total = posterior.counts.sum(axis=0)
    everywhere, on_diagonal, off_diagonal = _mix(_moments(posterior.weight[None]), total, posterior.shrinkage)
    matrix = posterior.counts * everywhere + np.einsum("sik,sk->ik", posterior.shapes, off_diagonal[:, 0])
    classes = np.arange(len(total))
    matrix[classes, classes] += on_diagonal[0]
    return np.asarray(matrix)


def leave_one_out(posterior: HierarchicalPosterior, answer: Codes, truth: Codes, weight: Floats) -> LeaveOneOut:
    """Posterior of the nodes without one answer i, where j is true, of an item of weight v.

    The node's weight without the answer is, exactly and without a refit, with ``x_g = s_g pi_g,ij``,

        w'_g  proportional to  w_g  [G(x_g + C_ij - v) / G(x_g + C_ij)]  [G(s_g + N_j) / G(s_g + N_j - v)]

    which for v = 1 is ``w_g / q_g``, with q the prediction of the answer by the other items at m = 1,

        q_g = (C_ij - v + m s_g pi_g,ij) / (N_j - v + m s_g)                (`_predicted`)

    The shapes O, which one item hardly changes, are held fixed. The entry at the item's own truth is
    ``own = sum_g w'_g q_g``, at the posterior's m; the other entries of its row follow from `_moments` of w'.

    answer, truth, weight  (n_points,)
    """
    removed = np.minimum(weight, posterior.counts[answer, truth])
    # Not the logarithm of weights that may have vanished beside those of heavy items.
    log_weight = _log_weight(posterior.counts, posterior.shapes) if (removed != 1.0).any() else np.empty(0)
    own, moments = np.empty(len(answer)), np.empty((len(answer), len(posterior.shapes) + 2, len(STRENGTH)))
    # A quarter of a chunk, since these nodes are of all shapes at once.
    for chunk in _chunks(len(answer), _CHUNK // 4):
        at = answer[chunk], truth[chunk], removed[chunk]
        predicted = _predicted(posterior, *at, shrinkage=1.0)
        node = posterior.weight / predicted  # for v = 1
        other = np.flatnonzero(removed[chunk] != 1.0)
        if len(other):
            node[other] = np.exp(_log_weight_without(posterior, log_weight, at[0][other], at[1][other], at[2][other]))
        node /= node.sum(axis=(1, 2, 3), keepdims=True)
        if posterior.shrinkage != 1.0:
            predicted = _predicted(posterior, *at, shrinkage=posterior.shrinkage)
        own[chunk] = np.einsum("poas,poas->p", node, predicted)
        moments[chunk] = _moments(node)
    return LeaveOneOut(answer, truth, own, moments)


def leave_one_out_rows(posterior: HierarchicalPosterior, loo: LeaveOneOut, point: Codes) -> Floats:
    """Row ``phi[answer, :]`` of numbered points, each from the matrix fitted without its answer, (n_classes, n)."""
    if len(loo.own) < len(point):  # few points, many items: compute each once
        rows = _point_rows(posterior, loo, np.arange(len(loo.own)))
        return np.asarray(np.take(np.ascontiguousarray(rows.T), point, axis=1))
    return np.ascontiguousarray(_point_rows(posterior, loo, point).T)


def _point_rows(posterior: HierarchicalPosterior, loo: LeaveOneOut, point: Codes) -> Floats:
    """Leave-one-out rows of the numbered points, (n_points, n_classes).

    For the answer i where j is true, at every class k other than j (the item is not in column k),

        row_k = sum_g w'_g (C_ik + m s_g pi_g,ik) / (N_k + m s_g)
              = C_ik everywhere_k + [i = k] on_diagonal_k + sum_o O_o,ik off_diagonal_ok       (`_mix`)

    and at k = j it is the point's ``own``.
    """
    answer, truth, item = loo.answer[point], loo.truth[point], np.arange(len(point))
    n_classes = posterior.counts.shape[1]
    total = posterior.counts.sum(axis=0)
    everywhere, on_diagonal, off_diagonal = _mix(loo.moments[point], total, posterior.shrinkage)
    rows = posterior.counts[answer] * everywhere
    for shape, share in zip(posterior.shapes, off_diagonal, strict=True):
        rows += shape[answer] * share
    is_class = answer < n_classes
    rows[item[is_class], answer[is_class]] += on_diagonal[item[is_class], answer[is_class]]
    rows[item, truth] = loo.own[point]
    return np.asarray(rows)


def _predicted(
    posterior: HierarchicalPosterior, answer: Codes, truth: Codes, removed: Floats, *, shrinkage: float
) -> Floats:
    """``q_g`` of `leave_one_out`: probability of the point's answer given its truth, from the other items.

    removed    (n_points,) v
    shrinkage  m
    returns    (n_points, n_shapes, n_accuracies, n_strengths)
    """
    strength = shrinkage * STRENGTH
    rest = (posterior.counts[answer, truth] - removed)[:, None, None, None]
    total = (posterior.counts.sum(axis=0)[truth] - removed)[:, None, None, None]
    return np.asarray((rest + strength * _mean(posterior, answer, truth)) / (total + strength))


def _mean(posterior: HierarchicalPosterior, answer: Codes, truth: Codes) -> Floats:
    """``pi_g`` at each point, (n_points, n_shapes, n_accuracies, 1)."""
    hit = (answer == truth)[:, None, None, None]
    shape = posterior.shapes[:, answer, truth].T[:, :, None, None]
    return np.asarray(np.where(hit, ACCURACY[:, None], (1.0 - ACCURACY[:, None]) * shape))


def _log_weight_without(
    posterior: HierarchicalPosterior, log_weight: Floats, answer: Codes, truth: Codes, removed: Floats
) -> Floats:
    """``log w'_g`` of `leave_one_out`, less its largest value at each point."""
    v, cell = removed[:, None, None, None], posterior.counts[answer, truth][:, None, None, None]
    total = posterior.counts.sum(axis=0)[truth][:, None, None, None]
    x = STRENGTH * _mean(posterior, answer, truth)
    log = gammaln(x + (cell - v)) - gammaln(x + cell) + gammaln(STRENGTH + total) - gammaln(STRENGTH + (total - v))
    log += log_weight
    return np.asarray(log - log.max(axis=(1, 2, 3), keepdims=True))


def _moments(weight: Floats) -> Floats:
    """Sums of the nodes' weights over accuracies, which are all that a row needs.

    For each pair and strength s:

        sum_oa w_oas            sum_oa w_oas a            sum_a w_oas (1 - a) for each shape o

    weight   (n_pairs, n_shapes, n_accuracies, n_strengths)
    returns  (n_pairs, 2 + n_shapes, n_strengths), in this order
    """
    by_accuracy = weight.sum(axis=1)
    everywhere = by_accuracy.sum(axis=1)
    on_diagonal = np.einsum("pas,a->ps", by_accuracy, ACCURACY)
    off_diagonal = np.einsum("poas,a->pos", weight, 1.0 - ACCURACY)
    return np.concatenate([everywhere[:, None], on_diagonal[:, None], off_diagonal], axis=1)


def _mix(moments: Floats, total: Floats, shrinkage: float) -> tuple[Floats, Floats, Floats]:
    """Factors of the counts, of the diagonal and of each shape in a row of the matrix.

    For each pair and class k:

        everywhere_k    = sum_s moment_0s / (N_k + m s)
        on_diagonal_k   = sum_s moment_1s m s / (N_k + m s)
        off_diagonal_ok = sum_s moment_(2+o)s m s / (N_k + m s)

    moments    (n_pairs, 2 + n_shapes, n_strengths) as `_moments` gives them
    total      (n_classes,) N
    shrinkage  m
    returns    (n_pairs, n_classes) twice, (n_shapes, n_pairs, n_classes)
    """
    strength = shrinkage * STRENGTH[:, None]
    scale = 1.0 / (total + strength)
    share = strength * scale
    return moments[:, 0] @ scale, moments[:, 1] @ share, np.moveaxis(moments[:, 2:], 1, 0) @ share


def _log_prior(n_shapes: int) -> Floats:
    # Equal steps in logit a and in log s: the density of a needs its Jacobian a (1 - a).
    accuracy = ACCURACY_RIGHT * np.log(ACCURACY) + ACCURACY_WRONG * np.log1p(-ACCURACY)
    strength = -0.5 * ((np.log(STRENGTH) - np.log(COLUMN_STRENGTH)) / COLUMN_LOG_SD) ** 2
    node = accuracy[:, None] + strength
    return np.asarray(np.repeat((node - logsumexp(node))[None] - np.log(n_shapes), n_shapes, axis=0))


def _log_errors(counts: Floats, shapes: Floats) -> Floats:
    """Contribution of the off-diagonal cells to the log-weights, (n_shapes, n_accuracies, n_strengths)."""
    answer, truth = np.nonzero(counts)
    wrong = answer != truth
    answer, truth = answer[wrong], truth[wrong]
    cell = counts[answer, truth]
    log_scale = np.log(np.multiply.outer(1.0 - ACCURACY, STRENGTH))
    # A cell with a count of one contributes log(x), which factorises; with many classes most cells are such.
    several = cell != 1.0
    parts = []
    for shape in shapes:
        x = shape[answer, truth]
        part = log_scale * np.count_nonzero(~several) + np.log(x[~several]).sum()
        parts.append(part + _WRONG @ _log_rising(cell[several], x[several]))
    return np.stack(parts)


def _log_rising(counts: Floats, factor: Floats | float = 1.0) -> Floats:
    """Sum over cells of ``lnG(x + C) - lnG(x)`` with ``x = factor * scale``, at each of ``_SCALE``, (n_points,).

    At a node the scale is a s or (1 - a) s, one number. In its logarithm the sum is analytic up to pi from the real
    line, so that a polynomial through few points has its values at all nodes.

    counts, factor  (n_cells,)
    """
    factor = np.broadcast_to(factor, counts.shape)
    result = np.zeros(_POINTS)
    for chunk in _chunks(len(counts), _CHUNK):
        x = _SCALE[:, None] * factor[chunk]
        result += (gammaln(x + counts[chunk]) - gammaln(x)).sum(axis=-1)
    return result


def _chunks(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
