"""Predict labelled items as if the parameters of the combination had been fitted without them."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from twoheads.kernels.arrays import Codes, Floats

#: With more labels than this a single one does not move the parameters.
MOST_LABELS = 100
#: Numbers in one array over nodes, classes and items (8 MB).
NUMBERS = 1_000_000


def left_out_probas(
    logits: Floats,
    plain_logits: Floats,
    model_logits: Floats,
    weight: Floats,
    true_label: Codes,
    *,
    alone_weight: float,
) -> tuple[Floats, Floats]:
    """Each item's probabilities under the posterior without it: ``sum_g w_g / f_g(y) p_g(k)``, normalised over nodes.

    The weights of the nodes are proportional to prior times ``prod_i f_g(y_i)``, with ``f_g = p_g(y) q_g(y)^v``, q the
    model alone and v its weight. Without item i they are ``w_g / f_g(y_i)``: exact on the grid of the nodes, without a
    refit. (Gelfand, Dey & Chang 1992.)

    logits, plain_logits  (n_nodes, n_classes, n_items) of the combination, and of the plain product
    model_logits          (n_nodes, n_classes, n_items) of the model alone
    weight                (n_nodes,)
    returns               (n_classes, n_items) of the combination, and of the plain product
    """
    item = np.arange(len(true_label))
    combined = logits - logsumexp(logits, axis=1, keepdims=True)
    alone = model_logits[:, true_label, item] - logsumexp(model_logits, axis=1)
    log_weight = np.log(weight)[:, None] - combined[:, true_label, item] - alone_weight * alone
    share = np.exp(log_weight - logsumexp(log_weight, axis=0))
    plain = np.exp(plain_logits - logsumexp(plain_logits, axis=1, keepdims=True))
    return np.einsum("gn,gkn->kn", share, np.exp(combined)), np.einsum("gn,gkn->kn", share, plain)
