"""Likelihood of an answer's confidence level, and of "unsure", given the true class.

Answer i at confidence level l has probability ``phi_ij (1 - u_j) w_ijl`` if j is true, and "unsure" has u_j: a factor
for each answer, the same for all annotators. ``w_ij. ~ Dirichlet(s psi_right)`` if i = j, else
``Dirichlet(s psi_wrong)``, so that confidence is used as far as it separates right answers from wrong ones.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.numerics.quantiles import higher_quantiles
from twoheads.kernels.priors import LEVELS_STRENGTH, RESPONSE_LOG_SD, UNSURE_STRENGTH

N_LEVELS = 4
STRENGTH: Floats = np.geomspace(1.0, 5000.0, 16)


def level_bounds(confidence: Floats, weight: Floats | None = None) -> Floats:
    """Lower bounds of all levels but the first: quartiles of the confidences, ties merged.

    weight  (n_confidences,) of their items; None for 1
    """
    if not len(confidence):
        return np.empty(0)
    quartiles = higher_quantiles(confidence, np.arange(1, N_LEVELS) / N_LEVELS, weight)
    bounds = np.unique(quartiles)
    return np.asarray(bounds[bounds > confidence.min()])


def levels_of(confidence: Floats, bounds: Floats) -> Codes:
    """The level of each confidence; the number of levels for NaN."""
    return np.where(np.isnan(confidence), len(bounds) + 1, np.searchsorted(bounds, confidence, side="right"))


def level_probabilities(counts: Floats) -> Floats:
    """w, the probability of each level given the answer and the truth, (n_classes, n_levels, n_classes).

    ``w_ijl = (C_ijl + s psi_l) / (C_ij + s)``, psi from the right or the wrong answers (plus 5 of all), s of most
    evidence with ``log s ~ Normal(log 100, 1.5^2)``.

    counts  (n_classes, n_levels, n_classes) how often the answer was i at level l where j is true
    """
    n_classes, n_levels = counts.shape[:2]
    right = np.einsum("ili->l", counts)
    total = counts.sum(axis=(0, 2))
    common = (total + 1.0) / (total.sum() + n_levels)
    is_right = np.eye(n_classes, dtype=bool)[:, None, :]
    psi = [(group + 5.0 * common) / (group.sum() + 5.0) for group in (right, np.maximum(total - right, 0.0))]
    mean = np.where(is_right, psi[0][:, None], psi[1][:, None])
    strength = dirichlet_strength(counts, mean, LEVELS_STRENGTH)
    return np.asarray((counts + strength * mean) / (counts.sum(axis=1, keepdims=True) + strength))


def unsure_probabilities(unsure: Floats, answered: Floats) -> Floats:
    """u, the probability of "unsure" given each true class, shrunk to that of all classes, (n_classes,).

    unsure, answered  (n_classes,) how often the response was "unsure", and an answer
    """
    common = (unsure.sum() + 1.0) / (unsure.sum() + answered.sum() + 2.0)
    if not unsure.any():
        return np.full(len(unsure), common)
    counts = np.stack([unsure, answered])[None]
    mean = np.broadcast_to(np.array([common, 1.0 - common])[None, :, None], counts.shape)
    strength = dirichlet_strength(counts, mean, UNSURE_STRENGTH)
    return np.asarray((unsure + strength * common) / (unsure + answered + strength))


def dirichlet_strength(counts: Floats, mean: Floats, median: float) -> float:
    """Strength of Dirichlet columns (along axis 1) of most evidence, ``log s ~ Normal(log median, 1.5^2)``."""
    total = counts.sum(axis=1)
    cell = counts > 0
    count, at = counts[cell], mean[cell]
    evidence = [
        (gammaln(s * at + count) - gammaln(s * at)).sum() + (gammaln(s) - gammaln(s + total)).sum() for s in STRENGTH
    ]
    return float(STRENGTH[np.argmax(evidence - 0.5 * ((np.log(STRENGTH) - np.log(median)) / RESPONSE_LOG_SD) ** 2)])
