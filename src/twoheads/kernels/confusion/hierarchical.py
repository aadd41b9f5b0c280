"""A confusion matrix with a hierarchical Dirichlet prior, integrated over a grid of its parameters.

Column j of the matrix is ``phi_.j ~ Dirichlet(s pi_j)`` with ``pi_j = a e_j + (1 - a) o_j``: an accuracy ``a``, a
strength ``s`` and a shape ``O`` of the errors (zero on the diagonal, columns that sum to 1). The three are not
estimated but summed over: 24 accuracies x 11 strengths x at most 3 shapes. A node g is one (shape, accuracy, strength).

Axes, also in the subscripts of einsum: p pairs (answer, truth), o shapes, a accuracies, s strengths; i answers, j or k
classes. Arrays over nodes are (n_shapes, n_accuracies, n_strengths).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander
from scipy.special import expit, gammaln, logit, logsumexp

from twoheads.kernels.arrays import MISSING, Codes, Floats

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
    """

    counts: Floats
    shapes: Floats
    weight: Floats
    log_evidence: float


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """What `leave_one_out_rows` needs of the posterior without one item, for each pair (answer, truth).

    answer, truth  (n_pairs,) the distinct pairs that occur
    number         (n_answers * n_classes,) from ``answer * n_classes + truth`` to the number of the pair
    own            (n_pairs,) the entry at the item's own truth
    moments        (n_pairs, n_shapes + 2, n_strengths) sums of the nodes' weights, as `_moments` gives them
    """

    answer: Codes
    truth: Codes
    number: Codes
    own: Floats
    moments: Floats


def hierarchical_posterior(counts: Floats, shapes: Floats) -> HierarchicalPosterior:
    """Posterior of (shape, accuracy, strength) on the grid.

    ``log w = sum_j [lnG(s) - lnG(s + N_j)] + sum_ij [lnG(s pi_ij + C_ij) - lnG(s pi_ij)] + log prior``, with
    a ~ Beta(3, 1), log s ~ Normal(log 15, 1.2^2) and equally likely shapes; the prior sums to 1 over the nodes.

    counts  (n_answers, n_classes), soft counts allowed
    shapes  (n_shapes, n_answers, n_classes)
    """
    total = counts.sum(axis=0)
    hit = np.diagonal(counts)
    right = _RIGHT @ _log_rising(hit[hit > 0])
    columns = (gammaln(STRENGTH)[:, None] - gammaln(STRENGTH[:, None] + total)).sum(axis=1)
    log_weight = _log_prior(len(shapes)) + right + columns + _log_errors(counts, shapes)
    log_evidence = float(logsumexp(log_weight))
    return HierarchicalPosterior(counts, shapes, np.exp(log_weight - log_evidence), log_evidence)


def posterior_mean(posterior: HierarchicalPosterior) -> Floats:
    """Confusion matrix, ``phi_ij = sum_g w_g (C_ij + s_g pi_g,ij) / (N_j + s_g)``, (n_answers, n_classes)."""
    total = posterior.counts.sum(axis=0)
    everywhere, on_diagonal, off_diagonal = _mix(_moments(posterior.weight[None]), total)
    matrix = posterior.counts * everywhere + np.einsum("sik,sk->ik", posterior.shapes, off_diagonal[:, 0])
    classes = np.arange(len(total))
    matrix[classes, classes] += on_diagonal[0]
    return np.asarray(matrix)


def accuracy_posterior(posterior: HierarchicalPosterior) -> Floats:
    """Posterior probability of each value of ``ACCURACY``, (n_accuracies,)."""
    return np.asarray(posterior.weight.sum(axis=(0, 2)))


