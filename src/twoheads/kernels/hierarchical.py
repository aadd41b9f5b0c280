"""A confusion matrix whose prior learns how much to trust itself: a hierarchical Dirichlet, summed over a grid.

Column j of the matrix is ``phi_.j ~ Dirichlet(s pi_j)`` with ``pi_j = a e_j + (1 - a) o_j``: an accuracy ``a``, a
strength ``s`` and a shape ``O`` of the errors (zero on the diagonal, columns that sum to 1). The three are never
estimated but summed over: 24 accuracies x 11 strengths x at most 3 shapes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammaln, logit, logsumexp

from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.priors import LOG_TEMPERATURE_MEAN

ACCURACY: Floats = expit(np.linspace(logit(0.03), logit(0.995), 24))
STRENGTH: Floats = np.geomspace(1.0, 1000.0, 11)

#: Cells, or pairs, that are handled at a time: 4,096 x 264 nodes are 9 MB.
_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class HierarchicalPosterior:
    """What the counts say about accuracy, strength and shape.

    counts        (n_answers, n_classes) entry [i, j]: how often i was answered where j is true
    shapes        (n_shapes, n_answers, n_classes) the shapes O
    weight        (n_shapes, n_accuracies, n_strengths) posterior probability of each node
    log_evidence  log-probability of the answers given the truths, the prior over the nodes summed out
    """

    counts: Floats
    shapes: Floats
    weight: Floats
    log_evidence: float


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """What is needed to write down the row of any labelled item from a matrix fitted without that item.

    answer, truth  (n_pairs,) the distinct pairs that occur
    number         (n_answers * n_classes,) from ``answer * n_classes + truth`` to the number of the pair
    own            (n_pairs,) the entry at the item's own truth
    moments        (n_pairs, n_shapes + 2, n_strengths) sums of the nodes' weights, as in ``_moments``
    """

    answer: Codes
    truth: Codes
    number: Codes
    own: Floats
    moments: Floats


def model_overlap(log_proba: Floats, weight: Floats | None = None) -> Floats:
    """How often the model hesitates between two classes, ``sum_n q_ni q_nj`` with ``q = softmax(e^-0.5 log m)``.

    It is a sum over items: add the blocks' results.

    log_proba  (n_classes, n_items)
    weight     (n_items,) or None
    returns    (n_classes, n_classes)
    """
    tempered = log_proba * np.exp(-LOG_TEMPERATURE_MEAN)
    tempered -= tempered.max(axis=0)
    np.exp(tempered, out=tempered)
    tempered /= tempered.sum(axis=0)
    return np.asarray((tempered if weight is None else tempered * weight) @ tempered.T)


def error_shapes(overlap: Floats, answer_total: Floats) -> Floats:
    """Shapes that errors may have: uniform; half of it towards what the model confuses, or towards common answers.

    overlap       (n_answers, n_classes) as ``model_overlap`` gives it; rows of answers that are no class may hold 0
    answer_total  (n_answers,) how often each answer was given
    returns       (n_shapes, n_answers, n_classes); with two answers there is only one shape
    """
    n_answers, n_classes = overlap.shape
    uniform = _columns_off_diagonal(np.ones((n_answers, n_classes)))
    if n_answers == 2:
        return uniform[None]
    # 1e-9 keeps a column of zeros (no labelled item) uniform.
    confused = _columns_off_diagonal(overlap + 1e-9)
    common = _columns_off_diagonal(np.repeat(answer_total[:, None] + 1.0, n_classes, axis=1))
    return np.stack([uniform, (uniform + confused) / 2, (uniform + common) / 2])


def hierarchical_posterior(counts: Floats, shapes: Floats) -> HierarchicalPosterior:
    """Posterior of (shape, accuracy, strength) on the grid.

    ``log w = sum_j [lnG(s) - lnG(s + N_j)] + sum_ij [lnG(s pi_ij + C_ij) - lnG(s pi_ij)] + log prior``, with
    a ~ Beta(3, 1), log s ~ Normal(log 15, 1.2^2) and equally likely shapes; the prior sums to 1 over the nodes.

    counts  (n_answers, n_classes), soft counts allowed
    shapes  (n_shapes, n_answers, n_classes)
    """
    total = counts.sum(axis=0)
    hit = np.diagonal(counts)
    right = _log_rising(np.multiply.outer(ACCURACY, STRENGTH), hit[hit > 0])
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

    ``q_g = (C_ij - 1 + s_g pi_g,ij) / (N_j - 1 + s_g)`` is what the others predict for the item; ``w'_g`` is
    proportional to ``w_g / q_g``: exact, no refit. O, which the item hardly moves, is held.

    left_out  how much of a cell one item is: 1, or (n_answers, n_classes) its mean weight where weights are below 1
    """
    counts = posterior.counts
    n_answers, n_classes = counts.shape
    answer, truth = np.nonzero(counts)
    number = np.zeros(n_answers * n_classes, dtype=np.intp)
    number[answer * n_classes + truth] = np.arange(len(answer))
    taken = np.minimum(np.broadcast_to(left_out, counts.shape)[answer, truth], counts[answer, truth])
    own, moments = np.empty(len(answer)), np.empty((len(answer), len(posterior.shapes) + 2, len(STRENGTH)))
    # A quarter of a chunk, for these nodes are of all shapes at once.
    for some in _chunks(len(answer), _CHUNK // 4):
        others = _predicted(posterior, answer[some], truth[some], taken[some])
        # Exact for a whole item (taken = 1); in between it is the natural interpolation.
        weight = posterior.weight / others ** taken[some, None, None, None]
        weight /= weight.sum(axis=(1, 2, 3), keepdims=True)
        own[some] = np.einsum("poas,poas->p", weight, others)
        moments[some] = _moments(weight)
    return LeaveOneOut(answer, truth, number, own, moments)


def leave_one_out_rows(posterior: HierarchicalPosterior, loo: LeaveOneOut, answer: Codes, truth: Codes) -> Floats:
    """Row ``phi[answer, :]`` for each item of a block, from the matrix fitted without that item.

    answer   (n_items,) codes, MISSING where nothing was answered: a row of ones, which says nothing
    truth    (n_items,) codes
    returns  (n_classes, n_items)
    """
    n_classes = posterior.counts.shape[1]
    if len(loo.own) == 0:
        return np.ones((n_classes, len(answer)))
    pair = loo.number[answer * n_classes + truth]
    if len(loo.own) < len(answer):  # few pairs, many items: each pair once
        rows = np.take(np.ascontiguousarray(_pair_rows(posterior, loo, np.arange(len(loo.own))).T), pair, axis=1)
    else:
        rows = np.ascontiguousarray(_pair_rows(posterior, loo, pair).T)
    rows[:, answer == MISSING] = 1.0
    return np.asarray(rows)


def _pair_rows(posterior: HierarchicalPosterior, loo: LeaveOneOut, pair: Codes) -> Floats:
    """Leave-one-out rows of the numbered pairs, (n_pairs, n_classes)."""
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


def _predicted(posterior: HierarchicalPosterior, answer: Codes, truth: Codes, taken: Floats) -> Floats:
    """Probability of the pair's answer, given its truth, from the other items, at every node, (n_pairs, *nodes)."""
    hit = (answer == truth)[:, None, None, None]
    shape = posterior.shapes[:, answer, truth].T[:, :, None, None]
    mean = np.where(hit, ACCURACY[:, None], (1.0 - ACCURACY[:, None]) * shape)
    rest = (posterior.counts[answer, truth] - taken)[:, None, None, None]
    total = (posterior.counts.sum(axis=0)[truth] - taken)[:, None, None, None]
    return np.asarray((rest + STRENGTH * mean) / (total + STRENGTH))


def _moments(weight: Floats) -> Floats:
    """Accuracy summed out, as far as a row needs it: weights, weights times a, and, by shape, weights times 1 - a.

    weight   (n_pairs, n_shapes, n_accuracies, n_strengths)
    returns  (n_pairs, 2 + n_shapes, n_strengths)
    """
    by_accuracy = weight.sum(axis=1)
    everywhere = by_accuracy.sum(axis=1)
    on_diagonal = np.einsum("pas,a->ps", by_accuracy, ACCURACY)
    off_diagonal = np.einsum("poas,a->pos", weight, 1.0 - ACCURACY)
    return np.concatenate([everywhere[:, None], on_diagonal[:, None], off_diagonal], axis=1)


def _mix(moments: Floats, total: Floats) -> tuple[Floats, Floats, Floats]:
    """Moments against 1/(N_k + s) and s/(N_k + s): the factors of the counts, of the diagonal and of each shape.

    moments  (n_pairs, 2 + n_shapes, n_strengths)
    total    (n_classes,)
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
    """Part of the log-weights that the off-diagonal cells give, (n_shapes, n_accuracies, n_strengths)."""
    answer, truth = np.nonzero(counts)
    wrong = answer != truth
    answer, truth = answer[wrong], truth[wrong]
    cell = counts[answer, truth]
    scale = np.multiply.outer(1.0 - ACCURACY, STRENGTH)
    # A cell of one gives log(x): nothing to do node by node, and with many classes most cells are such.
    several = cell != 1.0
    parts = []
    for shape in shapes:
        x = shape[answer, truth]
        part = np.log(scale) * np.count_nonzero(~several) + np.log(x[~several]).sum()
        parts.append(part + _log_rising(scale, cell[several], x[several]))
    return np.stack(parts)


def _log_rising(scale: Floats, counts: Floats, factor: Floats | float = 1.0) -> Floats:
    """Sum over cells of ``lnG(x + C) - lnG(x)`` with ``x = factor * scale``.

    scale           (n_accuracies, n_strengths)
    counts, factor  (n_cells,)
    """
    factor = np.broadcast_to(factor, counts.shape)
    result = np.zeros_like(scale)
    for some in _chunks(len(counts), _CHUNK):
        x = scale[..., None] * factor[some]
        result += (gammaln(x + counts[some]) - gammaln(x)).sum(axis=-1)
    return result


def _columns_off_diagonal(values: Floats) -> Floats:
    """Zero the diagonal and let the columns sum to 1."""
    values = values.copy()
    np.fill_diagonal(values[: values.shape[1]], 0.0)
    return np.asarray(values / values.sum(axis=0))


def _chunks(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
