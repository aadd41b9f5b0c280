"""Items without truth: agreement between people and model informs the model's temperature."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import logsumexp

from twoheads.kernels.arrays import Codes, Floats

LOG_TEMPERATURES: Floats = np.linspace(-4.0, 5.0, 46)
#: More items than this add little.
ITEMS = 300
#: Weight of all items without truth together, in labels: agreement is weaker evidence than a label.
LABELS = 20.0
#: People err where models are unsure, so agreement makes the model look this much better (in log temperature).
SHIFT = 0.2


def agreement_log_density(
    log_proba: Floats, answer: Codes, accuracy: Floats, accuracy_weight: Floats
) -> Callable[[Floats], Floats]:
    """Log-density of the model's log temperature tau, as a function of it, from items without truth.

    ``A(tau) = log sum_a p(a) exp(kappa (l - max l))`` taken at tau + 0.2, where
    ``l(a, tau) = sum_u log(a q_u + (1 - a)(1 - q_u) / (K - 1))``, ``q_u = softmax(e^-tau log m_u)[h_u]`` and
    ``kappa = min(1, 20 / n_items)``. It informs tau only, not a: a human who copies the model would look
    perfect.

    log_proba        (n_classes, n_items) at most ``ITEMS`` items
    answer           (n_items,) codes of classes
    accuracy         (n_accuracies,) values of a
    accuracy_weight  (n_accuracies,) p(a), their posterior from labelled items
    """
    n_classes, n_items = log_proba.shape
    chosen = np.empty((len(LOG_TEMPERATURES), n_items))
    for row, tau in zip(chosen, LOG_TEMPERATURES, strict=True):
        scaled = np.exp(-tau) * log_proba
        scaled -= scaled.max(axis=0)
        np.exp(scaled, out=scaled)
        row[:] = scaled[answer, np.arange(n_items)] / scaled.sum(axis=0)
    wrong = (1.0 - accuracy[:, None, None]) / (n_classes - 1)
    log_likelihood = np.log(accuracy[:, None, None] * chosen + wrong * (1.0 - chosen)).sum(axis=2)
    share = min(1.0, LABELS / max(n_items, 1))
    log_density = logsumexp(share * (log_likelihood - log_likelihood.max()), axis=0, b=accuracy_weight[:, None])
    curve = CubicSpline(LOG_TEMPERATURES, log_density)
    return lambda tau: np.asarray(curve(np.clip(tau + SHIFT, LOG_TEMPERATURES[0], LOG_TEMPERATURES[-1])))