def leave_one_out(posterior: HierarchicalPosterior, left_out: float | Floats = 1.0) -> LeaveOneOut:
    """Posterior of the nodes without one item, for every pair (answer i, truth j) that occurs.

    With v the item's weight, the other items predict its answer at node g with probability

        q_g = (C_ij - v + s_g pi_g,ij) / (N_j - v + s_g)                    (`_predicted`)

    and the node's weight without the item is ``w'_g`` proportional to ``w_g / q_g^v``. For v = 1 this is exact, without
    a refit; the shapes O, which one item hardly changes, are held fixed. The entry at the item's own truth is
    ``own = sum_g w'_g q_g``; the other entries of its row follow from `_moments` of w'.

    left_out  v: 1, or (n_answers, n_classes) the mean weight of the cell's items where weights are below 1
    """
    counts = posterior.counts
    n_answers, n_classes = counts.shape
    answer, truth = np.nonzero(counts)
    number = np.zeros(n_answers * n_classes, dtype=np.intp)
    number[answer * n_classes + truth] = np.arange(len(answer))
    removed = np.minimum(np.broadcast_to(left_out, counts.shape)[answer, truth], counts[answer, truth])
    own, moments = np.empty(len(answer)), np.empty((len(answer), len(posterior.shapes) + 2, len(STRENGTH)))
    # A quarter of a chunk, since these nodes are of all shapes at once.
    for chunk in _chunks(len(answer), _CHUNK // 4):
        predicted = _predicted(posterior, answer[chunk], truth[chunk], removed[chunk])
        # Exact for a whole item (v = 1); below, an interpolation.
        weight = posterior.weight / predicted ** removed[chunk, None, None, None]
        weight /= weight.sum(axis=(1, 2, 3), keepdims=True)
        own[chunk] = np.einsum("poas,poas->p", weight, predicted)
        moments[chunk] = _moments(weight)
    return LeaveOneOut(answer, truth, number, own, moments)


def leave_one_out_rows(posterior: HierarchicalPosterior, loo: LeaveOneOut, answer: Codes, truth: Codes) -> Floats:
    """Row ``phi[answer, :]`` for each item of a block, from the matrix fitted without that item.

    answer   (n_items,) codes, MISSING where there is no answer: a row of ones, which carries no information
    truth    (n_items,) codes
    returns  (n_classes, n_items)
    """
    n_classes = posterior.counts.shape[1]
    if len(loo.own) == 0:
        return np.ones((n_classes, len(answer)))
    pair = loo.number[answer * n_classes + truth]
    if len(loo.own) < len(answer):  # few pairs, many items: compute each pair once
        rows = np.take(np.ascontiguousarray(_pair_rows(posterior, loo, np.arange(len(loo.own))).T), pair, axis=1)
    else:
        rows = np.ascontiguousarray(_pair_rows(posterior, loo, pair).T)
    rows[:, answer == MISSING] = 1.0
    return np.asarray(rows)


def _pair_rows(posterior: HierarchicalPosterior, loo: LeaveOneOut, pair: Codes) -> Floats:
    """Leave-one-out rows of the numbered pairs, (n_pairs, n_classes).

    For the pair (answer i, truth j), at every class k other than j (the item is not in column k),

        row_k = sum_g w'_g (C_ik + s_g pi_g,ik) / (N_k + s_g)
              = C_ik everywhere_k + [i = k] on_diagonal_k + sum_o O_o,ik off_diagonal_ok       (`_mix`)

    and at k = j it is the pair's ``own``.
    """
    answer, truth, item = loo.answer[pair], loo.truth[pair], np.arange(len(pair))
    n_classes = posterior.counts.shape[1]
    everywhere, on_diagonal, off_diagonal = _mix(loo.moments[pair], posterior.counts.sum(axis=0))
    rows = posterior.counts[answer] * everywhere
    for shape, share in zip(posterior.shapes, off_diagonal, strict=True):
        rows += shape[answer] * share
    is_class = answer < n_classes
    rows[item[is_class], answer[is_class]] += on_diagonal[item[is_class], answer[is_class]]
    rows[item, truth] = loo.own[pair]
    return np.asarray(rows)


def _predicted(posterior: HierarchicalPosterior, answer: Codes, truth: Codes, removed: Floats) -> Floats:
    """``q_g`` of `leave_one_out`: probability of the pair's answer given its truth, from the other items.

    removed  (n_pairs,) v
    returns  (n_pairs, n_shapes, n_accuracies, n_strengths)
    """
    hit = (answer == truth)[:, None, None, None]
    shape = posterior.shapes[:, answer, truth].T[:, :, None, None]
    mean = np.where(hit, ACCURACY[:, None], (1.0 - ACCURACY[:, None]) * shape)
    rest = (posterior.counts[answer, truth] - removed)[:, None, None, None]
    total = (posterior.counts.sum(axis=0)[truth] - removed)[:, None, None, None]
    return np.asarray((rest + STRENGTH * mean) / (total + STRENGTH))


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


def _mix(moments: Floats, total: Floats) -> tuple[Floats, Floats, Floats]:
    """Factors of the counts, of the diagonal and of each shape in a row of the matrix.

    For each pair and class k:

        everywhere_k    = sum_s moment_0s / (N_k + s)
        on_diagonal_k   = sum_s moment_1s s / (N_k + s)
        off_diagonal_ok = sum_s moment_(2+o)s s / (N_k + s)

    moments  (n_pairs, 2 + n_shapes, n_strengths) as `_moments` gives them
    total    (n_classes,) N
    returns  (n_pairs, n_classes) twice, (n_shapes, n_pairs, n_classes)
    """
    scale = 1.0 / (total + STRENGTH[:, None])
    share = STRENGTH[:, None] * scale
    return moments[:, 0] @ scale, moments[:, 1] @ share, np.moveaxis(moments[:, 2:], 1, 0) @ share


def _log_prior(n_shapes: int) -> Floats:
    # Equal steps in logit a and in log s: the density of a needs its Jacobian a (1 - a).
    accuracy = 3.0 * np.log(ACCURACY) + np.log1p(-ACCURACY)
    strength = -0.5 * ((np.log(STRENGTH) - np.log(15.0)) / 1.2) ** 2
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
