"""Predict labelled items as if the parameters of the combination had been fitted without them."""

from __future__ import annotations

import numpy as np

from twoheads.kernels.arrays import Codes, Floats

#: With more labels than this a single one does not move the parameters.
MOST_LABELS = 100
#: The weights of items, None for 1, and that of all items of a fit.
Weights = tuple[Floats | None, float]
#: Numbers in one array over nodes, classes and items (8 MB).
NUMBERS = 1_000_000


def left_out_probas(
    logits: Floats,
    plain_logits: Floats,
    model_logits: Floats,
    temperature_of: Codes,
    weight: Floats,
    true_label: Codes,
    item_weight: Floats | None,
    *,
    alone_weight: float,
    predicted: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Each item's probabilities under the posterior without it: ``sum_g w_g / f_g(y)^u p_g(k)``, normalised over nodes.

    The weights of the nodes are proportional to prior times ``prod_i f_g(y_i)^u_i``, with u the items' weights and
    ``f_g = p_g(y) q_g(y)^v``, q the model alone and v its weight. Without item i they are ``w_g / f_g(y_i)^u_i``: exact
    on the grid of the nodes, without a refit. (Gelfand, Dey & Chang 1992.)

    logits          (n_nodes, n_classes, n_items) of the combination
    plain_logits    (n_temperatures, n_classes, n_items) of the plain product
    model_logits    (n_temperatures, n_classes, n_items) of the model alone
    temperature_of  (n_nodes,) which of the temperatures each node has
    weight          (n_nodes,)
    item_weight     (n_items,) u; None for 1
    predicted       logits from which p is predicted, where these are not those of the fit
    returns         (n_classes, n_items) of the combination, and of the plain product
    """
    item = np.arange(len(true_label))
    combined, total = _softmax(logits)
    _, alone_total = _softmax(model_logits)
    log_combined = logits[:, true_label, item] - total
    log_alone = model_logits[:, true_label, item] - alone_total
    own = log_combined + alone_weight * log_alone[temperature_of]
    with np.errstate(divide="ignore"):  # beside a heavy item the weights of nodes vanish
        log_weight = np.log(weight)[:, None]
    share = log_weight - (own if item_weight is None else item_weight * own)
    share = np.exp(share - share.max(axis=0))
    share /= share.sum(axis=0)
    if predicted is not None:
        combined, _ = _softmax(predicted)
    plain, _ = _softmax(plain_logits)
    of_temperature = np.arange(len(plain))[:, None] == temperature_of
    return np.einsum("gn,gkn->kn", share, combined), np.einsum("tn,tkn->kn", of_temperature @ share, plain)


def _softmax(logits: Floats) -> tuple[Floats, Floats]:
    """Probabilities over classes, (n_nodes, n_classes, n_items), and the log of the sums, (n_nodes, n_items)."""
    top = logits.max(axis=1)
    proba = np.exp(logits - top[:, None, :])
    total = proba.sum(axis=1)
    return proba / total[:, None, :], top + np.log(total)
