"""How an answer was given: how sure the person was, or that there was none but "unsure".

An answer i at level l of confidence has probability ``phi_ij (1 - u_j) w_ijl`` where j is true, and "unsure" has u_j: a
factor of its own for each answer, the same for all people. Levels are tied: ``w_ij. ~ Dirichlet(s psi_right)`` where
i = j and ``Dirichlet(s psi_wrong)`` elsewhere, so that confidence counts for what it proves to be worth.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from twoheads.kernels.arrays import Codes, Floats

N_LEVELS = 4
STRENGTH: Floats = np.geomspace(1.0, 5000.0, 16)


def level_bounds(confidence: Floats) -> Floats:
    """Lower bounds of all levels but the first: quartiles of the confidences, those that tie merged."""
    if not len(confidence):
        return np.empty(0)
    quartiles = np.quantile(confidence, np.arange(1, N_LEVELS) / N_LEVELS, method="higher")
    bounds = np.unique(quartiles)
    return np.asarray(bounds[bounds > confidence.min()])


def levels_of(confidence: Floats, bounds: Floats) -> Codes:
    """The level of each confidence; where it is NaN, one more than there are levels."""
    return np.where(np.isnan(confidence), len(bounds) + 1, np.searchsorted(bounds, confidence, side="right"))


def level_probabilities(counts: Floats) -> Floats:
    """w, how likely each level is given the answer and the truth, (n_classes, n_levels, n_classes).

    ``w_ijl = (C_ijl + s psi_l) / (C_ij + s)``, psi from the right or the wrong answers (plus 5 of all), s of most
    evidence with ``log s ~ Normal(log 100, 1.5^2)``.

    counts  (n_classes, n_levels, n_classes) how often answer i was given at level l where j is true
    """
    n_classes, n_levels = counts.shape[:2]
    right = np.einsum("ili->l", counts)
    total = counts.sum(axis=(0, 2))
    common = (total + 1.0) / (total.sum() + n_levels)
    is_right = np.eye(n_classes, dtype=bool)[:, None, :]
    psi = [(part + 5.0 * common) / (part.sum() + 5.0) for part in (right, np.maximum(total - right, 0.0))]
    mean = np.where(is_right, psi[0][:, None], psi[1][:, None])
    strength = _strength(counts, mean, np.log(100.0))
    return np.asarray((counts + strength * mean) / (counts.sum(axis=1, keepdims=True) + strength))


def unsure_probabilities(unsure: Floats, answered: Floats) -> Floats:
    """u, how likely each true class is to get "unsure", shrunk to what all classes get; (n_classes,).

    unsure, answered  (n_classes,) how often there was none, and an answer
    """
    common = (unsure.sum() + 1.0) / (unsure.sum() + answered.sum() + 2.0)
    if not unsure.any():
        return np.full(len(unsure), common)
    counts = np.stack([unsure, answered])[None]
    mean = np.broadcast_to(np.array([common, 1.0 - common])[None, :, None], counts.shape)
    strength = _strength(counts, mean, np.log(30.0))
    return np.asarray((unsure + strength * common) / (unsure + answered + strength))


def _strength(counts: Floats, mean: Floats, log_centre: float) -> float:
    """Strength of Dirichlet columns (along axis 1) of most evidence, ``log s ~ Normal(log_centre, 1.5^2)``."""
    total = counts.sum(axis=1)
    cell = counts > 0
    count, at = counts[cell], mean[cell]
    evidence = [
        (gammaln(s * at + count) - gammaln(s * at)).sum() + (gammaln(s) - gammaln(s + total)).sum() for s in STRENGTH
    ]
    return float(STRENGTH[np.argmax(evidence - 0.5 * ((np.log(STRENGTH) - log_centre) / 1.5) ** 2)])
