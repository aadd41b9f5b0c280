"""I-Max binning: bins of the one-vs-rest log-odds that keep most information about whether the class is true.

Notation of the paper: lambda is the log-odds that an item is of a class, g the edges between bins and phi the bins'
representatives, also log-odds. The bins are found as if the model were calibrated,
P(y = 1 | lambda) = sigmoid(lambda).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.simplex import FLOOR


def log_odds(log_proba: Floats) -> Floats:
    """``log p_k - log(1 - p_k)``, (n_classes, n_items); 1 - p of the top class is the sum of the others."""
    proba = np.exp(log_proba)
    at_top = log_proba.argmax(axis=0), np.arange(log_proba.shape[1])
    proba[at_top] = 0.0
    rest = np.maximum(proba.sum(axis=0), FLOOR)
    log_rest = np.log1p(-proba)
    log_rest[at_top] = np.log(rest)
    return np.asarray(log_proba - log_rest)


def information_edges(representative: Floats) -> Floats:
    """Edge between neighbouring representatives, where an item loses the same information in either bin.

    ``g_m = log{ log[(1 + e^phi_m) / (1 + e^phi_{m-1})] / log[(1 + e^-phi_{m-1}) / (1 + e^-phi_m)] }``

    representative  (n_bins,), ascending
    returns         (n_bins - 1,), each between its neighbours
    """
    below, above = representative[:-1], representative[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        edges = np.log(np.diff(np.logaddexp(0.0, representative)) / -np.diff(np.logaddexp(0.0, -representative)))
    return np.clip(np.where(np.isnan(edges), below, edges), below, above)


def information_bins(values: Floats, weight: Floats | None, n_bins: int) -> tuple[Floats, Floats]:
    """Edges, (n_bins - 1,), and representatives, (n_bins,), of the bins that keep most information about the label.

    Edges and representatives are optimised in turn until no item changes its bin. They start at equal shares of the
    label's standard deviation, ``sqrt(p (1 - p))``, summed along the sorted values.

    values  (n_values,) log-odds
    weight  (n_values,) or None
    """
    if weight is None:
        values = np.sort(values)
        true, false = expit(values), expit(-values)
    else:
        order = np.argsort(values, kind="stable")
        values, weight = values[order], weight[order]
        true, false = weight * expit(values), weight * expit(-values)
    share = np.cumsum(np.sqrt(true * false))
    representative = values[np.searchsorted(share, (np.arange(n_bins) + 0.5) / n_bins * share[-1])]
    # Each is summed from its small end, so that no small sum is a difference of large ones.
    true = np.concatenate([[0.0], np.cumsum(true)])
    false = np.concatenate([np.cumsum(false[::-1])[::-1], [0.0]])
    place = np.empty(0)
    for _ in range(1000):
        edges = information_edges(representative)
        before, place = place, np.concatenate([[0], np.searchsorted(values, edges), [len(values)]])
        if np.array_equal(before, place):
            break
        positive, negative = np.diff(true[place]), -np.diff(false[place])
        filled = (positive > 0.0) & (negative > 0.0)
        representative = representative.copy()
        representative[filled] = np.log(positive[filled]) - np.log(negative[filled])
    return edges, representative


def bin_of(values: Floats, edges: Floats) -> Codes:
    """Bin of each log-odds, (n_classes, n_items), by one set of edges for all classes or a set for each.

    values  (n_classes, n_items)
    edges   (1, n_bins - 1) or (n_classes, n_bins - 1)
    """
    if len(edges) == 1:
        return np.searchsorted(edges[0], values, side="right")
    return np.stack([np.searchsorted(own, row, side="right") for own, row in zip(edges, values, strict=True)])


def bin_counts(block: Block, edges: Floats) -> tuple[Floats, Floats]:
    """(Class, item) pairs in each bin, and those of them that are true, weighted, both (n_sets, n_bins)."""
    n_sets, n_bins = len(edges), edges.shape[1] + 1
    code = (bin_of(log_odds(block.log_proba), edges) + n_bins * np.arange(n_sets)[:, None]).ravel()
    weight = np.ones(block.n_items) if block.weight is None else block.weight
    target = block.soft_target() * weight
    every = np.bincount(code, np.broadcast_to(weight, target.shape).ravel(), n_sets * n_bins)
    true = np.bincount(code, target.ravel(), n_sets * n_bins)
    return every.reshape(n_sets, n_bins).astype(np.float64), true.reshape(n_sets, n_bins).astype(np.float64)
